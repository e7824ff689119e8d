//! One ledger, one store (promise 15): the UUID of the store is in SQL, in Redis and in `<data_dir>/store.id`.
//!
//! [`decide`] is the rule: a pure function of the three. [`Ledger::claim`] makes them agree at a start. It makes one
//! write at a time, each by compare-and-set, and looks again. So the next start continues one that died between two
//! writes, and one of two concurrent starts wins. [`Ledger::adopt`] ties another Redis to the ledger.
//! [`Ledger::still_ours`] checks for a running instance. In SQL every transaction that writes checks the UUID
//! ([`Sql::begin`](crate::sql::Sql::begin)), so the old pair commits nothing after an adopt. Why:
//! docs/decisions/0022.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use redis::Value;
use tokio::time::timeout;
use tracing::{info, warn};
use uuid::Uuid;

use super::Ledger;
use super::start::LedgerOpenError;
use crate::sql::{InSql, Sql};
use crate::store::keys::LEDGER;
use crate::store::{Call, Script, Store, StoreError};
use crate::{durable_file, random, signing};

static NAME_STORE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "name_store",
        "allow-oom",
        &[include_str!("../../../../lua/subject/name_store.lua")],
    )
});

/// File in the data directory that holds only the UUID.
const FILE: &str = "store.id";

/// Last word of the name in Redis between the start and the end of an adopt.
const ADOPTING: &str = "adopting";

/// Most looks of one claim. Each follows a write, by this instance or by another one that starts.
const MAX_LOOKS: usize = 16;

/// Longest wait of a running instance for SQL to name the store. An unreachable database does not stop the instance.
const SQL_LIMIT: Duration = Duration::from_secs(2);

/// The name that Redis holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InRedis {
    /// None: Redis is empty, or lost the name with the rest.
    Nothing,
    /// This ledger and no store: a program without store names used it.
    Unnamed,
    /// This ledger and a store.
    Store {
        id: Uuid,
        /// Whether an adopt has begun and not ended.
        adopting: bool,
    },
    /// Another ledger, or an unreadable name.
    Other(String),
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// They belong together: nothing.
    Agree(Uuid),
    /// Nobody has named the store: name Redis first.
    Begin,
    /// A first start died before SQL had the UUID that Redis has.
    Finish(Uuid),
    /// Redis lost its data: name it again, and rebuild it.
    Lost(Uuid),
    /// An operator must decide.
    Refused(Why),
}

/// Why a Redis and a ledger are not used together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// Redis belongs to another ledger.
    OtherLedger,
    /// Redis belongs to this ledger, which now belongs to another store.
    OtherStore,
    /// Redis is empty, and this data directory was never used with the ledger.
    NoFile,
    /// Redis is empty, and this data directory was used with another store.
    OtherFile,
    /// Redis is empty, and the ledger has events from before stores had names: no file can prove a loss.
    NoProof,
    /// An adopt began on this Redis and did not end.
    Unfinished,
}

/// The rule. The file proves only that this data directory's Redis was the ledger's, so it counts only where Redis
/// names nothing.
pub fn decide(sql: InSql, redis: &InRedis, file: Option<Uuid>) -> Verdict {
    let known = |id: Uuid| file == Some(id);
    match (redis, sql.store) {
        (InRedis::Other(_), _) => Verdict::Refused(Why::OtherLedger),
        (InRedis::Store { adopting: true, .. }, _) => Verdict::Refused(Why::Unfinished),
        (InRedis::Store { id, .. }, None) => Verdict::Finish(*id),
        (InRedis::Store { id, .. }, Some(store)) if *id == store => Verdict::Agree(store),
        (InRedis::Unnamed | InRedis::Nothing, Some(store)) if known(store) => Verdict::Lost(store),
        (InRedis::Store { .. } | InRedis::Unnamed, Some(_)) => Verdict::Refused(Why::OtherStore),
        (InRedis::Nothing, None) if sql.has_events => Verdict::Refused(Why::NoProof),
        (InRedis::Unnamed | InRedis::Nothing, None) => Verdict::Begin,
        (InRedis::Nothing, Some(_)) if file.is_some() => Verdict::Refused(Why::OtherFile),
        (InRedis::Nothing, Some(_)) => Verdict::Refused(Why::NoFile),
    }
}

