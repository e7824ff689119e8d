//! Entries drawn under one definition, as the arguments of an entry call: the rows that they add and the steps of the
//! script (`lua/jackpot/entering.lua`). Pure.

use jackpot_core::jackpot::added::{OfStake, Splits};
use jackpot_core::jackpot::definition::Definition;
use jackpot_core::jackpot::split::{Sum, TierAmount};
use jackpot_core::money::Minor;

/// The arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Segment {
    /// The amounts by stake, for the event (`jackpot_core::jackpot::added::Amounts`).
    pub amounts: String,
    /// Ranks that the attempts of winners name, ascending.
    pub ranks: Vec<u32>,
    /// Amounts for each tier, of one entry or of a whole run.
    pub rows: Vec<Vec<TierAmount>>,
    /// The steps of the script, in order.
    pub steps: Vec<Step>,
}

/// A run of entries that drew nothing, or one entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// How many entries.
    pub entries: usize,
    /// The number of the row that they add, from 0.
    pub row: usize,
    /// `fingerprint|who|attempt rank;...` for an entry that drew a prize (see the script), empty for others.
    pub winner: String,
}

/// The sum of a run passes 2^53 − 1 minor units.
#[derive(Debug, PartialEq, Eq)]
pub struct TooLarge;

/// Builds a [`Segment`] from its entries, in sequence.
#[derive(Debug)]
pub struct Builder<'a> {
    splits: Splits<'a>,
    /// The row of a split, among the rows of single entries.
    row_of_split: Vec<Option<usize>>,
    /// The sum of the run that was begun, and its entries.
    run: (Sum, usize),
    segment: Segment,
}

impl<'a> Builder<'a> {
    pub fn new(definition: &'a Definition) -> Self {
        Self {
            splits: Splits::new(definition),
            row_of_split: Vec::new(),
            run: (Sum::default(), 0),
            segment: Segment::default(),
        }
    }

    /// Adds an entry that drew nothing to the run that was begun, or begins one.
    pub fn add_to_run(&mut self, stake: Minor, source: Option<&str>) {
        let number = self.splits.of(stake, source);
        self.run.0.add(&self.splits.rows()[number]);
        self.run.1 += 1;
    }

    /// Ends the run, if one was begun.
    pub fn end_run(&mut self) -> Result<(), TooLarge> {
        let entries = std::mem::take(&mut self.run.1);
        if entries == 0 {
            return Ok(());
        }
        let sum = self.run.0.take().ok_or(TooLarge)?;
        let Segment { rows, steps, .. } = &mut self.segment;
        rows.push(sum);
        steps.push(Step {
            entries,
            row: rows.len() - 1,
            winner: String::new(),
        });
        Ok(())
    }

    /// Adds an entry as a step of its own; `winner` is empty if it drew nothing.
    pub fn add_single(&mut self, stake: Minor, source: Option<&str>, winner: String) {
        let number = self.splits.of(stake, source);
        self.row_of_split.resize(self.splits.rows().len(), None);
        let Segment { rows, steps, .. } = &mut self.segment;
        let row = *self.row_of_split[number].get_or_insert_with(|| {
            rows.push(self.splits.rows()[number].clone());
            rows.len() - 1
        });
        steps.push(Step {
            entries: 1,
            row,
            winner,
        });
    }

    /// Notes that an attempt of a winner names this rank.
    pub fn names_rank(&mut self, rank: u32) {
        self.segment.ranks.push(rank);
    }

    /// Whether all entries added until now add the same row.
    pub fn adds_one_row(&self) -> bool {
        self.splits.rows().len() == 1
    }

    /// The row of an entry that was added.
    pub fn row_of(&mut self, stake: Minor, source: Option<&str>) -> &OfStake {
        let number = self.splits.of(stake, source);
        &self.splits.keys()[number]
    }

    pub fn finish(self) -> Segment {
        let mut segment = self.segment;
        segment.amounts = self.splits.into_text();
        segment.ranks.sort_unstable();
        segment.ranks.dedup();
        segment
    }
}
