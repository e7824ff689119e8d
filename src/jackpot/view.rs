//! What this instance knows of a jackpot: the definition, epoch and status it last read. Scripts check it again in
//! the same step in which they write (`stale`), so that being behind costs a repeat and never a wrong result.

use std::sync::Arc;

use crate::ids::Id;
use crate::master_secret::MasterSecret;
use crate::store::Store;

use serde::{Deserialize, Serialize};

use super::definition::Definition;
use super::document::{Document, PutStatus};
use super::draw::EpochSeed;
use super::error::PlayError;
use super::known::{Known, Registry};
use super::scripts::{self, ScriptError, Snapshot};

/// Whether a jackpot takes entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It does.
    Open,
    /// Stopped by an operator.
    Paused,
    /// Stopped by the service, because its books do not agree.
    Suspended,
    /// For ever.
    Closed,
}

impl Status {
    /// As answers and Redis name it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Paused => "paused",
            Self::Suspended => "suspended",
            Self::Closed => "closed",
        }
    }

    /// The inverse of [`Status::as_str`].
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Open, Self::Paused, Self::Suspended, Self::Closed]
            .into_iter()
            .find(|s| s.as_str() == text)
    }
}

impl From<PutStatus> for Status {
    fn from(status: PutStatus) -> Self {
        match status {
            PutStatus::Open => Self::Open,
            PutStatus::Paused => Self::Paused,
            PutStatus::Suspended => Self::Suspended,
            PutStatus::Closed => Self::Closed,
        }
    }
}

/// The money of a tier, minor units unless named otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meter {
    /// Which tier.
    pub tier: Id,
    /// What a winner takes from.
    pub pool: u64,
    /// Pays for the next seed.
    pub reserve: u64,
    /// Beyond the cap.
    pub overflow: u64,
    /// Millionths carried, of pool and reserve together.
    pub remainder_micro: u64,
    /// Whole units of the exact sum of contributions.
    pub contributed: u64,
    /// Its millionths.
    pub contributed_micro: u64,
    /// Put in less taken out by operators.
    pub funded: i64,
    /// Paid by claims.
    pub paid: u64,
    /// Takes of all.
    pub wins: u64,
}

/// A period under one seed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Epoch {
    /// From 1.
    pub epoch: u64,
    /// SHA-256 of its seed, hexadecimal.
    pub commitment: String,
    /// ms of Redis' clock.
    pub opened_ms: i64,
    /// `None` while it is open.
    pub closed_ms: Option<i64>,
}

/// What drawing and entering need, as last read.
#[derive(Debug)]
pub struct View {
    /// The jackpot.
    pub id: Id,
    /// The definition in force.
    pub definition: Arc<Definition>,
    /// Its version.
    pub version: u64,
    /// Restores when it was read: behind another one a version may name another definition.
    pub restores: u64,
    /// Its version and money digest, for the fence.
    pub stamp: String,
    /// Highest version given.
    pub last_version: u64,
    /// The open epoch.
    pub epoch: u64,
    /// Its seed.
    pub seed: EpochSeed,
    /// Its commitment.
    pub commitment: String,
}

/// The views of all jackpots that this instance has used.
#[derive(Debug)]
pub struct Views {
    store: Store,
    secret: MasterSecret,
    /// What is remembered of each.
    pub registry: Registry,
}

impl Views {
    /// Nothing read yet.
    #[must_use]
    pub fn new(store: Store, secret: MasterSecret) -> Self {
        Self {
            registry: Registry::new(store.clone()),
            store,
            secret,
        }
    }

    /// The view as last read, or read now.
    pub async fn view(&self, id: &Id) -> Result<(Arc<Known>, Arc<View>), PlayError> {
        let known = self.registry.whole(id)?;
        match known.view() {
            Some(view) => Ok((known, view)),
            None => Box::pin(self.refresh(id)).await,
        }
    }

    /// Another view than `stale`: the one that was read meanwhile, or one read now. Hundreds of entries of one call find
    /// their view stale together; one of them reads.
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
        let seed = self.seed(id, snapshot.epoch);
        let commitment = seed.commitment();
        if commitment != snapshot.commitment {
            return Err(PlayError::Script(ScriptError::Secret));
        }
        let definition = Arc::new(parse_definition(id, &snapshot.definition)?);
        let view = Arc::new(View {
            id: id.clone(),
            stamp: format!("{} {}", snapshot.version, definition.money_digest()),
            definition,
            version: snapshot.version,
            restores: snapshot.mark.restores(),
            last_version: snapshot.last_version,
            epoch: snapshot.epoch,
            seed,
            commitment,
        });
        known.keep_view(view.clone());
        Ok((known, view))
    }

    /// Reads a jackpot whole.
    pub async fn snapshot(&self, id: &Id) -> Result<Snapshot, PlayError> {
        let known = self.registry.whole(id)?;
        let snapshot = scripts::snapshot(&self.store, &known.keys, known.mark()).await;
        Ok(self.registry.heard(&known, snapshot)?)
    }

    /// The seed of an epoch.
    #[must_use]
    pub fn seed(&self, id: &Id, epoch: u64) -> EpochSeed {
        EpochSeed::derive(&self.secret, id, epoch)
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

/// A definition as Redis keeps it. What an older version of the service took is read all the same.
pub fn parse_definition(id: &Id, json: &str) -> Result<Definition, PlayError> {
    let lost = |what: String| PlayError::Lost { id: id.clone(), what };
    let document: Document =
        serde_json::from_str(json).map_err(|error| lost(format!("a readable definition: {error}")))?;
    Definition::stored(document).map_err(|wrong| lost(format!("a valid definition: {wrong:?}")))
}