/// All three at one look.
#[derive(Debug, Clone)]
struct Seen {
    sql: InSql,
    redis: InRedis,
    /// The name as Redis holds it.
    raw: String,
    file: Option<Uuid>,
}

/// A refusal: what was found in each place, and what to do.
#[derive(Debug)]
pub struct Refusal {
    why: Why,
    sql: Option<Uuid>,
    redis: String,
    file: Option<Uuid>,
    path: PathBuf,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |id: Option<Uuid>| id.map_or_else(|| "names none".to_owned(), |id| format!("names {id}"));
        let redis = match self.redis.as_str() {
            "" => "is empty",
            text => text,
        };
        write!(
            f,
            "this Redis is not the store of this ledger. The ledger {}; Redis {redis}; {} {}. ",
            name(self.sql),
            self.path.display(),
            name(self.file)
        )?;
        let adopt = "jackpot restore --adopt";
        match self.why {
            Why::OtherLedger => write!(
                f,
                "Connect the ledger that was used with this Redis (ledger.url), or an empty Redis"
            ),
            Why::Unfinished => write!(f, "`{adopt}` was begun on this Redis and did not end: run it again"),
            Why::OtherStore | Why::NoFile | Why::OtherFile | Why::NoProof => write!(
                f,
                "Connect the Redis that was used with this ledger (redis.urls), or start with the data directory that was \
                 (data_dir). If that Redis is lost for good, run `{adopt}`: it rebuilds this one from the ledger, and \
                 an instance on the other one then answers 503 and commits nothing more"
            ),
        }
    }
}

/// An adopt that has begun. Redis can't be used until [`Ledger::adopted`] ends it.
#[derive(Debug)]
pub struct Adoption {
    /// The ledger's former store.
    pub from: Option<Uuid>,
    /// The ledger's new store.
    pub to: Uuid,
}

/// What a running instance finds about ledger and Redis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// Ledger and Redis are ours, as far as they answer.
    Ours,
    /// The ledger belongs to another store, permanently.
    Taken(String),
    /// Redis belongs to another ledger or store; ours may come back.
    Foreign(String),
}

impl Ledger {
    /// Ties this Redis to this ledger, or refuses. Only a tied pair writes to SQL.
    ///
    /// # Errors
    /// [`LedgerOpenError::Refused`] when an operator has to decide.
    pub async fn claim(&self, store: &Store) -> Result<(), LedgerOpenError> {
        for _ in 0..MAX_LOOKS {
            let seen = self.look(store).await?;
            match decide(seen.sql, &seen.redis, seen.file) {
                Verdict::Agree(id) => {
                    if seen.file != Some(id) {
                        self.write_file(id)?;
                    }
                    self.sql.own(id);
                    return Ok(signing::publish(&self.sql, &self.signing).await?);
                }
                Verdict::Begin => {
                    self.name(store, &seen.raw, new_id()?, false).await?;
                }
                Verdict::Finish(id) => {
                    self.sql.name_store(None, id).await?;
                }
                Verdict::Lost(id) => {
                    warn!(store = %id, "Redis lost everything, and store.id in this data directory names the ledger's store: it can be restored from the ledger");
                    self.name(store, &seen.raw, id, false).await?;
                }
                Verdict::Refused(why) => {
                    // These are two reads: an adopt may have ended between them.
                    if self.sql.store().await? == seen.sql {
                        return Err(seen.refused(why, &self.data_dir).into());
                    }
                }
            }
        }
        Err(LedgerOpenError::Unsettled)
    }

