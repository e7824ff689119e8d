//! The common data of the entries of one call: the amounts that each of them adds, and the record that entries of a run
//! share (`lua/jackpot/record.lua`). Pure.

use std::fmt::Write;

use super::record::{Contributed, Record, State};
use super::runs;
use super::split::{TierAmount, write_amounts};

/// The distinct amounts of the entries of a call, and the one that each entry adds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rows {
    amounts: Vec<Vec<TierAmount>>,
    /// From 0, by place; empty when all entries add the first.
    of_entries: Vec<usize>,
}

impl Rows {
    /// These amounts, one for each tier. The entries add the amounts with these numbers, from 0.
    #[must_use]
    pub fn new(amounts: Vec<Vec<TierAmount>>, mut of_entries: Vec<usize>) -> Self {
        if amounts.len() == 1 {
            of_entries.clear();
        }
        Self { amounts, of_entries }
    }

    /// Reads `1,2,1|pool,pool_micro,reserve,reserve_micro/...;...`, rows from 1.
    pub fn parse(text: &str) -> Option<Self> {
        let (of_entries, amounts) = text.split_once('|')?;
        let tiers = amounts.split(';').next()?.split('/').count();
        let amounts = amounts.split_inclusive(';');
        let amounts = amounts.map(|row| runs::parse_amounts_of(row.strip_suffix(';')?, tiers));
        let number = |text: &str| text.parse::<usize>().ok()?.checked_sub(1);
        Some(Self {
            amounts: amounts.collect::<Option<_>>()?,
            of_entries: of_entries.split_terminator(',').map(number).collect::<Option<_>>()?,
        })
    }

    /// The inverse of [`Rows::parse`].
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        for (i, row) in self.of_entries.iter().enumerate() {
            let _ = write!(text, "{}{}", if i == 0 { "" } else { "," }, row + 1);
        }
        text.push('|');
        for row in &self.amounts {
            write_amounts(&mut text, row);
        }
        text
    }

    /// The distinct amounts.
    #[must_use]
    pub fn amounts(&self) -> &[Vec<TierAmount>] {
        &self.amounts
    }

    /// The number of the amount that the entry at this place (from 0) adds, from 0.
    #[must_use]
    pub fn of(&self, place: usize) -> usize {
        if self.of_entries.is_empty() {
            0
        } else {
            self.of_entries.get(place).copied().unwrap_or(usize::MAX)
        }
    }

    /// What the taken entries, at these places (from 0), added to each tier. `runs` is as `lua/jackpot/run.lua` writes
    /// it; its indexes count the taken entries from 1. On an error, returns the name of the part that does not fit.
    pub fn contributions(
        &self,
        runs: &str,
        taken: impl Iterator<Item = usize>,
    ) -> Result<Vec<Vec<Contributed>>, &'static str> {
        let tiers = self.amounts.first().map_or(0, Vec::len);
        let runs = runs::parse(runs, tiers).ok_or("runs")?;
        let amounts = taken.map(|place| self.amounts.get(self.of(place)).map(Vec::as_slice));
        runs::follow(&runs, 1, amounts).map_err(|field| if field == "amounts" { "rows" } else { field })
    }
}

/// The record of an entry that was taken in a run: `:call place fingerprint`, one space, and the record of its call,
/// `first|epoch.version|skipped|rows of the entries|amounts|runs`.
pub(super) fn parse(text: &str) -> Option<Record> {
    let mut parts = text.strip_prefix(':')?.splitn(4, ' ').skip(1);
    let (place, fingerprint, call) = (parts.next()?, parts.next()?, parts.next()?);
    let mut parts = call.splitn(4, '|');
    let (first, stamp, skipped, rest) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let (rows, runs) = rest.rsplit_once('|')?;
    let (epoch, version) = stamp.split_once('.')?;
    let place = place.parse::<usize>().ok()?;
    let skipped = skipped.split_terminator(',').map(|skip| skip.parse::<usize>().ok());
    let skipped = skipped.collect::<Option<Vec<_>>>()?;
    let taken = (1..=place).filter(|place| skipped.binary_search(place).is_err());
    let taken = taken.collect::<Vec<_>>();
    if taken.last() != Some(&place) {
        return None;
    }
    let up_to_it = runs_up_to(runs, taken.len())?;
    let rows = Rows::parse(rows)?;
    let mut contributions = rows.contributions(up_to_it, taken.iter().map(|place| place - 1)).ok()?;
    Some(Record {
        sequence: first.parse::<u64>().ok()?.checked_add(taken.len() as u64 - 1)?,
        epoch: epoch.parse().ok()?,
        version: version.parse().ok()?,
        fingerprint: fingerprint.to_owned(),
        contributions: contributions.pop()?,
        state: State::Lost,
    })
}

