//! The draws of an entry until now, and its next step: a pure function of its record, its definition and its epoch's
//! seed. Every step of `play` and of recovery is decided here.

use serde::{Deserialize, Serialize};
use thiserror::Error;
use utoipa::ToSchema;

use crate::ids::Id;
use crate::names;

use super::definition::Definition;
use super::draw::EpochSeed;
use super::ranks::Ranks;
use super::record::{Reason, Record, Sent, State};

/// One draw of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = AttemptBody)]
pub struct Attempt {
    /// From 0.
    pub attempt: u32,
    /// 0 for nothing.
    pub rank: u32,
    #[schema(example = "paid")]
    pub result: AttemptResult,
}

names! {
    /// What came of a draw.
    #[derive(ToSchema)]
    pub enum AttemptResult {
        /// The prize was paid.
        Paid = "paid",
        /// A unit of the coupon was issued.
        Issued = "issued",
        /// It drew nothing.
        None = "none",
        /// The pool held too little.
        Retry = "retry",
        /// The coupon was out of stock.
        OutOfStock = "out-of-stock",
        /// The player had reached the coupon's limit.
        AlreadyIssued = "already-issued",
        /// The coupon was not open.
        NotOpen = "not-open",
    }
}

impl From<Reason> for AttemptResult {
    fn from(reason: Reason) -> Self {
        match reason {
            Reason::Retry => Self::Retry,
            Reason::OutOfStock => Self::OutOfStock,
            Reason::AlreadyIssued => Self::AlreadyIssued,
            Reason::NotOpen => Self::NotOpen,
        }
    }
}

/// The next step of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// No step: the outcome is final.
    Answer(Vec<Attempt>),
    /// Claim the money prize that this attempt drew.
    Claim { attempt: u32, rank: u32 },
    /// Request a unit of the coupon that this attempt drew, and record the answer.
    Issue { attempt: u32, rank: u32, coupon_id: Id },
    /// Record that it ends with no prize.
    Finish {
        /// Its last attempt.
        attempt: u32,
    },
}

/// The record and the draw disagree: another secret, another definition, or a damaged record.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("attempt {attempt} of the entry draws rank {rank}, which its record contradicts")]
pub struct Contradiction {
    attempt: u32,
    rank: u32,
}

/// Draws the attempts of an entry as far as its record goes.
pub fn next_step(
    entry_id: &str,
    sent: &Sent,
    record: &Record,
    definition: &Definition,
    seed: &EpochSeed,
) -> Result<Step, Contradiction> {
    let first = first_rank(entry_id, sent, definition, seed);
    next_step_after(first, entry_id, sent, record, definition, seed)
}

/// The rank of attempt 0 of an entry: drawn here, or by the game of its source.
#[must_use]
pub fn first_rank(entry_id: &str, sent: &Sent, definition: &Definition, seed: &EpochSeed) -> u32 {
    match &sent.ranks {
        Some(ranks) => ranks.first(),
        None => seed.rank(entry_id, sent.client_seed.as_ref(), 0, definition.odds().at(sent.stake)),
    }
}

/// The last attempt of an entry, from 0.
#[must_use]
pub fn last_attempt(sent: &Sent, definition: &Definition) -> u32 {
    sent.ranks
        .as_ref()
        .map_or(definition.last_attempt(), Ranks::last_attempt)
}

