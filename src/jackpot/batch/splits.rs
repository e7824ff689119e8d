//! What each stake of a batch adds, computed once, and the sums of runs. Pure, in wide integers.

use std::collections::HashMap;
use std::fmt::Write;

use crate::jackpot::definition::Definition;
use crate::jackpot::split::{TierAmount, split};
use crate::money::{MAX_MINOR, MICRO, Minor};

/// What one entry or one run adds: for each tier millionths of a minor unit to its pool and to its reserve.
pub(super) type Sums = Vec<(u128, u128)>;

/// The distinct stakes of a batch under one definition.
pub(super) struct Splits<'a> {
    definition: &'a Definition,
    of_stake: HashMap<Minor, usize>,
    last: Option<(Minor, usize)>,
    amounts: Vec<Sums>,
    text: String,
}

impl<'a> Splits<'a> {
    pub(super) fn new(definition: &'a Definition) -> Self {
        Self {
            definition,
            of_stake: HashMap::new(),
            last: None,
            amounts: Vec::new(),
            text: String::new(),
        }
    }

    /// The number of this stake's split, from 0.
    pub(super) fn of(&mut self, stake: Minor) -> usize {
        match self.last {
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
        let number = self.amounts.len();
        let amounts = split(self.definition, stake);
        // Writing to a string does not fail.
        let _ = write!(self.text, "{stake}=");
        for (t, TierAmount { pool, reserve }) in amounts.iter().enumerate() {
            let between = if t == 0 { "" } else { "/" };
            let (units, micro) = ((pool.units, reserve.units), (pool.micro, reserve.micro));
            let _ = write!(self.text, "{between}{},{},{},{}", units.0, micro.0, units.1, micro.1);
        }
        self.text.push(';');
        let whole = |units: u64, micro: u32| u128::from(units) * MICRO + u128::from(micro);
        let sums = amounts.iter().map(|a| {
            let (pool, reserve) = (a.pool, a.reserve);
            (whole(pool.units, pool.micro), whole(reserve.units, reserve.micro))
        });
        self.amounts.push(sums.collect());
        self.of_stake.insert(stake, number);
        number
    }

    /// What the split with this number adds.
    pub(super) fn amounts(&self, number: usize) -> &[(u128, u128)] {
        &self.amounts[number]
    }

    /// `stake=pu,pm,ru,rm/pu,pm,ru,rm;` of each distinct stake, as the event keeps them.
    pub(super) fn into_text(self) -> String {
        self.text
    }
}

/// Units and millionths of each sum, as the script takes them: pool units, pool millionths, reserve units, reserve
/// millionths. `None` when one has more than 2^53 − 1 units: then a meter would pass it too.
pub(super) fn row(sums: &[(u128, u128)]) -> Option<Vec<u64>> {
    let part = |micro: u128| {
        let units = u64::try_from(micro / MICRO).ok().filter(|units| *units <= MAX_MINOR)?;
        Some([units, u64::try_from(micro % MICRO).ok()?])
    };
    let mut row = Vec::with_capacity(sums.len() * 4);
    for (pool, reserve) in sums {
        row.extend(part(*pool)?);
        row.extend(part(*reserve)?);
    }
    Some(row)
}
