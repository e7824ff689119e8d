//! What the entries of a batch add to each tier, computed from what its event keeps: the amounts by stake, and where the
//! meters stood at the beginning of each run. Pure.
//!
//! A run is what lies between two paid claims: within it only contributions move the meters. So an event of 10,000
//! entries names as many amounts as there are stakes, and one place more than there are paid claims.

use std::collections::HashMap;

use super::record::Contributed;
use super::split::{Part, TierAmount};
use crate::ids::Id;
use crate::money::{MAX_MINOR, Minor};

/// Millionths of a unit, as the meters count them.
const MICRO: u32 = 1_000_000;

/// The part of a batch that was drawn under one definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Its tiers, in the definition's order.
    pub tiers: Vec<Id>,
    /// What an entry adds to each tier, by stake.
    pub amounts: HashMap<Minor, Vec<TierAmount>>,
    /// Where the runs begin, in order.
    pub runs: Vec<Run>,
}

/// The beginning of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Index in the batch of its first entry, from 1.
    pub index: u64,
    /// What each tier holds in front of that entry.
    pub places: Vec<Place>,
}

/// What a tier holds, as far as contributions need it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Minor units.
    pub pool: u64,
    /// Fraction not yet in the pool, millionths.
    pub pool_micro: u32,
    /// Fraction of all contributions, millionths.
    pub contributed_micro: u32,
    /// Minor units; `None` for no cap.
    pub cap: Option<u64>,
}

impl Segment {
    /// Reads the fields of an event; on an error the name of the one that can't be read.
    pub fn parse(tiers: &str, amounts: &str, runs: &str) -> Result<Self, &'static str> {
        let tiers = parse_tiers(tiers).ok_or("tiers")?;
        let amounts = parse_amounts(amounts, tiers.len()).ok_or("amounts")?;
        let runs = runs.split_terminator(';').map(|run| parse_run(run, tiers.len()));
        let runs = runs.collect::<Option<Vec<_>>>().ok_or("runs")?;
        Ok(Self { tiers, amounts, runs })
    }

    /// What each of the entries with these stakes adds, the first of them at index `from`; on an error the name of the
    /// field that does not fit them.
    pub fn contributions(
        &self,
        from: u64,
        stakes: impl Iterator<Item = Minor>,
    ) -> Result<Vec<Vec<Contributed>>, &'static str> {
        let (mut runs, mut places) = (self.runs.iter().peekable(), Vec::new());
        let mut all = Vec::with_capacity(stakes.size_hint().0);
        for (index, stake) in (from..).zip(stakes) {
            if let Some(run) = runs.next_if(|run| run.index == index) {
                places.clone_from(&run.places);
            }
            let amounts = self.amounts.get(&stake).ok_or("amounts")?;
            if places.len() != amounts.len() {
                return Err("runs");
            }
            let adds = places
                .iter_mut()
                .zip(amounts)
                .map(|(place, amount)| place.accrue(amount));
            all.push(adds.collect::<Option<Vec<_>>>().ok_or("runs")?);
        }
        if runs.next().is_some() {
            return Err("runs");
        }
        Ok(all)
    }
}

impl Place {
    /// Adds what an entry contributes, as `accrue` of `lua/jackpot/tiers.lua` does; `None` beyond what a pool can hold.
    fn accrue(&mut self, amount: &TierAmount) -> Option<Contributed> {
        let micro = self.contributed_micro + amount.pool.micro + amount.reserve.micro;
        let grown = amount.pool.units + amount.reserve.units + u64::from(micro / MICRO);
        self.contributed_micro = micro % MICRO;
        let micro = self.pool_micro + amount.pool.micro;
        let whole = amount.pool.units + u64::from(micro / MICRO);
        self.pool_micro = micro % MICRO;
        let room = self.cap.map_or(whole, |cap| cap.saturating_sub(self.pool));
        self.pool += whole.min(room);
        (self.pool <= MAX_MINOR && grown <= MAX_MINOR).then_some(Contributed {
            pool: self.pool,
            amount: grown,
        })
    }
}

/// `name,name`.
fn parse_tiers(text: &str) -> Option<Vec<Id>> {
    text.split(',').map(|name| Id::parse(name).ok()).collect()
}

/// `stake=pool,pool_micro,reserve,reserve_micro/...;` each, with one amount a tier.
fn parse_amounts(text: &str, tiers: usize) -> Option<HashMap<Minor, Vec<TierAmount>>> {
    let mut amounts = HashMap::new();
    for row in text.split_terminator(';') {
        let (stake, of_tiers) = row.split_once('=')?;
        let of_tiers = of_tiers.split('/').map(parse_amount).collect::<Option<Vec<_>>>()?;
        let again = amounts.insert(parse_minor(stake)?, of_tiers);
        if again.is_some() || row.split('/').count() != tiers {
            return None;
        }
    }
    Some(amounts)
}

fn parse_amount(text: &str) -> Option<TierAmount> {
    let mut parts = text.split(',');
    let mut part = || {
        let units = parse_minor(parts.next()?)?.get();
        let micro = parse_micro(parts.next()?)?;
        Some(Part { units, micro })
    };
    let (pool, reserve) = (part()?, part()?);
    parts.next().is_none().then_some(TierAmount { pool, reserve })
}

/// `index pool,pool_micro,contributed_micro,cap/...`, with one place a tier.
fn parse_run(text: &str, tiers: usize) -> Option<Run> {
    let (index, places) = text.split_once(' ')?;
    let places = places.split('/').map(parse_place).collect::<Option<Vec<_>>>()?;
    (places.len() == tiers).then_some(Run {
        index: index.parse().ok()?,
        places,
    })
}

fn parse_place(text: &str) -> Option<Place> {
    let mut parts = text.split(',');
    let place = Place {
        pool: parse_minor(parts.next()?)?.get(),
        pool_micro: parse_micro(parts.next()?)?,
        contributed_micro: parse_micro(parts.next()?)?,
        cap: match parts.next()? {
            "-" => None,
            cap => Some(parse_minor(cap)?.get()),
        },
    };
    parts.next().is_none().then_some(place)
}

fn parse_minor(text: &str) -> Option<Minor> {
    Minor::try_from(text.parse::<u64>().ok()?).ok()
}

fn parse_micro(text: &str) -> Option<u32> {
    text.parse().ok().filter(|micro| *micro < MICRO)
}

#[cfg(test)]
mod tests {
    use super::*;

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
