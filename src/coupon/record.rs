//! What Redis keeps of a request, as `lua/coupon/record.lua` writes it. Pure.

use super::code::Code;
use crate::ids::Id;
use crate::stream::Unreadable;

/// What became of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Who asked.
    pub user: Id,
    /// How far it has come.
    pub state: State,
}

/// How far a request has come. Times are ms of Redis' clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// A unit was given.
    Issued(Issue),
    /// It was taken back at this time.
    Voided(Issue, i64),
    /// The user had as many as a user may have.
    AlreadyIssued {
        /// When that was decided.
        at_ms: i64,
        /// Request id of the oldest issue that counted.
        first: String,
    },
    /// Nothing was left.
    OutOfStock {
        /// When that was decided.
        at_ms: i64,
    },
    /// The coupon had not started, or was over.
    NotOpen {
        /// When that was decided.
        at_ms: i64,
    },
    /// In the line.
    Queued {
        /// Its number among all that ever joined the line, from 1.
        arrival: u64,
        /// How often it was taken.
        attempts: u32,
        /// When it joined.
        at_ms: i64,
    },
    /// Taken too often without being served.
    Dead {
        /// Its number among all that ever joined the line, from 1.
        arrival: u64,
        /// How often it was taken.
        attempts: u32,
        /// When it joined.
        at_ms: i64,
    },
}

/// A unit that was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Issue {
    /// Its number within the coupon, from 1.
    pub sequence: u64,
    /// When, ms of Redis' clock.
    pub at_ms: i64,
    /// Its code.
    pub code: Code,
}

impl Record {
    /// Reads a record as scripts reply with it.
    pub fn parse(text: &str) -> Result<Self, Unreadable> {
        parse(text).ok_or_else(|| Unreadable::of(text))
    }

    /// Writes the record, which [`Record::parse`] reads; one in the line as nobody's take.
    #[must_use]
    pub fn to_text(&self) -> String {
        let user = &self.user;
        match &self.state {
            State::Issued(Issue { sequence, at_ms, code }) => format!("i {sequence} {at_ms} {code} {user}"),
            State::Voided(Issue { sequence, at_ms, code }, voided_ms) => {
                format!("v {sequence} {at_ms} {code} {voided_ms} {user}")
            }
            State::AlreadyIssued { at_ms, first } => format!("a {at_ms} {first} {user}"),
            State::OutOfStock { at_ms } => format!("o {at_ms} {user}"),
            State::NotOpen { at_ms } => format!("n {at_ms} {user}"),
            State::Queued {
                arrival,
                attempts,
                at_ms,
            } => format!("q {arrival} {attempts} - {at_ms} {user}"),
            State::Dead {
                arrival,
                attempts,
                at_ms,
            } => format!("d {arrival} {attempts} {at_ms} {user}"),
        }
    }
}

fn parse(text: &str) -> Option<Record> {
    let mut parts = text.split(' ');
    let mut next = || parts.next();
    let kind = next()?;
    let state = match kind {
        "i" | "v" => {
            let issue = Issue {
                sequence: next()?.parse().ok()?,
                at_ms: next()?.parse().ok()?,
                code: Code::parse(next()?).ok()?,
            };
            match kind {
                "i" => State::Issued(issue),
                _ => State::Voided(issue, next()?.parse().ok()?),
            }
        }
        "a" => State::AlreadyIssued {
            at_ms: next()?.parse().ok()?,
            first: next()?.to_owned(),
        },
        "o" => State::OutOfStock {
            at_ms: next()?.parse().ok()?,
        },
        "n" => State::NotOpen {
            at_ms: next()?.parse().ok()?,
        },
        "q" | "d" => {
            let (arrival, attempts) = (next()?.parse().ok()?, next()?.parse().ok()?);
            if kind == "q" {
                next()?; // the take is between consumer and script
            }
            let at_ms = next()?.parse().ok()?;
            match kind {
                "q" => State::Queued {
                    arrival,
                    attempts,
                    at_ms,
                },
                _ => State::Dead {
                    arrival,
                    attempts,
                    at_ms,
                },
            }
        }
        _ => return None,
    };
    let user = Id::parse(next()?).ok()?;
    next().is_none().then_some(Record { user, state })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_record_comes_back_from_its_text() {
        let issue = Issue {
            sequence: 7,
            at_ms: 1_763_700_000_000,
            code: Code::from_bytes([9; 10]),
        };
        let (arrival, attempts, at_ms) = (3, 2, 5);
        for state in [
            State::Issued(issue),
            State::Voided(issue, 1_763_700_000_001),
            State::AlreadyIssued {
                at_ms,
                first: "draw:spring:batch:7".to_owned(),
            },
            State::OutOfStock { at_ms },
            State::NotOpen { at_ms },
            State::Queued {
                arrival,
                attempts,
                at_ms,
            },
            State::Dead {
                arrival,
                attempts,
                at_ms,
            },
        ] {
            let user = Id::parse("u-1").expect("an id");
            let record = Record { user, state };
            assert_eq!(Record::parse(&record.to_text()), Ok(record));
        }
    }

    #[test]
    fn anything_else_is_unreadable() {
        for text in [
            "",
            "i",
            "x 1 u",
            "o 1",
            "o x u",
            "o 1 u more",
            "o 1  u",
            "i 1 2 AAAAAA-AAAAAA-AAAAAA u",
            "q 1 0 5 u",
            "? broken",
            "o 1 u:1",
        ] {
            assert_eq!(Record::parse(text), Err(Unreadable::of(text)), "{text}");
        }
    }
}