    /// Makes this Redis the ledger's store, whatever it was before. Writes a new UUID to Redis and then to SQL, where
    /// the old pair loses its leases too. Returns `None` when both belong together already, and claims them then.
    ///
    /// # Errors
    /// Also for a Redis of another ledger, because it holds that ledger's money.
    pub async fn adopt(&self, store: &Store) -> Result<Option<Adoption>, LedgerOpenError> {
        let seen = self.look(store).await?;
        let to = match (decide(seen.sql, &seen.redis, seen.file), &seen.redis) {
            (Verdict::Agree(_) | Verdict::Begin | Verdict::Finish(_), _) => {
                self.claim(store).await?;
                return Ok(None);
            }
            (Verdict::Refused(Why::OtherLedger), _) => {
                return Err(seen.refused(Why::OtherLedger, &self.data_dir).into());
            }
            (_, InRedis::Store { id, adopting: true }) => *id,
            (Verdict::Lost(_) | Verdict::Refused(_), _) => new_id()?,
        };
        // Redis first: until SQL has the UUID nothing changes for anybody, and no start uses a Redis with this name.
        if !self.name(store, &seen.raw, to, true).await? {
            return Err(LedgerOpenError::Unsettled);
        }
        let from = seen.sql.store;
        if from != Some(to) && !self.sql.name_store(from, to).await? {
            return Err(LedgerOpenError::Unsettled);
        }
        info!(?from, %to, "the ledger belongs to this Redis now");
        self.sql.own(to);
        signing::publish(&self.sql, &self.signing).await?;
        Ok(Some(Adoption { from, to }))
    }

    /// Ends an adopt: Redis now holds what the ledger has.
    ///
    /// # Errors
    /// When another adopt intervened.
    pub async fn adopted(&self, store: &Store, adoption: Adoption) -> Result<(), LedgerOpenError> {
        self.write_file(adoption.to)?;
        let raw = self.raw_name(adoption.to, true);
        if self.name(store, &raw, adoption.to, false).await? {
            Ok(())
        } else {
            Err(LedgerOpenError::Unsettled)
        }
    }

    /// Checks whether ledger and Redis are still this instance's. A Redis that lost the name gets it again if SQL
    /// says that the ledger is ours.
    ///
    /// # Errors
    /// When this is unknown: Redis does not answer, or it lost the name and SQL does not answer.
    pub async fn still_ours(&self, store: &Store) -> Result<Standing, LedgerOpenError> {
        let Some(own) = self.sql.owner() else {
            self.claim(store).await?;
            return Ok(Standing::Ours);
        };
        let sql = timeout(SQL_LIMIT, self.sql.store()).await.ok().and_then(Result::ok);
        if let Some(now) = sql.filter(|sql| sql.store != Some(own)) {
            let now = now.store.map_or_else(|| "none".to_owned(), |id| id.to_string());
            return Ok(Standing::Taken(format!(
                "the ledger belongs to store {now} by now, not to {own}, this instance's: an operator ran `jackpot restore \
                 --adopt` elsewhere. Stop this instance"
            )));
        }
        let (raw, redis) = in_redis(&self.sql, store).await?;
        match redis {
            InRedis::Store { id, adopting: false } if id == own => {}
            InRedis::Nothing | InRedis::Unnamed => {
                if sql.is_none() || !self.name(store, &raw, own, false).await? {
                    return Err(LedgerOpenError::Unsettled);
                }
                warn!(store = %own, "Redis had lost its store id");
            }
            InRedis::Store { .. } | InRedis::Other(_) => {
                return Ok(Standing::Foreign(format!(
                    "Redis names '{raw}', and this instance plays on store {own} of ledger {}: connect that one (redis.urls)",
                    self.sql.ledger_id()
                )));
            }
        }
        Ok(Standing::Ours)
    }

    async fn look(&self, store: &Store) -> Result<Seen, LedgerOpenError> {
        Seen::read(&self.sql, &self.data_dir, store).await
    }

    /// Compares and sets. Returns whether the name is there now.
    async fn name(&self, store: &Store, seen: &str, id: Uuid, adopting: bool) -> Result<bool, LedgerOpenError> {
        let call = Call::new(&NAME_STORE)
            .key(LEDGER)
            .arg(seen)
            .arg(self.raw_name(id, adopting));
        let reply = store.call_always(&call).await?;
        let code = match &reply {
            Value::Array(items) => items
                .first()
                .cloned()
                .and_then(|item| redis::from_redis_value::<String>(item).ok()),
            _ => None,
        };
        Ok(code.as_deref() == Some("ok"))
    }

    fn raw_name(&self, id: Uuid, adopting: bool) -> String {
        let ledger = self.sql.ledger_id();
        if adopting {
            format!("{ledger} {id} {ADOPTING}")
        } else {
            format!("{ledger} {id}")
        }
    }

