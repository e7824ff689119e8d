//! Redis' record of a request. Lua reads and writes it by `read_request` and `write_request`, which are made from it. Pure.

use jackpot_api::coupon::RequestState;
use jackpot_core::ids::Id;
use jackpot_core::wire::Field;

use super::code::Code;
use super::metadata::Asker;
use super::redemption::Reference;

jackpot_core::record! {
    /// A request, in the hash `requests` by its id. Times are in ms of Redis' clock.
    pub struct Record as "request" {
        /// The state of a request.
        pub state: pub enum State {
            /// A unit was issued.
            "i" Issued(
                /// The unit.
                issue: Issue,
            )
            /// Issued, and voided.
            "v" Voided(
                /// The unit.
                issue: Issue,
                /// When it was voided.
                voided_ms: i64,
            )
            /// Issued, and used by its user.
            "r" Redeemed(
                /// The unit.
                issue: Issue,
                /// How it was used.
                redemption: Redemption,
            )
            /// Already issued: the user had reached the limit.
            "a" AlreadyIssued {
                /// Time of the decision.
                at_ms: i64,
                /// Request id of the oldest issue that counted.
                first: String,
            }
            /// Out of stock.
            "o" OutOfStock {
                /// Time of the decision.
                at_ms: i64,
            }
            /// Not open: the coupon had not started, or was over.
            "n" NotOpen {
                /// Time of the decision.
                at_ms: i64,
            }
            /// Closed: the coupon was closed while the request was in the queue.
            "c" Closed {
                /// Time of the decision.
                at_ms: i64,
            }
            /// In the queue.
            "q" Queued {
                /// Arrival number in the queue, from 1.
                arrival: u64,
                /// How often a consumer took it.
                attempts: u32,
                /// The last call that took it.
                take: Take,
                /// When it joined.
                at_ms: i64,
            }
            /// Dead letter: taken too often without being served.
            "d" Dead {
                /// Arrival number in the queue, from 1.
                arrival: u64,
                /// How often a consumer took it.
                attempts: u32,
                /// When it joined.
                at_ms: i64,
            }
        },
        /// The user of the request, and its metadata.
        pub user: Asker,
    }
}

jackpot_core::words! {
    /// An issued unit.
    #[derive(Copy)]
    pub struct Issue {
        /// Its number within the coupon, from 1.
        pub sequence: u64,
        /// Time of the issue, ms of Redis' clock.
        pub at_ms: i64,
        /// Its code.
        pub code: Code,
    }
}

jackpot_core::words! {
    /// The use of a unit.
    #[derive(serde::Serialize, serde::Deserialize)]
    pub struct Redemption {
        /// When, ms of Redis' clock.
        pub redeemed_ms: i64,
        /// The caller's id of it.
        pub redemption: Id,
        /// The caller's text about it.
        pub reference: Reference,
    }
}

/// The last call that took a queued request. Only consumer and script know it, so it is not read, and nothing written
/// here has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Take;

impl Field for Take {
    const TYPE: &'static str = "id of a call, or `-`";
    const PATTERN: &'static str = "%S+";

    fn read(_: &str) -> Option<Self> {
        Some(Self)
    }

    fn write(&self, out: &mut String) {
        out.push('-');
    }
}

impl State {
    /// The unit of a request that got one, whatever came of it.
    pub fn unit(&self) -> Option<Issue> {
        match self {
            Self::Issued(issue) | Self::Voided(issue, _) | Self::Redeemed(issue, _) => Some(*issue),
            _ => None,
        }
    }

    /// What came of the request, as answers name it.
    pub fn name(&self) -> RequestState {
        match self {
            Self::Issued(_) | Self::Redeemed(..) => RequestState::Issued,
            Self::Voided(..) => RequestState::Voided,
            Self::AlreadyIssued { .. } => RequestState::AlreadyIssued,
            Self::OutOfStock { .. } => RequestState::OutOfStock,
            Self::NotOpen { .. } => RequestState::NotOpen,
            Self::Closed { .. } => RequestState::CouponClosed,
            Self::Queued { .. } => RequestState::Queued,
            Self::Dead { .. } => RequestState::Dead,
        }
    }
}

jackpot_core::words! {
    /// An issue that counts for a user. The hash `users` has those of a user by the user's id, oldest first.
    pub struct UserIssue as "user_issue" by ' ' each ';' {
        /// Id of the request.
        pub request: String,
        /// When the unit was issued, ms of Redis' clock.
        pub at_ms: i64,
    }
}

#[cfg(test)]
mod tests {
    use jackpot_core::ids::PersonId;
    use jackpot_core::unreadable::Unreadable;

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
            State::Redeemed(
                issue,
                Redemption {
                    redeemed_ms: 1_763_700_000_001,
                    redemption: Id::parse("till-7.1").expect("an id"),
                    reference: Reference::parse("Bon 7: 2 × Kaffee").expect("a reference"),
                },
            ),
            State::AlreadyIssued {
                at_ms,
                first: "draw:spring:batch:7".to_owned(),
            },
            State::OutOfStock { at_ms },
            State::NotOpen { at_ms },
            State::Closed { at_ms },
            State::Queued {
                arrival,
                attempts,
                take: Take,
                at_ms,
            },
            State::Dead {
                arrival,
                attempts,
                at_ms,
            },
        ] {
            let user = Asker::from(PersonId::parse("u-1").expect("an id"));
            let record = Record { user, state };
            assert_eq!(Record::parse(&record.to_string()), Ok(record));
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
            "o 1 u~1",
        ] {
            assert_eq!(Record::parse(text), Err(Unreadable::of(text)), "{text}");
        }
    }
}
