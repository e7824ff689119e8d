//! This instance's view of a jackpot: definition, epoch and status as last read. Scripts check the view in the same
//! step in which they write (`stale`). So an old view costs a repeat and never a wrong result.

use std::collections::BTreeSet;
use std::sync::Arc;

use jackpot_kernel::random;
use jackpot_kernel::sql::Sql;
use jackpot_kernel::store::Store;

use futures_util::future::BoxFuture;
use jackpot_api::jackpot::Status;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::definition::Definition;
use jackpot_core::jackpot::document::Document;
use jackpot_core::jackpot::draw::EpochSeed;
use jackpot_core::jackpot::epoch::{Epoch, Opening};
use jackpot_core::secret::Secrets;

use super::cycling::Cycling;
use super::error::PlayError;
use super::kept;
use super::known::{Known, Registry};
use super::ledger::books::Meters;
use super::scripts::{ScriptError, Snapshot};
use jackpot_kernel::subject::emergency::{Decision, Obedience, Obeys, Starting};
use jackpot_kernel::subject::engine::{Engine, MAX_STALE};

/// The money of a tier, in minor units unless named otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meter {
    pub tier: Id,
    /// The pool from which winners are paid.
    pub pool: u64,
    /// Pays for the next seed.
    pub reserve: u64,
    /// Contributions beyond the cap.
    pub overflow: u64,
    /// Millionths carried, of pool and reserve together.
    pub remainder_micro: u64,
    /// Whole units of the exact sum of contributions.
    pub contributed: u64,
    /// Its millionths.
    pub contributed_micro: u64,
    /// Paid in minus taken out by operators.
    pub funded: i64,
    /// Paid by claims.
    pub paid: u64,
    /// Takes of all.
    pub wins: u64,
    /// Given back for cancelled rounds: whole units of the exact sum.
    pub reversed: u64,
    /// Its millionths.
    pub reversed_micro: u64,
    /// Came from other jackpots: whole units of the exact sum.
    pub transferred_in: u64,
    /// Its millionths.
    pub transferred_in_micro: u64,
    /// Went to other jackpots: whole units of the exact sum.
    pub transferred_out: u64,
    /// Its millionths.
    pub transferred_out_micro: u64,
    /// Payouts that were taken back: they are in the overflow again.
    pub voided: u64,
    /// Room for transfers that are to come.
    pub expected: u64,
    /// What Redis has as `funded`: also what transfers brought or will bring, and payouts that were taken back.
    pub funded_in_redis: i64,
    /// Millionths beside `funded`, of what reversals could not take out of the tier.
    pub funded_micro: u64,
}

impl Meter {
    /// The meters that Redis has of a tier. `None` for one below 0, which no script writes.
    pub fn of(tier: Id, meters: &Meters) -> Option<Self> {
        let units = |value: i64| u64::try_from(value).ok();
        Some(Self {
            tier,
            pool: units(meters.pool)?,
            reserve: units(meters.reserve)?,
            overflow: units(meters.overflow)?,
            remainder_micro: units(meters.pool_micro + meters.reserve_micro)?,
            contributed: units(meters.contributed)?,
            contributed_micro: units(meters.contributed_micro)?,
            funded: meters.by_operators().0,
            paid: units(meters.paid)?,
            wins: units(meters.wins)?,
            reversed: units(meters.reversed)?,
            reversed_micro: units(meters.reversed_micro)?,
            transferred_in: units(meters.transferred_in)?,
            transferred_in_micro: units(meters.transferred_in_micro)?,
            transferred_out: units(meters.transferred_out)?,
            transferred_out_micro: units(meters.transferred_out_micro)?,
            voided: units(meters.voided)?,
            expected: units(meters.expected)?,
            funded_in_redis: meters.funded,
            funded_micro: units(meters.funded_micro)?,
        })
    }
}

/// The data that drawing and entering need, as last read.
#[derive(Debug)]
pub struct View {
    pub id: Id,
    /// The definition in force.
    pub definition: Arc<Definition>,
    /// Its version.
    pub version: u64,
    /// Restores at the time of the reading. After another restore, a version may name another definition.
    pub restores: u64,
    /// Its version and money digest, for the fence.
    pub stamp: String,
    /// Highest version until now.
    pub last_version: u64,
    pub is_closed: bool,
    /// The open epoch; the last one of a closed jackpot.
    pub epoch: u64,
    /// Its seed.
    pub seed: EpochSeed,
    /// Its commitment.
    pub commitment: String,
    /// Rules and cycles of its tiers, and what makes their triggers.
    pub(super) cycles: Cycling,
}

/// The views of all jackpots that this instance has used.
#[derive(Debug)]
pub struct Views {
    store: Store,
    /// The draw secrets of this instance.
    pub secrets: Secrets,
    ledger: Option<Sql>,
    pub registry: Registry,
}