    fn write_file(&self, id: Uuid) -> Result<(), LedgerOpenError> {
        durable_file::replace(&self.data_dir.join(FILE), format!("{id}\n").as_bytes()).map_err(|source| {
            LedgerOpenError::File {
                path: self.data_dir.join(FILE),
                source,
            }
        })
    }
}

impl Seen {
    async fn read(sql: &Sql, data_dir: &Path, store: &Store) -> Result<Self, LedgerOpenError> {
        let in_sql = sql.store().await?;
        let (raw, redis) = in_redis(sql, store).await?;
        let path = data_dir.join(FILE);
        let file = read_file(&path).map_err(|source| LedgerOpenError::File { path, source })?;
        Ok(Self {
            sql: in_sql,
            redis,
            raw,
            file,
        })
    }

    fn refused(self, why: Why, data_dir: &Path) -> Refusal {
        let redis = match self.redis {
            InRedis::Nothing => String::new(),
            InRedis::Unnamed => "names none".to_owned(),
            InRedis::Store { id, .. } => format!("names {id}"),
            InRedis::Other(raw) => format!("belongs to ledger {raw}"),
        };
        Refusal {
            why,
            sql: self.sql.store,
            redis,
            file: self.file,
            path: data_dir.join(FILE),
        }
    }
}

/// Looks whether a start would use this Redis with this ledger, and changes nothing. Returns the store that both name;
/// `None` when a start would still have to name it.
///
/// # Errors
/// [`LedgerOpenError::Refused`] when an operator has to decide.
pub async fn look(sql: &Sql, data_dir: &Path, store: &Store) -> Result<Option<Uuid>, LedgerOpenError> {
    let seen = Seen::read(sql, data_dir, store).await?;
    match decide(seen.sql, &seen.redis, seen.file) {
        Verdict::Agree(id) => Ok(Some(id)),
        Verdict::Begin | Verdict::Finish(_) | Verdict::Lost(_) => Ok(None),
        Verdict::Refused(why) => Err(seen.refused(why, data_dir).into()),
    }
}

async fn in_redis(sql: &Sql, store: &Store) -> Result<(String, InRedis), StoreError> {
    let value = match store.run_always(redis::cmd("GET").arg(LEDGER)).await {
        Ok(value) => value,
        // A value that is no text is not this ledger's name either.
        Err(StoreError::Script { code, .. }) if code == "WRONGTYPE" => {
            let text = "(not readable)".to_owned();
            return Ok((text.clone(), InRedis::Other(text)));
        }
        Err(error) => return Err(error),
    };
    let raw: Option<String> = redis::from_redis_value(value).unwrap_or_else(|_| Some("(not readable)".to_owned()));
    let raw = raw.unwrap_or_default();
    Ok((raw.clone(), parse_name(&raw, sql.ledger_id())))
}

fn new_id() -> Result<Uuid, LedgerOpenError> {
    Ok(uuid::Builder::from_random_bytes(random::bytes()?).into_uuid())
}

