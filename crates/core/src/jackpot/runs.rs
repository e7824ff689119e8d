//! Computes what entries add to each tier, from the tiers at the beginning of their run and from the amounts. Pure.
//!
//! A run lies between two paid claims: within it only contributions change the meters. So neither events nor records
//! have an entry's contribution if it follows from the beginning of its run (`lua/jackpot/run.lua`).

use super::record::Contributed;
use super::split::{Part, TierAmount};
use crate::money::{MAX_MINOR, Minor};

/// Millionths of a unit, as the meters count them.
const MICRO: u32 = 1_000_000;

/// The beginning of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Index of its first entry in the batch, or among the entries that a call took, from 1.
    pub index: u64,
    /// The tiers before that entry.
    pub places: Vec<Place>,
}

/// The part of a tier's state that contributions need.
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

impl Place {
    /// Adds an entry's contribution, as `accrue` of `lua/jackpot/tiers.lua` does; `None` beyond the limit of a pool.
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

/// What each of the entries with these amounts adds; the first has index `from`. On an error, returns whether the
/// amounts or the runs do not fit.
pub fn follow<'a>(
    runs: &[Run],
    from: u64,
    amounts: impl Iterator<Item = Option<&'a [TierAmount]>>,
) -> Result<Vec<Vec<Contributed>>, &'static str> {
    let (mut runs, mut places) = (runs.iter().peekable(), Vec::new());
    let mut all = Vec::with_capacity(amounts.size_hint().0);
    for (index, amounts) in (from..).zip(amounts) {
        if let Some(run) = runs.next_if(|run| run.index == index) {
            places.clone_from(&run.places);
        }
        let amounts = amounts.ok_or("amounts")?;
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

/// `index place/...;` each.
pub(super) fn parse(text: &str, tiers: usize) -> Option<Vec<Run>> {
    let runs = text
        .split_inclusive(';')
        .map(|run| parse_run(run.strip_suffix(';')?, tiers));
    runs.collect()
}

/// `pool,pool_micro,reserve,reserve_micro/...`, with one amount for each tier.
pub(super) fn parse_amounts_of(text: &str, tiers: usize) -> Option<Vec<TierAmount>> {
    let amounts = text.split('/').map(parse_amount).collect::<Option<Vec<_>>>()?;
    (amounts.len() == tiers).then_some(amounts)
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

/// `index pool,pool_micro,contributed_micro,cap/...`, with one place for each tier.
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

pub(super) fn parse_minor(text: &str) -> Option<Minor> {
    Minor::try_from(text.parse::<u64>().ok()?).ok()
}

fn parse_micro(text: &str) -> Option<u32> {
    text.parse().ok().filter(|micro| *micro < MICRO)
}
