//! What this instance knows of a jackpot: the definition, epoch and status it last read. Scripts check it again in
//! the same step in which they write (`stale`), so that being behind costs a repeat and never a wrong result.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::ids::Id;
use crate::master_secret::MasterSecret;
use crate::store::Store;
use crate::store::keys::JackpotKeys;

use serde::{Deserialize, Serialize};

use super::definition::Definition;
use super::document::{Document, PutStatus};
use super::draw::EpochSeed;
use super::error::PlayError;
use super::scripts::{self, Fence, ScriptError, Snapshot};

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

/// Everything cached of one jackpot. Grows by one for each jackpot that exists and is used.
#[derive(Debug)]
pub struct Known {
    /// Its keys.
    pub keys: JackpotKeys,
    n: AtomicU64,
    lost: AtomicBool,
    view: RwLock<Option<Arc<View>>>,
    definitions: RwLock<BTreeMap<u64, Arc<Definition>>>,
}

/// Definitions kept per jackpot for pending entries and repeats; an older one is read again when needed.
const MAX_DEFINITIONS: usize = 16;

impl Known {
    fn new(id: &Id) -> Self {
        Self {
            keys: JackpotKeys::new(id),
            n: AtomicU64::new(0),
            lost: AtomicBool::new(false),
            view: RwLock::default(),
            definitions: RwLock::default(),
        }
    }

    /// Highest event number that this instance has seen.
    pub fn n(&self) -> u64 {
        self.n.load(Ordering::Relaxed)
    }

    /// Remembers an event number out of a reply.
    pub fn saw(&self, n: u64) {
        self.n.fetch_max(n, Ordering::Relaxed);
    }

    /// Remembers that Redis lost events: from then on this instance does not play this jackpot, also when others
    /// have gone on from the older state and passed the number that this instance knows.
    pub fn note<T>(&self, result: Result<T, ScriptError>) -> Result<T, ScriptError> {
        if let Err(error @ ScriptError::Behind { .. }) = &result
            && !self.lost.swap(true, Ordering::Relaxed)
        {
            tracing::error!(%error, "this jackpot is suspended on this instance until its events are restored");
        }
        result
    }

    /// An error once Redis was seen behind.
    fn whole(&self) -> Result<(), ScriptError> {
        let known = self.n();
        if self.lost.load(Ordering::Relaxed) {
            Err(ScriptError::Behind { at: 0, known })
        } else {
            Ok(())
        }
    }

    /// The fence for a script call under this view.
    pub fn fence(&self, view: &View) -> Fence {
        Fence {
            known: self.n(),
            epoch: view.epoch,
            commitment: view.commitment.clone(),
            definition: view.stamp.clone(),
        }
    }
}

/// The views of all jackpots that this instance has used.
#[derive(Debug)]
pub struct Views {
    store: Store,
    secret: MasterSecret,
    known: RwLock<HashMap<Id, Arc<Known>>>,
}

impl Views {
    /// Nothing read yet.
    #[must_use]
    pub fn new(store: Store, secret: MasterSecret) -> Self {
        Self {
            store,
            secret,
            known: RwLock::default(),
        }
    }

    /// What is cached of a jackpot; a new, empty one is kept only once the jackpot has been read.
    pub fn known(&self, id: &Id) -> Arc<Known> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.get(id).cloned().unwrap_or_else(|| Arc::new(Known::new(id)))
    }

    /// Whether this jackpot has been read: its name is not just a client's.
    pub fn is_used(&self, id: &Id) -> bool {
        self.known
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .contains_key(id)
    }

    /// The jackpots used so far.
    pub fn used(&self) -> Vec<Id> {
        self.known
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .keys()
            .cloned()
            .collect()
    }

    /// The view as last read, or read now.
    pub async fn view(&self, id: &Id) -> Result<(Arc<Known>, Arc<View>), PlayError> {
        let known = self.known(id);
        known.whole()?;
        let cached = known.view.read().unwrap_or_else(PoisonError::into_inner).clone();
        match cached {
            Some(view) => Ok((known, view)),
            None => self.refresh(id).await,
        }
    }

    /// Reads the view again.
    pub async fn refresh(&self, id: &Id) -> Result<(Arc<Known>, Arc<View>), PlayError> {
        let snapshot = self.snapshot(id).await?;
        let known = self.known(id);
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
            last_version: snapshot.last_version,
            epoch: snapshot.epoch,
            seed,
            commitment,
        });
        *known.view.write().unwrap_or_else(PoisonError::into_inner) = Some(view.clone());
        Ok((known, view))
    }

    /// Reads a jackpot whole.
    pub async fn snapshot(&self, id: &Id) -> Result<Snapshot, PlayError> {
        let known = self.known(id);
        known.whole()?;
        let snapshot = known.note(scripts::snapshot(&self.store, &known.keys, known.n()).await)?;
        known.saw(snapshot.n);
        self.known
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .entry(id.clone())
            .or_insert(known);
        Ok(snapshot)
    }

    /// The seed of an epoch.
    #[must_use]
    pub fn seed(&self, id: &Id, epoch: u64) -> EpochSeed {
        EpochSeed::derive(&self.secret, id, epoch)
    }

    /// The definition of a version, in force or pinned by an entry.
    pub async fn definition(&self, id: &Id, view: &View, version: u64) -> Result<Arc<Definition>, PlayError> {
        if version == view.version {
            return Ok(view.definition.clone());
        }
        let known = self.known(id);
        let cached = known
            .definitions
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&version)
            .cloned();
        if let Some(definition) = cached {
            return Ok(definition);
        }
        let json = self
            .store
            .run(&redis::cmd("HGET").arg(&known.keys.definitions).arg(version).to_owned())
            .await
            .map_err(ScriptError::from)?;
        let json: Option<String> = redis::from_redis_value(json).map_err(|_| PlayError::Lost {
            id: id.clone(),
            what: format!("definition {version}"),
        })?;
        let json = json.ok_or_else(|| PlayError::Lost {
            id: id.clone(),
            what: format!("definition {version}"),
        })?;
        let definition = Arc::new(parse_definition(id, &json)?);
        let mut definitions = known.definitions.write().unwrap_or_else(PoisonError::into_inner);
        definitions.insert(version, definition.clone());
        while definitions.len() > MAX_DEFINITIONS {
            definitions.pop_first();
        }
        Ok(definition)
    }
}

/// A definition as Redis keeps it.
pub(super) fn parse_definition(id: &Id, json: &str) -> Result<Definition, PlayError> {
    let lost = |what: String| PlayError::Lost { id: id.clone(), what };
    let document: Document =
        serde_json::from_str(json).map_err(|error| lost(format!("a readable definition: {error}")))?;
    Definition::check(document).map_err(|wrong| lost(format!("a valid definition: {wrong:?}")))
}
