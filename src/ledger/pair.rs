//! One ledger, one store (promise 15): the UUID of the store is in SQL, in Redis and in `<data_dir>/store.id`.
//!
//! [`decide`] is the rule, a pure function of the three. [`Ledger::claim`] brings them together at a start:
//! it makes one write, each by compare-and-set, and looks again, so that a start that died between two writes is gone
//! on with by the next one, and of two starts at once one wins. [`Ledger::adopt`] ties another Redis to the ledger.
//! [`Ledger::still_ours`] is the look of a running instance. In SQL every transaction that writes checks the UUID
//! ([`Sql::begin`](crate::sql::Sql::begin)): the old pair commits nothing after an adopt. Why: docs/decisions/0022.

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
use crate::sql::InSql;
use crate::store::keys::LEDGER;
use crate::store::{Call, Script, Store, StoreError};
use crate::{durable_file, random, signing};

static NAME_STORE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "name_store",
        "allow-oom",
        &[include_str!("../../lua/subject/name_store.lua")],
    )
});

/// File in the data directory with the UUID alone.
const FILE: &str = "store.id";

/// Last word of the name in Redis from the begin of an adopt to its end.
const ADOPTING: &str = "adopting";

/// Looks of one claim: each follows a write that somebody did, this instance or another one that starts.
const MAX_LOOKS: usize = 16;

/// How long a running instance waits for SQL to name the store: a database that is away stops nobody by this.
const SQL_LIMIT: Duration = Duration::from_secs(2);

/// What Redis says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InRedis {
    /// Nothing: it is empty, or lost the name with the rest.
    Nothing,
    /// This ledger, and no store: it was used by a program that named none.
    Unnamed,
    /// This ledger and a store.
    Store {
        /// Which.
        id: Uuid,
        /// Whether an adopt was begun and not ended.
        adopting: bool,
    },
    /// Another ledger, or what can't be read.
    Other(String),
}

/// What is to be done next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing: they belong together.
    Agree(Uuid),
    /// Nobody has named the store: Redis is named first.
    Begin,
    /// A first start died before SQL had the UUID that Redis has.
    Finish(Uuid),
    /// Redis lost what it had: it is named again, and rebuilt.
    Lost(Uuid),
    /// An operator has to decide.
    Refused(Why),
}

/// Why a Redis and a ledger are not played together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// Redis belongs to another ledger.
    OtherLedger,
    /// Redis belongs to this ledger, which belongs to another store by now.
    OtherStore,
    /// Redis is empty, and this data directory was never used with the ledger.
    NoFile,
    /// Redis is empty, and this data directory was used with another store.
    OtherFile,
    /// Redis is empty, and the ledger has events from before stores had names: no file can prove a loss.
    NoProof,
    /// An adopt was begun on this Redis and did not end.
    Unfinished,
}

/// The rule. A file proves only that this data directory's Redis was the ledger's: it matters where Redis says nothing.
#[must_use]
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

/// All three, as of one look.
#[derive(Debug, Clone)]
struct Seen {
    sql: InSql,
    redis: InRedis,
    /// The name in Redis as it is written there.
    raw: String,
    file: Option<Uuid>,
}

/// A refusal, with what was found where and what to do.
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
                 whoever still plays on the other one answers 503 and commits nothing more"
            ),
        }
    }
}

/// An adopt that was begun: Redis can't be played on until [`Ledger::adopted`] ends it.
#[derive(Debug)]
#[must_use]
pub struct Adoption {
    /// The store that the ledger had.
    pub from: Option<Uuid>,
    /// The one that it has now.
    pub to: Uuid,
}

/// What a running instance finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// Ledger and Redis are ours, as far as they answer.
    Ours,
    /// The ledger belongs to another store, for good.
    Taken(String),
    /// Redis belongs to another ledger or store; ours may come back.
    Foreign(String),
}

