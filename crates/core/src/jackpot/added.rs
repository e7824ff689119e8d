//! Computes what each entry of a call added to each tier: from the amounts by stake, and from the tiers at the beginning
//! of each run. Pure.
//!
//! A run lies between two paid claims: within it only contributions change the meters. So neither events nor records
//! have an entry's contribution if it follows from the beginning of its run (`lua/jackpot/entering.lua`). An event of
//! 10,000 entries has as many amounts as there are stakes, and one more run than there are paid claims.

use std::collections::HashMap;

use super::definition::Definition;
use super::document::Contribution;
use super::record::Contributed;
use super::split::{Micro, TierAmount, split};
use crate::money::Minor;
use crate::wire::{Field, OrDash};
use crate::words;

/// Millionths of a unit, as the meters count them.
const MICRO: u32 = 1_000_000;

words! {
    /// What an entry of a stake adds.
    pub struct AmountRow as "amount_row" by '=' each ';' {
        /// The stake, or `*` if entries of every stake add the same.
        pub stake: OfStake,
        /// One for each tier.
        pub amounts: Vec<TierAmount>,
    }
}

/// A stake, or every stake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OfStake(pub Option<Minor>);

impl Field for OfStake {
    const TYPE: &'static str = "minor units, or `*`";
    const PATTERN: &'static str = "[%d*]+";

    fn read(text: &str) -> Option<Self> {
        if text == "*" {
            Some(Self(None))
        } else {
            Minor::read(text).map(|stake| Self(Some(stake)))
        }
    }

    fn write(&self, out: &mut String) {
        match self.0 {
            Some(stake) => stake.write(out),
            None => out.push('*'),
        }
    }
}

/// What an entry adds to each tier under one definition, by stake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Amounts {
    /// The same whatever the stake: the contribution is fixed.
    Fixed(Vec<TierAmount>),
    /// For each stake, in the order of stakes: mostly one, so a hash would cost more.
    ByStake(Vec<(Minor, Vec<TierAmount>)>),
}

impl Amounts {
    /// `None` unless the rows are one for every stake, or one for each of several, and all have as many tiers.
    pub(super) fn of_rows(rows: Vec<AmountRow>) -> Option<Self> {
        let tiers = rows.first()?.amounts.len();
        if rows.iter().any(|row| row.amounts.len() != tiers) {
            return None;
        }
        let mut by_stake = Vec::with_capacity(rows.len());
        let only = rows.len() == 1;
        for AmountRow { stake, amounts } in rows {
            let Some(stake) = stake.0 else {
                return only.then_some(Self::Fixed(amounts));
            };
            by_stake.push((stake, amounts));
        }
        by_stake.sort_unstable_by_key(|(stake, _)| *stake);
        let is_twice = by_stake.windows(2).any(|two| two[0].0 == two[1].0);
        (!is_twice).then_some(Self::ByStake(by_stake))
    }

    /// What an entry of this stake adds.
    #[must_use]
    pub fn of(&self, stake: Minor) -> Option<&[TierAmount]> {
        match self {
            Self::Fixed(amounts) => Some(amounts),
            Self::ByStake(by_stake) => {
                let at = by_stake.binary_search_by_key(&stake, |(stake, _)| *stake).ok()?;
                Some(&by_stake[at].1)
            }
        }
    }
}

/// The amounts under one definition, each computed once: the writer of what [`Amounts`] reads.
#[derive(Debug)]
pub struct Splits<'a> {
    definition: &'a Definition,
    is_fixed: bool,
    of_stake: HashMap<Minor, usize>,
    last: Option<(Minor, usize)>,
    rows: Vec<Vec<TierAmount>>,
    text: String,
}

impl<'a> Splits<'a> {
    #[must_use]
    pub fn new(definition: &'a Definition) -> Self {
        Self {
            definition,
            is_fixed: matches!(definition.document().contribution, Contribution::Fixed(_)),
            of_stake: HashMap::new(),
            last: None,
            rows: Vec::new(),
            text: String::new(),
        }
    }

    /// The number of the row that an entry of this stake adds, from 0.
    pub fn of(&mut self, stake: Minor) -> usize {
        match self.last {
            Some((_, number)) if self.is_fixed => return number,
            Some((last, number)) if last == stake => return number,
            _ => {}
        }
        let number = match self.of_stake.get(&stake) {
            Some(number) => *number,
            None => self.add(stake),
        };
        self.last = Some((stake, number));
        number
    }

    fn add(&mut self, stake: Minor) -> usize {
        let row = AmountRow {
            stake: OfStake((!self.is_fixed).then_some(stake)),
            amounts: split(self.definition, stake),
        };
        let row = vec![row];
        row.write(&mut self.text);
        self.rows.extend(row.into_iter().map(|row| row.amounts));
        self.of_stake.insert(stake, self.rows.len() - 1);
        self.rows.len() - 1
    }

    /// The distinct amounts until now, in the order of their numbers.
    #[must_use]
    pub fn rows(&self) -> &[Vec<TierAmount>] {
        &self.rows
    }

