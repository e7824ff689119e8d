//! Computes once what each stake of a batch adds. Pure.

use std::collections::HashMap;
use std::fmt::Write;

use jackpot_core::jackpot::definition::Definition;
use jackpot_core::jackpot::split::{TierAmount, split, write_amounts};
use jackpot_core::money::Minor;

/// The distinct stakes of a batch under one definition.
pub(super) struct Splits<'a> {
    definition: &'a Definition,
    of_stake: HashMap<Minor, usize>,
    last: Option<(Minor, usize)>,
    amounts: Vec<Vec<TierAmount>>,
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
        write_amounts(&mut self.text, &amounts);
        self.amounts.push(amounts);
        self.of_stake.insert(stake, number);
        number
    }

    /// The amounts of the split with this number.
    pub(super) fn amounts(&self, number: usize) -> &[TierAmount] {
        &self.amounts[number]
    }

    /// `stake=pu,pm,ru,rm/pu,pm,ru,rm;` of each distinct stake, the form in the event.
    pub(super) fn into_text(self) -> String {
        self.text
    }
}
