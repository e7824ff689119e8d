//! What events of all kinds have in common: the fields that all have, and checking that one follows from the last. Pure.

use std::collections::BTreeMap;

use jackpot_core::event_fields;
use jackpot_core::ids::Id;
pub use jackpot_core::wire::event::{Fields, HISTORY_DIGITS, Unreadable, hex};
use thiserror::Error;

/// PUTs whose repeats Redis recognizes (`lua/subject/puts.lua`).
const MAX_PUTS: usize = 16;

event_fields! {
    /// The fields of every event.
    pub struct Envelope {
        /// Number, dense from 1 in a stream; the identity of the event.
        pub n: u64,
        /// When it happened, by Redis' clock.
        pub at_ms as "at": i64,
        /// The history that the event belongs to: 16 hexadecimal digits, made at creation and at every restore.
        pub history: String = "hexadecimal" |text| hex(text, HISTORY_DIGITS),
    }
    unread {
        /// One of the types below.
        kind as "type": String,
    }
}

event_fields! {
    /// Who made a request of the service.
    pub struct By {}
    unread {
        /// Name of the operator's key, or of the part of the service.
        who: String,
        /// `X-Request-Id` of the call; empty for none.
        request_id: String,
    }
}

event_fields! {
    /// Who did it and why.
    pub struct Why {}
    unread {
        /// Why, in the operator's words.
        reason: String,
        /// As of every operator's request.
        by: By,
    }
}

jackpot_core::names! {
    /// The effect of a PUT.
    pub enum Mode as "`created`, `changed` or, of a jackpot, `waits`" {
        /// It created the subject.
        Created = "created",
        /// The definition is in force at once.
        Changed = "changed",
        /// The definition is in force with the next take of all. Only a jackpot's.
        Waits = "waits",
    }
}

event_fields! {
    /// A definition that was put.
    pub struct Put {
        /// What the PUT did: it created the subject, its definition is in force, or waits for the next take of all.
        pub mode: Mode,
        /// Version of the definition.
        pub version: u64,
        /// The definition, as the operator sent it.
        pub json: String,
        /// One for the PUT and all its repeats.
        pub nonce: String,
    }
    unread {
        /// Who put it.
        by: By,
    }
}

impl Put {
    /// Whether it created the subject.
    pub fn is_new(&self) -> bool {
        self.mode == Mode::Created
    }

    /// The PUTs that Redis knows after this one, given those before it. Does what `remember_put` of
    /// `lua/subject/puts.lua` does: `nonce mode version;` each, and the oldest are dropped.
    pub fn remember(&self, puts: &str) -> String {
        remember_put(puts, &self.nonce, self.mode.as_str(), self.version)
    }
}

event_fields! {
    /// A change of the status.
    #[derive(Copy)]
    pub struct StatusChange<S> {
        /// Status before.
        pub before: S,
        /// Status after.
        pub after: S,
    }
    unread {
        /// Who changed it and why.
        why: Why,
    }
}

event_fields! {
    /// How a subject obeys a decision about the emergency stop.
    #[derive(Copy)]
    pub struct Obeyed {
        /// Whether it takes nothing new from here on; else it takes requests again.
        pub stopped: bool,
        /// Order of the decision. A later one has a higher order; that of a stop is odd.
        pub decision: u64,
    }
    unread {
        /// Who decided and why.
        why: Why,
    }
}

event_fields! {
    /// A rebuild of Redis from the events before this one.
    #[derive(Copy)]
    pub struct Rebuilt<S> {
        /// Number of the last event that Redis had; empty when it had nothing of the subject.
        pub from_n: Option<u64>,
        /// How often the subject has been restored, including this time.
        pub restores: u64,
        /// Status after it.
        pub status: S,
    }
    unread {
        /// How many records the restore wrote.
        records: u64,
        /// Who restored it and why.
        why: Why,
    }
}

/// Reads lines of the form `name value`.
pub fn parse_held(text: &str) -> Option<BTreeMap<String, String>> {
    let line = |line: &str| {
        let (name, value) = line.split_once(' ')?;
        Some((name.to_owned(), value.to_owned()))
    };
    text.split('\n').map(line).collect()
}

/// An event that does not follow from those before it.
#[derive(Debug, Clone, Error, PartialEq, Eq)]
pub enum FoldError {
    /// Its number is not the next one.
    #[error("event {got} comes after event {last}")]
    Gap {
        /// Last number.
        last: u64,
        /// Number of the event that came.
        got: u64,
    },
    /// Its changes make or lose money.
    #[error("event {n}: the changes of tier '{tier}' do not sum to zero: {millionths} millionths")]
    Unbalanced {
        n: u64,
        tier: Id,
        /// What was made (negative: lost).
        millionths: i128,
    },
    /// A meter would be below zero.
    #[error("event {n}: {meter} of tier '{tier}' falls below zero")]
    BelowZero { n: u64, tier: Id, meter: String },
    /// It names something that is not there.
    #[error("event {n}: {what}")]
    Unexpected {
        n: u64,
        /// What is wrong.
        what: &'static str,
    },
}

/// Does what `remember_put` of `lua/subject/puts.lua` does.
pub fn remember_put(puts: &str, nonce: &str, mode: &str, version: u64) -> String {
    let all = puts.split_inclusive(';').collect::<Vec<_>>();
    let kept = all[(all.len() + 1).saturating_sub(MAX_PUTS)..].concat();
    format!("{kept}{nonce} {mode} {version};")
}

/// Checks that an event comes right after the last one.
pub fn follows(last: u64, got: u64) -> Result<(), FoldError> {
    if got == last + 1 {
        Ok(())
    } else {
        Err(FoldError::Gap { last, got })
    }
}

/// Checks that an event belongs to the current history, or begins a new one where one may begin.
pub fn go_on_in_history(n: u64, history: &mut String, got: &str, begins: bool) -> Result<(), FoldError> {
    if begins {
        expect(n, history != got, "it begins the history that goes on")?;
        got.clone_into(history);
    }
    expect(n, history == got, "it belongs to another history")
}

/// Checks that the books that a skipped event carries on are those right after it: number, time and history of both.
pub fn carries_on(books: (u64, i64, &str), event: (u64, i64, &str)) -> Result<(), FoldError> {
    expect(
        event.0,
        books == event,
        "what is carried on from a skipped event does not follow",
    )
}

/// Checks that a condition holds at event `n`.
pub fn expect(n: u64, holds: bool, what: &'static str) -> Result<(), FoldError> {
    if holds {
        Ok(())
    } else {
        Err(FoldError::Unexpected { n, what })
    }
}