impl Views {
    pub fn new(store: Store, secrets: impl Into<Secrets>) -> Self {
        Self {
            registry: Registry::new(store.clone()),
            store,
            secrets: secrets.into(),
            ledger: None,
        }
    }

    /// The same with the seeds that this ledger has published. Entries that were drawn with one can be answered without
    /// its secret, which may have been retired for good.
    #[must_use]
    pub fn with_published(self, ledger: Sql) -> Self {
        Self {
            ledger: Some(ledger),
            ..self
        }
    }

    /// The last view, or one read now.
    pub async fn view(&self, id: &Id) -> Result<(Arc<Known>, Arc<View>), PlayError> {
        let known = self.registry.whole(id)?;
        match known.view() {
            Some(view) => Ok((known, view)),
            None => Box::pin(self.refresh(id)).await,
        }
    }

    /// Another view than `stale`: one read meanwhile, or one read now. Hundreds of entries of one call find their view
    /// stale together; one of them reads.
    pub(super) async fn renew(&self, id: &Id, stale: &Arc<View>) -> Result<(Arc<Known>, Arc<View>), PlayError> {
        let known = self.registry.known(id);
        let _reading = known.renewing.lock().await;
        known.whole()?;
        match known.view() {
            Some(view) if !Arc::ptr_eq(&view, stale) => Ok((Arc::clone(&known), view)),
            _ => self.refresh(id).await,
        }
    }

    /// Reads the view again.
    pub async fn refresh(&self, id: &Id) -> Result<(Arc<Known>, Arc<View>), PlayError> {
        let snapshot = self.snapshot(id).await?;
        let known = self.registry.known(id);
        let seed = self.seed_or_published(id, snapshot.epoch, &snapshot.opening).await?;
        let definition = Arc::new(parse_definition(id, &snapshot.definition)?);
        let view = Arc::new(View {
            id: id.clone(),
            stamp: format!("{} {}", snapshot.version, definition.money_digest()),
            definition,
            version: snapshot.version,
            restores: snapshot.mark.restores(),
            last_version: snapshot.last_version,
            is_closed: snapshot.status == Status::Closed,
            epoch: snapshot.epoch,
            seed,
            commitment: snapshot.opening.commitment,
            cycles: Cycling::new(&self.secrets, snapshot.cycles, snapshot.now_ms)?,
        });
        known.keep_view(view.clone());
        Ok((known, view))
    }

    /// Reads a whole jackpot.
    pub async fn snapshot(&self, id: &Id) -> Result<Snapshot, PlayError> {
        Ok(self.registry.snapshot(id).await?)
    }

    /// The seed of an epoch, from its secret, checked against its commitment.
    fn seed(&self, id: &Id, epoch: u64, opening: &Opening) -> Result<EpochSeed, PlayError> {
        let seed = opening
            .seed(&self.secrets, id, epoch)
            .ok_or_else(|| PlayError::NoSecret {
                id: id.clone(),
                epoch,
                secret_id: opening.secret_id.clone(),
            })?;
        if seed.commitment() == opening.commitment {
            Ok(seed)
        } else {
            Err(PlayError::Script(ScriptError::Secret))
        }
    }

    /// The seed of an entry's epoch, open or closed.
    pub async fn seed_of(&self, id: &Id, view: &View, epoch: u64) -> Result<EpochSeed, PlayError> {
        let known = self.registry.known(id);
        let restores = known.mark().restores();
        if epoch == view.epoch && view.restores == restores {
            return Ok(view.seed.clone());
        }
        if let Some(seed) = known.seed(epoch) {
            return Ok(seed);
        }
        let lost = || PlayError::Lost {
            id: id.clone(),
            what: format!("epoch {epoch}"),
        };
        let text = self
            .store
            .run(&redis::cmd("HGET").arg(&known.keys.epochs).arg(epoch).to_owned())
            .await
            .map_err(ScriptError::from)?;
        let text: Option<String> = redis::from_redis_value(text).map_err(|_| lost())?;
        let opened = text.and_then(|text| Epoch::parse(epoch, &text)).ok_or_else(lost)?;
        let seed = self.seed_or_published(id, epoch, &opened.opening).await?;
        known.keep_seed(epoch, seed.clone(), restores);
        Ok(seed)
    }

    /// The same, or the seed that the ledger has published: the secret of a closed epoch may be gone for good.
    async fn seed_or_published(&self, id: &Id, epoch: u64, opening: &Opening) -> Result<EpochSeed, PlayError> {
        match self.seed(id, epoch, opening) {
            Err(error @ PlayError::NoSecret { .. }) => self.published(id, epoch, opening).await.ok_or(error),
            other => other,
        }
    }

    async fn published(&self, id: &Id, epoch: u64, opening: &Opening) -> Option<EpochSeed> {
        let published = kept::published_seed(self.ledger.as_ref()?, id, epoch).await;
        let published = published.inspect_err(
            |error| tracing::warn!(jackpot_id = %id, epoch, %error, "could not check whether its seed is published"),
        );
        let seed = EpochSeed::published(id, &published.ok()??)?;
        (seed.commitment() == opening.commitment).then_some(seed)
    }

