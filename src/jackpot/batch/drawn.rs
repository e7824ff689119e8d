//! Draws and sums entries under one definition into the arguments of `lua/jackpot/enter_batch.lua`. Pure.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::ops::Range;

use jackpot_core::jackpot::definition::Definition;
use jackpot_core::jackpot::draw::{BatchDraw, EpochSeed};
use jackpot_core::jackpot::record::fingerprint;
use jackpot_core::jackpot::split::{Sum, TierAmount};

use super::Batch;
use super::splits::Splits;

/// Consecutive entries of a batch that are drawn under one definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drawn {
    /// Version and money digest of the definition.
    pub stamp: String,
    /// Positions of the entries, from 0.
    pub positions: Range<usize>,
    /// `stake=pu,pm,ru,rm/...;` of each distinct stake, for the event.
    pub amounts: String,
    /// Ranks of money prizes that the attempts name, ascending.
    pub ranks: Vec<u32>,
    /// Amounts for each tier, of a winner or of a whole run.
    pub rows: Vec<Vec<TierAmount>>,
    /// The steps of the script, in order.
    pub steps: Vec<Step>,
}

/// A run of entries that drew nothing, or one entry that drew a prize.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// How many entries.
    pub entries: usize,
    /// The number of the row that they add, from 0.
    pub row: usize,
    /// `fingerprint|who|attempt rank;...` for an entry that drew a prize (see the script), empty for a run.
    pub winner: String,
}

/// A sum of contributions passes 2^53 − 1 minor units.
#[derive(Debug, PartialEq, Eq)]
pub struct TooLarge;

impl Drawn {
    /// Draws and sums the entries at `positions` under the definition with this stamp, in the epoch of `seed`.
    pub fn draw(
        batch: &Batch,
        positions: Range<usize>,
        seed: &EpochSeed,
        definition: &Definition,
        stamp: &str,
    ) -> Result<Self, TooLarge> {
        let mut drawing = Drawing {
            draw: BatchDraw::new(seed, batch.batch_id.as_str(), definition.odds()),
            definition,
            splits: Splits::new(definition),
            row_of_split: Vec::new(),
            run: Sum::default(),
            run_entries: 0,
            drawn: Self {
                stamp: stamp.to_owned(),
                positions: positions.clone(),
                amounts: String::new(),
                ranks: Vec::new(),
                rows: Vec::new(),
                steps: Vec::new(),
            },
        };
        for i in positions {
            drawing.entry(batch, i)?;
        }
        drawing.end_run()?;
        let Drawing { splits, mut drawn, .. } = drawing;
        drawn.amounts = splits.into_text();
        drawn.ranks.sort_unstable();
        drawn.ranks.dedup();
        Ok(drawn)
    }
}

struct Drawing<'a> {
    draw: BatchDraw<'a>,
    definition: &'a Definition,
    splits: Splits<'a>,
    /// The row of a split, among the rows that winners have added.
    row_of_split: Vec<Option<usize>>,
    run: Sum,
    run_entries: usize,
    drawn: Drawn,
}

