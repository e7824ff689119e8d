//! Redis' record of a request, as `lua/coupon/record.lua` writes it. Pure.

use jackpot_core::ids::Id;
use jackpot_core::unreadable::Unreadable;

use super::code::Code;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The user of the request.
    pub user: Id,
    pub state: State,
}

/// The state of a request. Times are ms of Redis' clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// A unit was issued.
    Issued(Issue),
    /// Issued, and voided at this time.
    Voided(Issue, i64),
    /// The user had reached the limit.
    AlreadyIssued {
        /// Time of the decision.
        at_ms: i64,
        /// Request id of the oldest issue that counted.
        first: String,
    },
    /// The stock was used up.
    OutOfStock {
        /// Time of the decision.
        at_ms: i64,
    },
    /// The coupon had not started, or was over.
    NotOpen {
        /// Time of the decision.
        at_ms: i64,
    },
    /// In the queue.
    Queued {
        /// Arrival number in the queue, from 1.
        arrival: u64,
        /// How often a consumer took it.
        attempts: u32,
        /// When it joined.
        at_ms: i64,
    },
    /// Dead letter: taken too often without being served.
    Dead {
        /// Arrival number in the queue, from 1.
        arrival: u64,
        /// How often a consumer took it.
        attempts: u32,
        /// When it joined.
        at_ms: i64,
    },
}

impl State {
    /// Its name in answers.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Issued(_) => "issued",
            Self::Voided(..) => "voided",
            Self::AlreadyIssued { .. } => "already-issued",
            Self::OutOfStock { .. } => "out-of-stock",
            Self::NotOpen { .. } => "not-open",
            Self::Queued { .. } => "queued",
            Self::Dead { .. } => "dead",
        }
    }
}

/// An issued unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Issue {
    /// Its number within the coupon, from 1.
    pub sequence: u64,
    /// Time of the issue, ms of Redis' clock.
    pub at_ms: i64,
    pub code: Code,
}

impl Record {
    /// Parses a record from a script's reply.
    pub fn parse(text: &str) -> Result<Self, Unreadable> {
        parse(text).ok_or_else(|| Unreadable::of(text))
    }

    /// Writes the record for [`Record::parse`]. A queued request has no take.
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