impl Ledger {
    /// Ties this Redis to this ledger, or refuses. Only what is tied writes to SQL.
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
                    warn!(store = %id, "Redis lost everything, and this data directory's store.id names the ledger's store: what the ledger has can be rebuilt");
                    self.name(store, &seen.raw, id, false).await?;
                }
                Verdict::Refused(why) => {
                    // Read one after the other: an adopt may have ended in between.
                    if self.sql.store().await? == seen.sql {
                        return Err(self.refusal(why, seen).into());
                    }
                }
            }
        }
        Err(LedgerOpenError::Unsettled)
    }

    /// Makes this Redis the ledger's store, whichever was before: a new UUID, in Redis and then in SQL, where the old
    /// pair loses its leases too. `None` when they belong together already; they are claimed then.
    ///
    /// # Errors
    /// Also for a Redis of another ledger, which holds another one's money.
    pub async fn adopt(&self, store: &Store) -> Result<Option<Adoption>, LedgerOpenError> {
        let seen = self.look(store).await?;
        let to = match (decide(seen.sql, &seen.redis, seen.file), &seen.redis) {
            (Verdict::Agree(_) | Verdict::Begin | Verdict::Finish(_), _) => {
                self.claim(store).await?;
                return Ok(None);
            }
            (Verdict::Refused(Why::OtherLedger), _) => return Err(self.refusal(Why::OtherLedger, seen).into()),
            (_, InRedis::Store { id, adopting: true }) => *id,
            (Verdict::Lost(_) | Verdict::Refused(_), _) => new_id()?,
        };
        // Redis first: until SQL has the UUID nothing has changed for anybody, and no start plays on what is named so.
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

    /// Ends an adopt: what the ledger has is in Redis.
    ///
    /// # Errors
    /// When another adopt came in between.
    pub async fn adopted(&self, store: &Store, adoption: Adoption) -> Result<(), LedgerOpenError> {
        self.write_file(adoption.to)?;
        let raw = self.raw_name(adoption.to, true);
        if self.name(store, &raw, adoption.to, false).await? {
            Ok(())
        } else {
            Err(LedgerOpenError::Unsettled)
        }
    }

    /// Looks whether ledger and Redis are still this instance's. A Redis that lost the name gets it again, where SQL
    /// says that the ledger is ours.
    ///
    /// # Errors
    /// When that is not known: Redis does not answer, or it lost the name and SQL does not answer.
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
        let (raw, redis) = self.in_redis(store).await?;
        match redis {
            InRedis::Store { id, adopting: false } if id == own => {}
            InRedis::Nothing | InRedis::Unnamed => {
                if sql.is_none() || !self.name(store, &raw, own, false).await? {
                    return Err(LedgerOpenError::Unsettled);
                }
                warn!(store = %own, "Redis had lost its name");
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
        let sql = self.sql.store().await?;
        let (raw, redis) = self.in_redis(store).await?;
        let file = read_file(&self.data_dir.join(FILE)).map_err(|source| self.file_error(source))?;
        Ok(Seen { sql, redis, raw, file })
    }

    async fn in_redis(&self, store: &Store) -> Result<(String, InRedis), StoreError> {
        let value = match store.run_always(redis::cmd("GET").arg(LEDGER)).await {
            Ok(value) => value,
            // What is no text is not this ledger's name either.
            Err(StoreError::Script { code, .. }) if code == "WRONGTYPE" => {
                let text = "(not readable)".to_owned();
                return Ok((text.clone(), InRedis::Other(text)));
            }
            Err(error) => return Err(error),
        };
        let raw: Option<String> = redis::from_redis_value(value).unwrap_or_else(|_| Some("(not readable)".to_owned()));
        let raw = raw.unwrap_or_default();
        Ok((raw.clone(), parse_name(&raw, self.sql.ledger_id())))
    }

    /// Compare and set; whether it is there now.
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
        durable_file::replace(&self.data_dir.join(FILE), format!("{id}\n").as_bytes())
            .map_err(|source| self.file_error(source))
    }

    fn file_error(&self, source: io::Error) -> LedgerOpenError {
        LedgerOpenError::File {
            path: self.data_dir.join(FILE),
            source,
        }
    }

    fn refusal(&self, why: Why, seen: Seen) -> Refusal {
        let redis = match seen.redis {
            InRedis::Nothing => String::new(),
            InRedis::Unnamed => "names none".to_owned(),
            InRedis::Store { id, .. } => format!("names {id}"),
            InRedis::Other(raw) => format!("belongs to ledger {raw}"),
        };
        Refusal {
            why,
            sql: seen.sql.store,
            redis,
            file: seen.file,
            path: self.data_dir.join(FILE),
        }
    }
}

fn new_id() -> Result<Uuid, LedgerOpenError> {
    Ok(uuid::Builder::from_random_bytes(random::bytes()?).into_uuid())
}

/// `None` also for what is no UUID: such a file proves nothing.
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
        // A copy of Redis from before it had a name, put back where it was.
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