    /// The text that an event has.
    #[must_use]
    pub fn into_text(self) -> String {
        self.text
    }
}

/// What determines the contributions of a call's entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Added {
    /// Under the definition of the first entry; and under the one that came into force within the call.
    pub amounts: Vec<Amounts>,
    /// Index of the first entry under the second definition, from 1.
    split: Option<u64>,
    runs: Vec<Run>,
}

words! {
    /// The beginning of a run: the first entry of a call, the one after each paid entry, and the first one under another
    /// definition.
    pub struct Run as "run" by ':' each ';' {
        /// Index of its first entry among the entries that the call took, from 1.
        pub index: u64,
        /// The tiers before that entry.
        pub tiers: Vec<RunTier>,
    }
}

words! {
    /// The part of a tier's state that contributions need.
    #[derive(Copy)]
    pub struct RunTier as "run_tier" by ',' list '/' {
        /// The pool.
        pub pool: Minor,
        /// Fraction not yet in the pool, millionths.
        pub pool_micro: Micro,
        /// Fraction of all contributions, millionths.
        pub contributed_micro: Micro,
        /// Its cap; `-` for none.
        pub cap: OrDash<Minor>,
    }
}

impl Added {
    /// Reads the fields of an event or of the record of a call. `split`: index of the first entry under the second
    /// definition. On an error, returns the name of the unreadable field.
    pub fn parse(amounts: &str, split: Option<u64>, runs: &str) -> Result<Self, &'static str> {
        let of_rows = |text| Amounts::of_rows(Vec::read(text)?);
        let amounts = amounts.split('|').map(of_rows).collect::<Option<Vec<_>>>();
        let amounts = amounts.filter(|amounts| amounts.len() == 1 + usize::from(split.is_some()));
        let runs = Vec::read(runs);
        Ok(Self::new(amounts.ok_or("amounts")?, split, runs.ok_or("runs")?))
    }

    /// Of values that were read.
    pub(super) fn new(amounts: Vec<Amounts>, split: Option<u64>, runs: Vec<Run>) -> Self {
        Self { amounts, split, runs }
    }

    /// The same where all entries have one stake, which the caller does not know; `None` if there are several.
    pub(super) fn for_every_stake(mut self) -> Option<Self> {
        for amounts in &mut self.amounts {
            if let Amounts::ByStake(by_stake) = amounts {
                let [(_, row)] = &mut by_stake[..] else {
                    return None;
                };
                *amounts = Amounts::Fixed(std::mem::take(row));
            }
        }
        Some(self)
    }

    /// What each of the taken entries with these stakes added to each tier. On an error, returns the name of the field
    /// that does not fit.
    pub fn contributions(&self, stakes: impl Iterator<Item = Minor>) -> Result<Vec<Vec<Contributed>>, &'static str> {
        let (mut runs, mut tiers) = (self.runs.iter().peekable(), Vec::new());
        let mut all = Vec::with_capacity(stakes.size_hint().0);
        let mut amounts = &self.amounts[0];
        for (index, stake) in (1..).zip(stakes) {
            let begins = runs.next_if(|run| run.index == index);
            if let Some(run) = begins {
                tiers.clone_from(&run.tiers);
            }
            if self.split == Some(index) {
                amounts = self.amounts.last().filter(|_| begins.is_some()).ok_or("runs")?;
            }
            let amounts = amounts.of(stake).ok_or("amounts")?;
            if tiers.len() != amounts.len() {
                return Err("runs");
            }
            let adds = tiers.iter_mut().zip(amounts).map(|(tier, amount)| tier.accrue(amount));
            all.push(adds.collect::<Option<Vec<_>>>().ok_or("runs")?);
        }
        match (runs.next(), self.split) {
            (Some(_), _) => Err("runs"),
            (None, Some(split)) if !(2..=all.len() as u64).contains(&split) => Err("split"),
            (None, _) => Ok(all),
        }
    }
}

