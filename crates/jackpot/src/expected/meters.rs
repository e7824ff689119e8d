//! The packed meters of a jackpot's state, as scripts keep them, and what an entry adds to them. Pure.

use jackpot_core::jackpot::record::Contributed;
use jackpot_core::jackpot::split::TierAmount;
use jackpot_core::money::MAX_MINOR;
use jackpot_core::wire::packed::PackedField;
use rmp::decode::{read_int, read_str_from_slice};
use rmp::encode::{write_sint, write_str};

use crate::scripts::packed::METERS;

/// Millionths of a unit.
const MICRO: i64 = 1_000_000;

/// The meters of all tiers that any definition has had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meters {
    /// Entries so far.
    pub seq: u64,
    /// Paid claims so far.
    order: u64,
    rows: Vec<Row>,
}

/// Values of a row: all of its fields but the name.
const VALUES: usize = METERS.each.len() - 1;

/// The meters of a tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    name: String,
    values: [i64; VALUES],
}

/// Place of a value in a row.
const fn place(name: &str) -> usize {
    let mut at = 1;
    while !is_named(&METERS.each[at], name.as_bytes()) {
        at += 1;
    }
    at - 1
}

const fn is_named(field: &PackedField, name: &[u8]) -> bool {
    let field = field.name.as_bytes();
    let mut at = 0;
    while at < field.len() && at < name.len() && field[at] == name[at] {
        at += 1;
    }
    at == field.len() && at == name.len()
}

const POOL: usize = place("pool");
const RESERVE: usize = place("reserve");
const OVERFLOW: usize = place("overflow");
const POOL_MICRO: usize = place("pool_micro");
const RESERVE_MICRO: usize = place("reserve_micro");
const CONTRIBUTED: usize = place("contributed");
const CONTRIBUTED_MICRO: usize = place("contributed_micro");
const FUNDED: usize = place("funded");

impl Meters {
    /// Reads what a script packed; `None` for another format, or damage.
    pub fn unpack(mut text: &[u8]) -> Option<Self> {
        let left = &mut text;
        let format: u32 = read_int(left).ok()?;
        if format != METERS.format {
            return None;
        }
        let (seq, order) = (read_int(left).ok()?, read_int(left).ok()?);
        let mut rows = Vec::new();
        while !left.is_empty() {
            let (name, rest) = read_str_from_slice(*left).ok()?;
            let name = name.to_owned();
            *left = rest;
            let mut values = [0; VALUES];
            for value in &mut values {
                *value = read_int(left).ok()?;
            }
            rows.push(Row { name, values });
        }
        Some(Self { seq, order, rows })
    }

    /// Packs them as `write_meters` of a script does.
    ///
    /// # Panics
    /// Never: a vector takes every write.
    pub fn pack(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(16 + self.rows.len() * 64);
        let whole = |out: &mut Vec<u8>, value: i64| {
            write_sint(out, value).expect("a vector takes every write");
        };
        whole(&mut out, i64::from(METERS.format));
        whole(&mut out, self.seq.cast_signed());
        whole(&mut out, self.order.cast_signed());
        for row in &self.rows {
            write_str(&mut out, &row.name).expect("a vector takes every write");
            for value in row.values {
                whole(&mut out, value);
            }
        }
        out
    }

    /// The place of a tier's row; `None` when the tier has none.
    pub fn place_of(&self, tier: &str) -> Option<usize> {
        self.rows.iter().position(|row| row.name == tier)
    }

    /// The row at this place.
    pub fn row(&self, place: usize) -> &Row {
        &self.rows[place]
    }

    /// Adds an entry's contribution to a tier, as `accrue` of `lua/jackpot/tiers.lua` does. `None` when a meter would pass
    /// 2^53 − 1.
    pub fn accrue(&mut self, place: usize, amount: &TierAmount, cap: Option<u64>) -> Option<Contributed> {
        let values = &mut self.rows[place].values;
        let (pool, reserve) = (units(amount.pool.units)?, units(amount.reserve.units)?);
        let (pool_micro, reserve_micro) = (i64::from(amount.pool.micro), i64::from(amount.reserve.micro));

        let micro = values[CONTRIBUTED_MICRO] + pool_micro + reserve_micro;
        let grown = pool + reserve + micro / MICRO;
        values[CONTRIBUTED] += grown;
        values[CONTRIBUTED_MICRO] = micro % MICRO;
        units((values[CONTRIBUTED] + values[FUNDED].max(0)).cast_unsigned())?;

        let micro = values[RESERVE_MICRO] + reserve_micro;
        values[RESERVE] += reserve + micro / MICRO;
        values[RESERVE_MICRO] = micro % MICRO;

        let micro = values[POOL_MICRO] + pool_micro;
        values[POOL_MICRO] = micro % MICRO;
        let whole = pool + micro / MICRO;
        let room = match cap {
            Some(cap) => (units(cap)? - values[POOL]).max(0),
            None => whole,
        };
        let taken = whole.min(room);
        values[OVERFLOW] += whole - taken;
        values[POOL] += taken;
        Some(Contributed {
            pool: values[POOL].cast_unsigned(),
            amount: grown.cast_unsigned(),
        })
    }
}

/// An amount within its bound.
fn units(amount: u64) -> Option<i64> {
    (amount <= MAX_MINOR).then(|| amount.cast_signed())
}

impl Row {
    /// The pool that a script last wrote.
    pub fn pool(&self) -> u64 {
        self.values[POOL].cast_unsigned()
    }

    /// Fraction not yet in the pool, millionths.
    pub fn pool_micro(&self) -> u32 {
        u32::try_from(self.values[POOL_MICRO]).unwrap_or_default()
    }

    /// Fraction of all contributions, millionths.
    pub fn contributed_micro(&self) -> u32 {
        u32::try_from(self.values[CONTRIBUTED_MICRO]).unwrap_or_default()
    }

    /// Name and change of each value that differs, in the declared order.
    pub fn changes<'a>(&'a self, before: &'a Self) -> impl Iterator<Item = (&'static str, i64)> + 'a {
        let pairs = self.values.iter().zip(&before.values).zip(&METERS.each[1..]);
        pairs
            .map(|((now, then), field)| (field.name, now - then))
            .filter(|(_, change)| *change != 0)
    }
}
