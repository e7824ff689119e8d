//! Computes what the entries of a batch add to each tier, from the fields of its event: the amounts by stake, and the
//! meters at the beginning of each run. Pure.
//!
//! An event of 10,000 entries has as many amounts as there are stakes, and one more run than there are paid claims.

use std::collections::HashMap;

use super::record::Contributed;
use super::runs::{self, Run, parse_amounts_of, parse_minor};
use super::split::TierAmount;
use crate::ids::Id;
use crate::money::Minor;

/// The part of a batch that was drawn under one definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Its tiers, in the definition's order.
    pub tiers: Vec<Id>,
    /// The amounts that an entry adds to each tier, by stake.
    pub amounts: HashMap<Minor, Vec<TierAmount>>,
    /// Where the runs begin, in order.
    pub runs: Vec<Run>,
}

impl Segment {
    /// Reads the fields of an event. On an error, returns the name of the unreadable field.
    pub fn parse(tiers: &str, amounts: &str, runs: &str) -> Result<Self, &'static str> {
        let tiers = parse_tiers(tiers).ok_or("tiers")?;
        let amounts = parse_amounts(amounts, tiers.len()).ok_or("amounts")?;
        let runs = runs::parse(runs, tiers.len()).ok_or("runs")?;
        Ok(Self { tiers, amounts, runs })
    }

    /// What each of the entries with these stakes adds; the first has index `from`. On an error, returns the name of
    /// the field that does not fit.
    pub fn contributions(
        &self,
        from: u64,
        stakes: impl Iterator<Item = Minor>,
    ) -> Result<Vec<Vec<Contributed>>, &'static str> {
        let amounts = stakes.map(|stake| self.amounts.get(&stake).map(Vec::as_slice));
        runs::follow(&self.runs, from, amounts)
    }
}

/// `name,name`.
fn parse_tiers(text: &str) -> Option<Vec<Id>> {
    text.split(',').map(|name| Id::parse(name).ok()).collect()
}

/// `stake=pool,pool_micro,reserve,reserve_micro/...;` each, with one amount for each tier.
fn parse_amounts(text: &str, tiers: usize) -> Option<HashMap<Minor, Vec<TierAmount>>> {
    let mut amounts = HashMap::new();
    for row in text.split_terminator(';') {
        let (stake, of_tiers) = row.split_once('=')?;
        let of_tiers = parse_amounts_of(of_tiers, tiers)?;
        let again = amounts.insert(parse_minor(stake)?, of_tiers);
        if again.is_some() {
            return None;
        }
    }
    Some(amounts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::MAX_MINOR;

    fn added(segment: &Segment, from: u64, stakes: &[u64]) -> Result<String, &'static str> {
        let stakes = stakes.iter().map(|stake| Minor::try_from(*stake).expect("in range"));
        let one = |of: &Contributed| format!("{}+{}", of.pool, of.amount);
        let entry = |of: &Vec<Contributed>| of.iter().map(one).collect::<Vec<_>>().join(",");
        let all = segment.contributions(from, stakes)?;
        Ok(all.iter().map(entry).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn pools_follow_from_run_to_run_with_carry_and_cap() {
        let amounts = "10=1,600000,0,500000/0,0,3,0;20=0,0,0,0/2,0,0,0;";
        let segment = Segment::parse("grand,mini", amounts, "1 5,500000,900000,7/0,0,0,-;4 0,0,0,7/9,0,0,-;");
        let segment = segment.expect("readable");
        // Entry 1: 0.9 + 2.1 contributed make 3.0, of which 1 was whole; 0.5 + 1.6 in the pool make 2.1, to the cap.
        assert_eq!(
            added(&segment, 1, &[10, 20, 10, 10]),
            Ok("7+3,0+3 7+0,2+2 7+2,2+3 1+2,9+3".to_owned())
        );
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let segment = Segment::parse("grand", "10=1,0,0,0;", "3 5,0,0,-;4 1,0,0,-;").expect("readable");
        assert_eq!(added(&segment, 3, &[10, 10]), Ok("6+1 2+1".to_owned()));
        assert_eq!(added(&segment, 3, &[11, 10]), Err("amounts"), "a stake without amounts");
        assert_eq!(
            added(&segment, 2, &[10, 10, 10]),
            Err("runs"),
            "entries in front of the first run"
        );
        assert_eq!(added(&segment, 3, &[10]), Err("runs"), "a run behind the last entry");
        let back = Segment::parse("grand", "10=1,0,0,0;", "3 5,0,0,-;3 1,0,0,-;").expect("readable");
        assert_eq!(added(&back, 3, &[10, 10]), Err("runs"), "out of order");
        let full = format!("10={MAX_MINOR},0,0,0;");
        let full = Segment::parse("grand", &full, "1 1,0,0,-;").expect("readable");
        assert_eq!(added(&full, 1, &[10]), Err("runs"), "more than a pool can hold");
    }

    #[test]
    fn what_can_not_be_read_is_named() {
        let (amounts, runs) = ("10=1,0,0,0;", "1 5,0,0,-;");
        for tiers in ["", "grand,", "a b"] {
            assert_eq!(Segment::parse(tiers, amounts, runs), Err("tiers"), "{tiers}");
        }
        for wrong in [
            "10=1,0,0,0;10=1,0,0,0;",
            "10=1,0,0,0/1,0,0,0;",
            "10=1,1000000,0,0;",
            "10=1,0,0;",
            "10=1,0,0,0,0;",
            "10;",
            "9007199254740992=1,0,0,0;",
            "10=-1,0,0,0;",
        ] {
            assert_eq!(Segment::parse("grand", wrong, runs), Err("amounts"), "{wrong}");
        }
        for wrong in [
            "1;",
            "1 5,0,0;",
            "1 5,0,0,-,0;",
            "1 5,0,0,-/5,0,0,-;",
            "1 5,1000000,0,-;",
            "x 5,0,0,-;",
        ] {
            assert_eq!(Segment::parse("grand", amounts, wrong), Err("runs"), "{wrong}");
        }
    }
}
