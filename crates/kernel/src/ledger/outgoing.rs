//! What the events of a stream tell other systems. Each kind says it for its own events ([`Tells`]); how it is sent, and to
//! whom, is the business of `jackpot_outside::events`.
//!
//! An event `n` of a stream produces one or more outgoing events, numbered by `i` from 0. They are a function of rows that
//! never change, so a repeat is the same text.

use jackpot_core::fields::EventFields;
use jackpot_core::ids::Id;
use serde::Serialize;
use serde_json::json;
use thiserror::Error;

use super::events::Unreadable;
use super::kind::Folds;
use super::stored::Stored;
use crate::sql::{AtHome, int};
use crate::subject::kinds::KindName;

/// Of an event for which no other type fits.
pub const STEP: &str = "stream.step";
/// A subject was suspended: it takes nothing until Redis and the ledger were compared.
pub const SUSPENDED: &str = "alarm.suspended";

/// An outgoing event, without its envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// Its type without prefix and version, such as `payout.created`.
    pub kind: &'static str,
    /// JSON.
    pub data: String,
}

/// What an event tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    pub n: u64,
    pub at_ms: i64,
    /// The history that the event belongs to.
    pub history: String,
    /// Those that are wanted, each with its `i`.
    pub events: Vec<(u64, Outgoing)>,
}

/// Says of a type whether it is wanted.
pub type Wants<'a> = &'a (dyn Fn(&str) -> bool + Send + Sync);

/// Why it is not known what an event tells.
#[derive(Debug, Error)]
pub enum TellError {
    /// The database failed.
    #[error("{0}")] // not transparent: a check for a database that is down looks for it among the sources
    Sql(#[from] sqlx::Error),
    /// A row holds what the projector does not write.
    #[error("the ledger of {0} is damaged: {1}")]
    Damaged(String, String),
}

/// What the events of a kind tell.
pub trait Tells: Folds {
    /// The types that they can have, besides [`STEP`].
    const TYPES: &'static [&'static str] = &[];

    /// What each of these events tells. `rows` are events of one stream, in order.
    fn tell(
        _: &AtHome,
        id: &Id,
        rows: &[Stored],
        wants: Wants<'_>,
    ) -> impl Future<Output = Result<Vec<Told>, TellError>> + Send {
        let steps = rows.iter().map(|row| {
            let fields = Fields::of(Self::NAME, id, row)?;
            let mut teller = Teller::new(wants);
            teller.step(&fields);
            Ok(teller.told(row, &fields))
        });
        std::future::ready(steps.collect())
    }
}

/// The fields of a stored event.
pub struct Fields<'a> {
    pub all: EventFields,
    kind: KindName,
    id: &'a Id,
    n: u64,
}

impl<'a> Fields<'a> {
    /// Reads them.
    pub fn of(kind: KindName, id: &'a Id, row: &Stored) -> Result<Self, TellError> {
        let n = row.n;
        let all = serde_json::from_str(&row.body);
        let all = all.map_err(|error| damaged(kind, id, format!("event {n} can't be read: {error}")))?;
        Ok(Self { all, kind, id, n })
    }

    /// A field; empty where the event has none.
    pub fn text(&self, name: &str) -> &str {
        self.all.get(name).unwrap_or_default()
    }

    /// A number; `None` where the event has none.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.text(name).parse().ok()
    }

    /// The error that something of the event is missing elsewhere in the ledger.
    pub fn damaged(&self, what: impl Into<String>) -> TellError {
        damaged(self.kind, self.id, format!("event {}: {}", self.n, what.into()))
    }

    /// An event that can't be read although the projector read it.
    pub fn unreadable(&self, error: &Unreadable) -> TellError {
        damaged(self.kind, self.id, error.to_string())
    }
}

fn damaged(kind: KindName, id: &Id, what: String) -> TellError {
    TellError::Damaged(format!("{kind} '{id}'"), what)
}

/// Numbers what one event tells.
pub struct Teller<'w> {
    wants: Wants<'w>,
    i: u64,
    events: Vec<(u64, Outgoing)>,
}

impl<'w> Teller<'w> {
    pub fn new(wants: Wants<'w>) -> Self {
        Self {
            wants,
            i: 0,
            events: Vec::new(),
        }
    }

    /// Adds the next one. `data` is made only if the type is wanted.
    pub fn add<T: Serialize>(&mut self, kind: &'static str, data: impl FnOnce() -> T) {
        if (self.wants)(kind) {
            self.push(kind, &data());
        }
        self.i += 1;
    }

    /// The same, for data that may be missing in the ledger.
    pub fn try_add<T: Serialize>(
        &mut self,
        kind: &'static str,
        data: impl FnOnce() -> Result<T, TellError>,
    ) -> Result<(), TellError> {
        if (self.wants)(kind) {
            self.push(kind, &data()?);
        }
        self.i += 1;
        Ok(())
    }

    fn push(&mut self, kind: &'static str, data: &impl Serialize) {
        let data = serde_json::to_string(data).expect("plain data is JSON");
        self.events.push((self.i, Outgoing { kind, data }));
    }

    /// Adds a step of the stream that has no type of its own.
    pub fn step(&mut self, fields: &Fields<'_>) {
        self.add(STEP, || json!({"step": fields.text("type")}));
    }

    /// Adds that a status became this one, for those who watch over all kinds.
    pub fn suspended(&mut self, is_suspended: bool, fields: &Fields<'_>) {
        if is_suspended {
            self.add(SUSPENDED, || json!({"reason": fields.text("reason")}));
        }
    }

    /// What the event tells: at least a step.
    pub fn told(mut self, row: &Stored, fields: &Fields<'_>) -> Told {
        if self.i == 0 {
            self.step(fields);
        }
        Told {
            n: row.n,
            at_ms: row.at_ms,
            history: fields.text("history").to_owned(),
            events: self.events,
        }
    }
}

/// The history before a restore: that of event `n` - 1.
pub async fn history_before(sql: &AtHome, kind: KindName, id: &Id, n: u64) -> Result<String, TellError> {
    let before = sqlx::query_scalar("SELECT body FROM events WHERE kind = $1 AND id = $2 AND n = $3")
        .bind(kind.as_str())
        .bind(id.to_string())
        .bind(int(n) - 1);
    let read = sql.ask(|sql| async move { sql.reading(before.fetch_optional(sql.reader())).await });
    let body: Option<String> = read.await?;
    let body = body.ok_or_else(|| damaged(kind, id, format!("the event before {n} is missing")))?;
    let row = Stored {
        n,
        at_ms: 0,
        hash: String::new(),
        body,
    };
    Ok(Fields::of(kind, id, &row)?.text("history").to_owned())
}