impl RunTier {
    /// Adds an entry's contribution, as `accrue` of `lua/jackpot/tiers.lua` does; `None` beyond the limit of a pool.
    fn accrue(&mut self, amount: &TierAmount) -> Option<Contributed> {
        let micro = self.contributed_micro.0 + amount.pool.micro + amount.reserve.micro;
        let grown = amount.pool.units + amount.reserve.units + u64::from(micro / MICRO);
        self.contributed_micro = Micro(micro % MICRO);
        let micro = self.pool_micro.0 + amount.pool.micro;
        let whole = amount.pool.units + u64::from(micro / MICRO);
        self.pool_micro = Micro(micro % MICRO);
        let pool = self.pool.get();
        let room = self.cap.0.map_or(whole, |cap| cap.get().saturating_sub(pool));
        self.pool = Minor::try_from(pool + whole.min(room)).ok()?;
        Minor::try_from(grown).is_ok().then_some(Contributed {
            pool: self.pool.get(),
            amount: grown,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::MAX_MINOR;

    fn added(added: &Added, stakes: &[u64]) -> Result<String, &'static str> {
        let stakes = stakes.iter().map(|stake| Minor::try_from(*stake).expect("in range"));
        let one = |of: &Contributed| format!("{}+{}", of.pool, of.amount);
        let entry = |of: &Vec<Contributed>| of.iter().map(one).collect::<Vec<_>>().join(",");
        let all = added.contributions(stakes)?;
        Ok(all.iter().map(entry).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn pools_follow_from_run_to_run_with_carry_and_cap() {
        let amounts = "10=1,600000,0,500000/0,0,3,0;20=0,0,0,0/2,0,0,0;";
        let of = Added::parse(amounts, None, "1:5,500000,900000,7/0,0,0,-;4:0,0,0,7/9,0,0,-;").expect("readable");
        // Entry 1: 0.9 + 2.1 contributed make 3.0, of which 1 was whole; 0.5 + 1.6 in the pool make 2.1, to the cap.
        assert_eq!(
            added(&of, &[10, 20, 10, 10]),
            Ok("7+3,0+3 7+0,2+2 7+2,2+3 1+2,9+3".to_owned())
        );
    }

    #[test]
    fn a_fixed_contribution_is_the_same_for_every_stake() {
        let of = Added::parse("*=2,0,0,0;", None, "1:5,0,0,-;").expect("readable");
        assert_eq!(added(&of, &[10, 0, 99]), Ok("7+2 9+2 11+2".to_owned()));
        for wrong in [
            "*=2,0,0,0;*=2,0,0,0;",
            "*=2,0,0,0;10=2,0,0,0;",
            "10=2,0,0,0;*=2,0,0,0;",
            "*2,0,0,0;",
        ] {
            assert_eq!(Added::parse(wrong, None, "1:5,0,0,-;"), Err("amounts"), "{wrong}");
        }
    }

    #[test]
    fn a_second_definition_has_amounts_and_tiers_of_its_own() {
        let (amounts, runs) = ("10=1,0,0,0;|10=2,0,0,0/3,0,0,0;", "1:5,0,0,-;3:0,0,0,-/8,0,0,-;");
        let of = Added::parse(amounts, Some(3), runs).expect("readable");
        assert_eq!(
            added(&of, &[10, 10, 10, 10]),
            Ok("6+1 7+1 2+2,11+3 4+2,14+3".to_owned())
        );
        assert_eq!(added(&of, &[10, 10]), Err("runs"), "no entry after the split");
        let alike = Added::parse("10=1,0,0,0;|10=2,0,0,0;", Some(2), "1:5,0,0,-;").expect("readable");
        assert_eq!(added(&alike, &[10, 10]), Err("runs"), "no run begins at the split");
        assert_eq!(added(&alike, &[10]), Err("split"), "no entry after the split");
        for (amounts, split) in [("10=1,0,0,0;", Some(2)), ("10=1,0,0,0;|10=1,0,0,0;", None)] {
            assert_eq!(Added::parse(amounts, split, "1:5,0,0,-;"), Err("amounts"), "{amounts}");
        }
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let of = |runs| Added::parse("10=1,0,0,0;", None, runs).expect("readable");
        let two = of("1:5,0,0,-;2:1,0,0,-;");
        assert_eq!(added(&two, &[10, 10]), Ok("6+1 2+1".to_owned()));
        assert_eq!(added(&two, &[11, 10]), Err("amounts"), "a stake without amounts");
        assert_eq!(added(&two, &[10]), Err("runs"), "a run after the last entry");
        assert_eq!(added(&of("2:5,0,0,-;"), &[10, 10]), Err("runs"), "no run at the first");
        assert_eq!(added(&of("1:5,0,0,-;1:1,0,0,-;"), &[10]), Err("runs"), "out of order");
        assert_eq!(added(&of("1:5,0,0,-/5,0,0,-;"), &[10]), Err("runs"), "a tier too many");
        let full = Added::parse(&format!("10={MAX_MINOR},0,0,0;"), None, "1:1,0,0,-;").expect("readable");
        assert_eq!(added(&full, &[10]), Err("runs"), "more than a pool can hold");
    }

    #[test]
    fn what_can_not_be_read_is_named() {
        let (amounts, runs) = ("10=1,0,0,0;", "1:5,0,0,-;");
        for wrong in [
            "",
            "10=1,0,0,0",
            "10=1,0,0,0;10=1,0,0,0;",
            "10=1,0,0,0;20=1,0,0,0/1,0,0,0;",
            "10=1,1000000,0,0;",
            "10=1,0,0;",
            "10=1,0,0,0,0;",
            "10;",
            "9007199254740992=1,0,0,0;",
            "10=-1,0,0,0;",
        ] {
            assert_eq!(Added::parse(wrong, None, runs), Err("amounts"), "{wrong}");
        }
        for wrong in [
            "1;",
            "1:5,0,0;",
            "1:5,0,0,-,0;",
            "1:5,1000000,0,-;",
            "x:5,0,0,-;",
            "1:5,0,0,-",
        ] {
            assert_eq!(Added::parse(amounts, None, wrong), Err("runs"), "{wrong}");
        }
    }
}