    /// Makes the input of an epoch of this number: the current secret, and a new nonce.
    pub fn opening(&self, id: &Id, epoch: u64) -> Result<Opening, PlayError> {
        Ok(Opening::make(&self.secrets, id, epoch, random::bytes()?))
    }

    /// The definition of a version, in force or pinned by an entry.
    pub async fn definition(&self, id: &Id, view: &View, version: u64) -> Result<Arc<Definition>, PlayError> {
        let known = self.registry.known(id);
        let restores = known.mark().restores();
        if version == view.version && view.restores == restores {
            return Ok(view.definition.clone());
        }
        let cached = known.definition(version);
        if let Some(definition) = cached {
            return Ok(definition);
        }
        let json = self.stored_definition(&known, version).await?;
        let json = json.ok_or_else(|| PlayError::Lost {
            id: id.clone(),
            what: format!("definition {version}"),
        })?;
        let definition = Arc::new(parse_definition(id, &json)?);
        known.keep_definition(version, definition.clone(), restores);
        Ok(definition)
    }

    /// Whether the key with this name may not send entries of this source: by the definition in force or, when that does
    /// not name the source any more, by the version that the entry entered under.
    pub async fn forbids(
        &self,
        id: &Id,
        view: &View,
        source: Option<&str>,
        version: u64,
        key: &str,
    ) -> Result<bool, PlayError> {
        let is_named = source.is_none_or(|source| view.definition.source(source).is_some());
        if is_named {
            return Ok(view.definition.forbids(source, key));
        }
        Ok(self.definition(id, view, version).await?.forbids(source, key))
    }

    /// A version of the definition as JSON, if Redis still keeps it.
    pub async fn stored_definition(&self, known: &Known, version: u64) -> Result<Option<String>, PlayError> {
        let command = redis::cmd("HGET").arg(&known.keys.definitions).arg(version).to_owned();
        let json = self.store.run(&command).await?;
        let json = redis::from_redis_value(json).map_err(|error| ScriptError::Reply {
            script: "HGET",
            reply: error.to_string(),
        });
        Ok(json?)
    }
}

impl Engine for Views {
    type Known = Known;
    type Error = PlayError;
    const UNSETTLED: PlayError = PlayError::Unsettled;

    fn registry(&self) -> &Registry {
        &self.registry
    }

    async fn seen(&self, id: &Id, again: bool) -> Result<(Arc<Known>, Arc<View>), PlayError> {
        if again {
            Box::pin(self.refresh(id)).await
        } else {
            self.view(id).await
        }
    }
}

/// A start ends open cycles with a time, so its script needs the pools and what this instance prepares.
impl Obeys for Views {
    fn remember(&self, decision: &Arc<Decision>) {
        self.registry.remember(decision);
    }

    fn used(&self) -> Vec<Id> {
        Obeys::used(&self.registry)
    }

    fn listed(&self) -> BoxFuture<'_, Result<BTreeSet<Id>, ScriptError>> {
        self.registry.listed()
    }

    fn node_of(&self, id: &Id) -> Option<Arc<str>> {
        self.registry.node_of(id)
    }

    fn obey<'a>(&'a self, id: &'a Id, decision: &'a Decision) -> BoxFuture<'a, Result<Obedience, ScriptError>> {
        Box::pin(async move {
            let mut view = self.registry.known(id).view();
            for _ in 0..MAX_STALE {
                let starting = view
                    .filter(|_| !decision.is_stop())
                    .map(|view| view.starting(&self.registry.known(id)));
                match self
                    .registry
                    .make_obey(id, decision, &starting.unwrap_or_default())
                    .await
                {
                    Err(ScriptError::Stale) => {}
                    other => return other,
                }
                // Without the secret of its epoch this instance cannot play the jackpot. Another one starts it.
                view = match self.refresh(id).await {
                    Ok((_, view)) => Some(view),
                    Err(PlayError::Script(error)) => return Err(error),
                    Err(_) => return Err(ScriptError::Stale),
                };
            }
            Err(ScriptError::Stale)
        })
    }
}

impl View {
    fn starting(&self, known: &Known) -> Starting {
        let fence = known.fence(self);
        let pools = self.definition.tiers().iter().map(|tier| known.keys.pool(&tier.tier));
        Starting {
            keys: pools.collect(),
            args: vec![fence.definition, fence.prepared],
        }
    }
}

/// Parses a definition from Redis. A definition from an older version of the service is read too.
pub fn parse_definition(id: &Id, json: &str) -> Result<Definition, PlayError> {
    let lost = |what: String| PlayError::Lost { id: id.clone(), what };
    let document: Document =
        serde_json::from_str(json).map_err(|error| lost(format!("a readable definition: {error}")))?;
    Definition::stored(document).map_err(|wrong| lost(format!("a valid definition: {wrong:?}")))
}