/// `None` also for text that is no UUID: such a file proves nothing.
fn read_file(path: &Path) -> io::Result<Option<Uuid>> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(std::str::from_utf8(&bytes)
            .ok()
            .and_then(|text| text.trim().parse().ok())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn parse_name(raw: &str, ledger_id: &str) -> InRedis {
    let mut words = raw.split(' ');
    match (words.next(), words.next(), words.next(), words.next()) {
        (Some(""), None, ..) => InRedis::Nothing,
        (Some(ledger), store, more, None) if ledger == ledger_id => match (store.map(str::parse), more) {
            (None, None) => InRedis::Unnamed,
            (Some(Ok(id)), None) => InRedis::Store { id, adopting: false },
            (Some(Ok(id)), Some(ADOPTING)) => InRedis::Store { id, adopting: true },
            _ => InRedis::Other(raw.to_owned()),
        },
        _ => InRedis::Other(raw.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: Uuid = Uuid::from_u128(1);
    const OTHER: Uuid = Uuid::from_u128(2);

    fn sql(store: Option<Uuid>, has_events: bool) -> InSql {
        InSql { store, has_events }
    }

    fn named(id: Uuid) -> InRedis {
        InRedis::Store { id, adopting: false }
    }

    const FILES: [Option<Uuid>; 3] = [None, Some(OURS), Some(OTHER)];

    #[test]
    fn what_agrees_is_played_whatever_the_file_says() {
        for file in FILES {
            for has_events in [false, true] {
                assert_eq!(
                    decide(sql(Some(OURS), has_events), &named(OURS), file),
                    Verdict::Agree(OURS)
                );
            }
        }
    }

    #[test]
    fn an_empty_redis_is_a_loss_only_with_the_matching_file() {
        for has_events in [false, true] {
            let at = |file| decide(sql(Some(OURS), has_events), &InRedis::Nothing, file);
            assert_eq!(at(Some(OURS)), Verdict::Lost(OURS));
            assert_eq!(at(None), Verdict::Refused(Why::NoFile));
            assert_eq!(at(Some(OTHER)), Verdict::Refused(Why::OtherFile));
        }
    }

    #[test]
    fn another_pair_is_refused_whatever_the_file_says() {
        for file in FILES {
            for has_events in [false, true] {
                let at = |redis: &InRedis| decide(sql(Some(OURS), has_events), redis, file);
                assert_eq!(at(&named(OTHER)), Verdict::Refused(Why::OtherStore));
                assert_eq!(at(&InRedis::Other("x".to_owned())), Verdict::Refused(Why::OtherLedger));
                for id in [OURS, OTHER] {
                    let adopting = InRedis::Store { id, adopting: true };
                    assert_eq!(at(&adopting), Verdict::Refused(Why::Unfinished));
                }
            }
        }
    }

    #[test]
    fn the_first_start_begins_and_one_that_died_is_finished() {
        for file in FILES {
            assert_eq!(decide(sql(None, false), &InRedis::Nothing, file), Verdict::Begin);
            for has_events in [false, true] {
                assert_eq!(
                    decide(sql(None, has_events), &named(OTHER), file),
                    Verdict::Finish(OTHER)
                );
            }
        }
    }

    #[test]
    fn a_ledger_of_before_is_tied_to_the_redis_that_names_it() {
        for file in FILES {
            for has_events in [false, true] {
                assert_eq!(decide(sql(None, has_events), &InRedis::Unnamed, file), Verdict::Begin);
            }
            assert_eq!(
                decide(sql(None, true), &InRedis::Nothing, file),
                Verdict::Refused(Why::NoProof)
            );
        }
        // A copy of Redis from before it had a name, put back in its old place.
        let old = |file| decide(sql(Some(OURS), true), &InRedis::Unnamed, file);
        assert_eq!(old(Some(OURS)), Verdict::Lost(OURS));
        assert_eq!(old(None), Verdict::Refused(Why::OtherStore));
        assert_eq!(old(Some(OTHER)), Verdict::Refused(Why::OtherStore));
    }

    #[test]
    fn a_name_is_read_as_it_is_written() {
        assert_eq!(parse_name("", "l"), InRedis::Nothing);
        assert_eq!(parse_name("l", "l"), InRedis::Unnamed);
        assert_eq!(parse_name(&format!("l {OURS}"), "l"), named(OURS));
        let adopting = InRedis::Store {
            id: OURS,
            adopting: true,
        };
        assert_eq!(parse_name(&format!("l {OURS} adopting"), "l"), adopting);
        for wrong in [
            "m".to_owned(),
            format!("m {OURS}"),
            "l x".to_owned(),
            format!("l {OURS} x"),
            "l  ".to_owned(),
        ] {
            assert_eq!(parse_name(&wrong, "l"), InRedis::Other(wrong.clone()), "{wrong}");
        }
    }

    #[test]
    fn a_file_that_holds_no_uuid_proves_nothing() {
        let data = tempfile::tempdir().expect("a directory");
        let path = data.path().join(FILE);
        assert_eq!(read_file(&path).expect("read"), None);
        std::fs::write(&path, "no uuid").expect("written");
        assert_eq!(read_file(&path).expect("read"), None);
        std::fs::write(&path, format!("{OURS}\n")).expect("written");
        assert_eq!(read_file(&path).expect("read"), Some(OURS));
    }
}
