//! Draws and sums entries under one definition into the arguments of `lua/jackpot/enter_batch.lua`. Pure.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::ops::Range;

use jackpot_core::jackpot::definition::Definition;
use jackpot_core::jackpot::draw::{BatchDraw, EpochSeed};
use jackpot_core::jackpot::ranks::Ranks;
use jackpot_core::jackpot::record::fingerprint;

use super::Batch;
use crate::segment::{Builder, Segment, TooLarge};

/// Consecutive entries of a batch that are drawn under one definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drawn {
    /// Version and money digest of the definition.
    pub stamp: String,
    /// Positions of the entries, from 0.
    pub positions: Range<usize>,
    pub segment: Segment,
}

impl Drawn {
    /// Draws and sums the entries at `positions` under the definition with this stamp, in the epoch of `seed`.
    /// `has_open`: a cycle of a tier is open, also where the definition has no rule for it any more.
    pub fn draw(
        batch: &Batch,
        positions: Range<usize>,
        seed: &EpochSeed,
        definition: &Definition,
        stamp: &str,
        has_open: bool,
    ) -> Result<Self, TooLarge> {
        let mut drawing = Drawing {
            draw: BatchDraw::new(seed, batch.batch_id.as_str(), definition.odds()),
            definition,
            segment: Builder::new(definition),
            may_hit: has_open || definition.tiers().iter().any(|tier| tier.must_hit_by.is_some()),
        };
        for i in positions.clone() {
            drawing.entry(batch, i)?;
        }
        drawing.segment.end_run()?;
        Ok(Self {
            stamp: stamp.to_owned(),
            positions,
            segment: drawing.segment.finish(),
        })
    }
}

struct Drawing<'a> {
    draw: BatchDraw<'a>,
    definition: &'a Definition,
    segment: Builder<'a>,
    /// Whether a tier has a must-hit rule or an open cycle.
    may_hit: bool,
}