impl Drawing<'_> {
    fn entry(&mut self, batch: &Batch, i: usize) -> Result<(), TooLarge> {
        let entries = &batch.entries;
        let split = self.splits.of(entries.stake(i));
        let rank = self.draw.rank(i + 1, entries.seed(i), 0);
        if rank == 0 {
            self.run.add(self.splits.amounts(split));
            self.run_entries += 1;
            return Ok(());
        }
        self.end_run()?;
        let row = self.row_of(split);
        let winner = self.winner(batch, i, rank);
        self.drawn.steps.push(Step {
            entries: 1,
            row,
            winner,
        });
        Ok(())
    }

    fn end_run(&mut self) -> Result<(), TooLarge> {
        if self.run_entries == 0 {
            return Ok(());
        }
        self.drawn.steps.push(Step {
            entries: std::mem::take(&mut self.run_entries),
            row: self.drawn.rows.len(),
            winner: String::new(),
        });
        self.drawn.rows.push(self.run.take().ok_or(TooLarge)?);
        Ok(())
    }

    fn row_of(&mut self, split: usize) -> usize {
        if self.row_of_split.len() <= split {
            self.row_of_split.resize(split + 1, None);
        }
        if let Some(found) = self.row_of_split[split] {
            return found;
        }
        let rows = &mut self.drawn.rows;
        rows.push(self.splits.amounts(split).to_vec());
        self.row_of_split[split] = Some(rows.len() - 1);
        rows.len() - 1
    }

    /// The chain of attempts of an entry whose attempt 0 drew `first`, as the script takes it. Each rank is in it once,
    /// because a rank that refused once refuses again. `jackpot::steps` makes the same chain, one call after another.
    fn winner(&mut self, batch: &Batch, i: usize, first: u32) -> String {
        let (entries, odds) = (&batch.entries, self.definition.odds());
        let line = entries.line(i);
        let (mut chain, mut who, mut refused) = (String::new(), "", BTreeSet::new());
        let last = self.definition.last_attempt();
        let mut end = last;
        for attempt in 0..=last {
            let rank = match attempt {
                0 => first,
                // No other rank can be drawn any more, so all further attempts are refused.
                _ if odds.only_has(&refused) => break,
                _ => self.draw.rank(i + 1, entries.seed(i), attempt),
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
            self.drawn.ranks.push(rank);
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
    use crate::jackpot::batch::Entries;
    use jackpot_core::ids::{BatchId, Id};
    use jackpot_core::jackpot::record::{Record, Sent};
    use jackpot_core::jackpot::split::Part;
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
        let sent = |stake: &u64| Sent {
            player: Id::parse("p").expect("an id"),
            stake: Minor::try_from(*stake).expect("in range"),
            client_seed: None,
        };
        Batch {
            batch_id: BatchId::parse("b").expect("an id"),
            entries: Entries::of(&stakes.iter().map(sent).collect::<Vec<_>>()).expect("some"),
        }
    }

    fn draw(batch: &Batch, definition: &Definition) -> Result<Drawn, TooLarge> {
        let seed = EpochSeed::derive(&MasterSecret::new([7; 32]), &Id::parse("x").expect("an id"), 1, "0");
        Drawn::draw(batch, 0..batch.entries.len(), &seed, definition, "1 d")
    }

    #[test]
    fn losers_are_one_sum() {
        let drawn = draw(&batch(&[5, 7, 5]), &definition(&[], 1, 16)).expect("fits");
        let whole = |units| Part { units, micro: 0 };
        let sum = TierAmount {
            pool: whole(17),
            reserve: whole(0),
        };
        assert_eq!(drawn.rows, [[sum]]);
        assert_eq!(
            drawn.steps,
            [Step {
                entries: 3,
                row: 0,
                winner: String::new()
            }]
        );
        assert_eq!(drawn.amounts, "5=5,0,0,0;7=7,0,0,0;");
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
            drawn.steps[0].winner.ends_with("||0 3;5 0;"),
            "{}",
            drawn.steps[0].winner
        );
        assert_eq!(drawn.ranks, [3]);
    }

    /// The chain is that of a single entry's steps if each of its claims were refused.
    #[test]
    fn a_chain_is_what_step_after_step_would_make() {
        let definition = definition(&[(1, 30), (2, 30), (3, 30)], 100, 6);
        let batch = batch(&[1; 200]);
        let seed = EpochSeed::derive(&MasterSecret::new([7; 32]), &Id::parse("x").expect("an id"), 1, "0");
        let drawn = draw(&batch, &definition).expect("fits");
        let mut position = 0;
        for step in &drawn.steps {
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
                let record = Record::parse(&format!("1 1.1 f 1+1 p {list} 5 p 1 *")).expect("readable");
                match next_step(&format!("b:{position}"), None, &record, &definition, &seed).expect("agrees") {
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