/// [`next_step`] of an entry whose attempt 0 drew `first`.
pub fn next_step_after(
    first: u32,
    entry_id: &str,
    sent: &Sent,
    record: &Record,
    definition: &Definition,
    seed: &EpochSeed,
) -> Result<Step, Contradiction> {
    let odds = definition.odds().at(sent.stake);
    let last = last_attempt(sent, definition);
    let mut attempts = Vec::new();
    if matches!(record.state, State::MustHit { .. }) {
        return Ok(Step::Answer(attempts));
    }
    for attempt in 0..=last {
        let rank = match (attempt, &sent.ranks) {
            (0, _) => first,
            (_, Some(ranks)) => ranks.of(attempt).unwrap_or_default(),
            (_, None) => seed.rank(entry_id, sent.client_seed.as_ref(), attempt, odds),
        };
        let refused = record.refusals().iter().find(|r| r.rank == rank);
        if let Some(refusal) = refused {
            attempts.push(Attempt {
                attempt,
                rank,
                result: refusal.reason.into(),
            });
            continue;
        }
        let result = match (&record.state, rank) {
            (State::Pending { .. }, 0) => return Ok(Step::Finish { attempt }),
            (State::Pending { .. }, _) => {
                return Ok(match definition.coupon_prize(rank).cloned() {
                    Some(coupon_id) => Step::Issue {
                        attempt,
                        rank,
                        coupon_id,
                    },
                    None => Step::Claim { attempt, rank },
                });
            }
            (State::Lost | State::Ended { .. }, 0) => AttemptResult::None,
            (State::Paid { payout, .. }, _) if payout.rank == rank => AttemptResult::Paid,
            (State::Issued { unit, .. }, _) if unit.rank == rank => AttemptResult::Issued,
            _ => return Err(Contradiction { attempt, rank }),
        };
        attempts.push(Attempt { attempt, rank, result });
        return Ok(Step::Answer(attempts));
    }
    match record.state {
        State::Pending { .. } => Ok(Step::Finish { attempt: last }),
        State::Ended { .. } => Ok(Step::Answer(attempts)),
        State::Lost | State::Paid { .. } | State::MustHit { .. } | State::Issued { .. } => {
            Err(Contradiction { attempt: last, rank: 0 })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secret::MasterSecret;
    use serde_json::json;

    fn always(max_redraws: u32) -> Definition {
        let document = json!({"id": "x", "name": "x", "currency": "EUR", "contribution": {"fixed": 1}, "max_redraws": max_redraws,
            "tiers": [{"tier": "t", "share_ppm": 1_000_000, "min_payout": 1}],
            "odds": {"total": 1, "ranks": [{"rank": 1, "weight": 1, "prize": {"pool": {"tier": "t", "take": "all"}}}]}});
        Definition::check(serde_json::from_value(document).expect("well formed")).expect("valid")
    }

    fn step(record: &str, definition: &Definition) -> Result<Step, Contradiction> {
        step_of(record, "p 1 *", definition)
    }

    fn step_of(record: &str, sent: &str, definition: &Definition) -> Result<Step, Contradiction> {
        let seed = EpochSeed::derive(&MasterSecret::new([7; 32]), &Id::parse("x").expect("an id"), 1, "0");
        let sent = Sent::parse(sent).expect("readable");
        next_step("e", &sent, &Record::parse(record).expect("readable"), definition, &seed)
    }

    #[test]
    fn a_pending_entry_claims_what_it_drew_and_ends_when_all_have_refused() {
        assert_eq!(
            step("1 1 1 f 1+1 p - 5 p 1 *", &always(2)),
            Ok(Step::Claim { attempt: 0, rank: 1 })
        );
        assert_eq!(
            step("1 1 1 f 1+1 p 1r 5 p 1 *", &always(2)),
            Ok(Step::Finish { attempt: 2 })
        );
    }

    #[test]
    fn a_rank_that_refused_refuses_again_without_a_call() {
        let Ok(Step::Answer(attempts)) = step("1 1 1 f 1+1 n 1r", &always(2)) else {
            panic!("an answer")
        };
        let retry = |attempt| Attempt {
            attempt,
            rank: 1,
            result: AttemptResult::Retry,
        };
        assert_eq!(attempts, [retry(0), retry(1), retry(2)]);
    }

    #[test]
    fn what_an_external_source_drew_is_tried_in_order_and_nothing_else() {
        let definition = always(9);
        let step = |record: &str, ranks: &str| step_of(record, &format!("p 1 * slot {ranks}"), &definition);
        let attempt = |attempt, rank, result| Attempt { attempt, rank, result };
        assert_eq!(
            step("1 1 1 f 1+1", "0"),
            Ok(Step::Answer(vec![attempt(0, 0, AttemptResult::None)]))
        );
        assert_eq!(
            step("1 1 1 f 1+1 p 1r 5 p 1 * slot 1,2", "1,2"),
            Ok(Step::Claim { attempt: 1, rank: 2 })
        );
        for (ranks, last) in [("1,0", 1), ("1", 0)] {
            let pending = format!("1 1 1 f 1+1 p 1r 5 p 1 * slot {ranks}");
            assert_eq!(step(&pending, ranks), Ok(Step::Finish { attempt: last }));
        }
        assert_eq!(
            step("1 1 1 f 1+1 n 1r", "1"),
            Ok(Step::Answer(vec![attempt(0, 1, AttemptResult::Retry)]))
        );
        assert_eq!(
            step("1 1 1 f 1+1 n 1r", "1,0"),
            Ok(Step::Answer(vec![
                attempt(0, 1, AttemptResult::Retry),
                attempt(1, 0, AttemptResult::None)
            ]))
        );
        assert!(step("1 1 1 f 1+1 w - 3 t 5 1 00aa", "1,2").is_err());
    }

    #[test]
    fn a_record_that_the_draw_contradicts_is_no_answer() {
        assert_eq!(
            step("1 1 1 f 1+1", &always(0)),
            Err(Contradiction { attempt: 0, rank: 1 })
        );
        assert!(step("1 1 1 f 1+1 w - 2 t 5 1 00aa", &always(0)).is_err());
    }
}