impl Drawing<'_> {
    fn entry(&mut self, batch: &Batch, i: usize) -> Result<(), TooLarge> {
        let entries = &batch.entries;
        let (stake, source) = (entries.stake(i), entries.source(i));
        let ranks = entries.ranks(i);
        let rank = match &ranks {
            Some(ranks) => ranks.first(),
            None => self.draw.rank(i + 1, stake, entries.seed(i), 0),
        };
        if rank == 0 && self.may_hit {
            // Any of them may hit, and then has a record of its own.
            self.segment.add_single(stake, source, fingerprint(entries.line(i)));
            return Ok(());
        }
        if rank == 0 {
            self.segment.add_to_run(stake, source);
            return Ok(());
        }
        self.segment.end_run()?;
        let winner = self.winner(batch, i, rank, ranks.as_ref());
        self.segment.add_single(stake, source, winner);
        Ok(())
    }

    /// The chain of attempts of an entry whose attempt 0 drew `first`, as the script takes it. Each rank is in it once,
    /// because a rank that refused once refuses again. `jackpot::steps` makes the same chain, one call after another.
    fn winner(&mut self, batch: &Batch, i: usize, first: u32, ranks: Option<&Ranks>) -> String {
        let entries = &batch.entries;
        let (stake, odds) = (entries.stake(i), self.definition.odds().at(entries.stake(i)));
        let line = entries.line(i);
        let (mut chain, mut who, mut refused) = (String::new(), "", BTreeSet::new());
        let last = ranks.map_or(self.definition.last_attempt(), Ranks::last_attempt);
        let mut end = last;
        for attempt in 0..=last {
            let rank = match (attempt, ranks) {
                (0, _) => first,
                (_, Some(ranks)) => ranks.of(attempt).unwrap_or_default(),
                // No other rank can be drawn any more, so all further attempts are refused.
                (_, None) if odds.only_has(&refused) => break,
                (_, None) => self.draw.rank(i + 1, stake, entries.seed(i), attempt),
            };
            if refused.contains(&rank) {
                continue;
            }
            if rank == 0 {
                end = attempt;
                break;
            }
            // Writing to a string does not fail.
            let _ = write!(chain, "{attempt} {rank};");
            if self.definition.money_prize(rank).is_none() {
                who = line;
                break;
            }
            refused.insert(rank);
            self.segment.names_rank(rank);
        }
        if who.is_empty() {
            let _ = write!(chain, "{end} 0;");
        }
        format!("{}|{who}|{chain}", fingerprint(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::Entries;
    use crate::segment::Step;
    use jackpot_core::ids::{BatchId, Id, PersonId};
    use jackpot_core::jackpot::record::{Record, Sent};
    use jackpot_core::jackpot::split::{Part, TierAmount};
    use jackpot_core::jackpot::steps::{Step as Next, next_step};
    use jackpot_core::money::{MAX_MINOR, Minor};
    use jackpot_core::secret::MasterSecret;
    use serde_json::{Value, json};

    fn definition(ranks: &[(u32, u64)], total: u64, max_redraws: u32) -> Definition {
        let ranks = ranks.iter().map(
            |(rank, weight)| json!({"rank": rank, "weight": weight, "prize": {"pool": {"tier": "t", "take": "all"}}}),
        );
        let document = json!({"id": "x", "name": "x", "currency": "EUR", "contribution": {"rate_ppm": 1_000_000},
            "max_redraws": max_redraws, "tiers": [{"tier": "t", "share_ppm": 1_000_000, "min_payout": 1}],
            "odds": {"total": total, "ranks": ranks.collect::<Vec<Value>>()}});
        Definition::check(serde_json::from_value(document).expect("well formed")).expect("valid")
    }

    fn batch(stakes: &[u64]) -> Batch {
        let player = PersonId::parse("p").expect("an id");
        let sent = |stake: &u64| Sent::of(player.clone(), Minor::try_from(*stake).expect("in range"));
        Batch {
            batch_id: BatchId::parse("b").expect("an id"),
            entries: Entries::of(&stakes.iter().map(sent).collect::<Vec<_>>()).expect("some"),
        }
    }

    fn draw(batch: &Batch, definition: &Definition) -> Result<Drawn, TooLarge> {
        let seed = EpochSeed::derive(&MasterSecret::new([7; 32]), &Id::parse("x").expect("an id"), 1, "0");
        Drawn::draw(batch, 0..batch.entries.len(), &seed, definition, "1 d", false)
    }

    #[test]
    fn losers_are_one_sum() {
        let drawn = draw(&batch(&[5, 7, 5]), &definition(&[], 1, 16)).expect("fits");
        let whole = |units| Part { units, micro: 0 };
        let sum = TierAmount {
            pool: whole(17),
            reserve: whole(0),
        };
        assert_eq!(drawn.segment.rows, [[sum]]);
        assert_eq!(
            drawn.segment.steps,
            [Step {
                entries: 3,
                row: 0,
                winner: String::new()
            }]
        );
        assert_eq!(drawn.segment.amounts, "5=5,0,0,0;7=7,0,0,0;");
    }

    #[test]
    fn a_sum_beyond_the_largest_amount_is_told() {
        let none = definition(&[], 1, 16);
        assert_eq!(draw(&batch(&[MAX_MINOR, 1]), &none), Err(TooLarge));
        assert!(draw(&batch(&[MAX_MINOR - 1, 1]), &none).is_ok());
    }

    #[test]
    fn a_rank_that_is_all_there_is_refuses_to_the_last_attempt() {
        let drawn = draw(&batch(&[1]), &definition(&[(3, 1)], 1, 5)).expect("fits");
        assert!(
            drawn.segment.steps[0].winner.ends_with("||0 3;5 0;"),
            "{}",
            drawn.segment.steps[0].winner
        );
        assert_eq!(drawn.segment.ranks, [3]);
    }

    /// The chain is that of a single entry's steps if each of its claims were refused.
    #[test]
    fn a_chain_is_what_step_after_step_would_make() {
        let definition = definition(&[(1, 30), (2, 30), (3, 30)], 100, 6);
        let batch = batch(&[1; 200]);
        let seed = EpochSeed::derive(&MasterSecret::new([7; 32]), &Id::parse("x").expect("an id"), 1, "0");
        let drawn = draw(&batch, &definition).expect("fits");
        let mut position = 0;
        for step in &drawn.segment.steps {
            position += step.entries;
            let Some(chain) = step.winner.rsplit('|').next().filter(|chain| !chain.is_empty()) else {
                continue;
            };
            let (mut refusals, mut expected) = (Vec::new(), String::new());
            loop {
                let list = if refusals.is_empty() {
                    "-".to_owned()
                } else {
                    refusals.join(",")
                };
                let record = Record::parse(&format!("1 1 1 f 1+1 p {list} 5 p 1 *")).expect("readable");
                match next_step(
                    &format!("b:{position}"),
                    &batch.entries.sent(position - 1),
                    &record,
                    &definition,
                    &seed,
                )
                .expect("agrees")
                {
                    Next::Claim { attempt, rank } => {
                        refusals.push(format!("{rank}r"));
                        let _ = write!(expected, "{attempt} {rank};");
                    }
                    Next::Finish { attempt } => {
                        let _ = write!(expected, "{attempt} 0;");
                        break;
                    }
                    Next::Answer(_) | Next::Issue { .. } => panic!("it is pending, and nothing is a coupon"),
                }
            }
            assert_eq!(chain, expected);
        }
        assert_eq!(position, 200);
    }
}