/// The runs that begin at this index or earlier.
fn runs_up_to(runs: &str, index: usize) -> Option<&str> {
    let mut end = 0;
    for run in runs.split_inclusive(';') {
        if run.split_once(' ')?.0.parse::<usize>().ok()? > index {
            break;
        }
        end += run.len();
    }
    Some(&runs[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL: &str =
        "40|2.3|2,5|1,2,1,1,2,2|1,500000,0,0/0,0,2,0;3,0,0,0/0,0,0,0;|1 100,0,0,-/7,0,0,50;3 0,0,500000,-/7,0,0,50;";

    fn record(place: &str) -> Option<String> {
        parse(&format!(":c {place} fp {CALL}")).map(|record| record.to_text())
    }

    #[test]
    fn an_entry_is_told_by_its_place() {
        assert_eq!(record("1").as_deref(), Some("40 2.3 fp 101+1,7+2"));
        assert_eq!(record("3").as_deref(), Some("41 2.3 fp 103+2,7+2"));
        assert_eq!(record("4").as_deref(), Some("42 2.3 fp 1+2,7+2"));
        assert_eq!(record("6").as_deref(), Some("43 2.3 fp 4+3,7+0"));
    }

    #[test]
    fn a_place_that_was_not_taken_or_does_not_exist_is_unreadable() {
        for place in ["0", "2", "5", "7", "x", ""] {
            assert_eq!(record(place), None, "{place}");
        }
    }

    #[test]
    fn what_is_lost_or_cut_is_unreadable() {
        let text = format!(":c 3 fp {CALL}");
        let whole = parse(&text);
        assert!(whole.is_some());
        // All that place 3 follows from ends with the first run.
        let needed = text.find("3 0,0,").expect("a second run") + 2;
        for end in 0..text.len() {
            let cut = parse(&text[..end]);
            assert!(cut.is_none() || cut == whole, "{}", &text[..end]);
            assert!(
                cut.is_none() || end >= needed || text[..end].ends_with("50;"),
                "{}",
                &text[..end]
            );
        }
        assert_eq!(parse(":c 3 fp "), None);
        assert_eq!(parse("c 3 fp 1"), None);
    }

    #[test]
    fn rows_are_read_as_they_are_written() {
        for text in ["|1,0,0,0;", "1,2|1,5,0,0/2,0,3,4;0,0,0,0/0,0,0,1;"] {
            assert_eq!(Rows::parse(text).expect(text).to_text(), text);
        }
        for wrong in [
            "",
            "1",
            "0|1,0,0,0;",
            "|1,0,0;",
            "1,2|1,0,0,0;1,0,0,0/1,0,0,0;",
            "x|1,0,0,0;",
        ] {
            assert_eq!(Rows::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn an_entry_whose_row_is_missing_is_told() {
        let rows = Rows::parse("1,3|1,0,0,0;2,0,0,0;").expect("readable");
        assert_eq!(rows.contributions("1 5,0,0,-;", [0, 1].into_iter()), Err("rows"));
        assert_eq!(rows.contributions("2 5,0,0,-;", [0].into_iter()), Err("runs"));
        assert_eq!(rows.contributions("1 5,0,0,-;", [0, 2].into_iter()), Err("rows"));
    }
}
