//! The record of a batch: what Redis keeps of it, as `lua/jackpot/batch.lua` describes it. Pure.

use crate::ids::Id;
use crate::jackpot::record::Unreadable;

/// What a batch was, as its record tells. The entries that drew a prize have records of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchRecord {
    /// Sequence of its first entry.
    pub first: u64,
    /// How many entries it has.
    pub count: usize,
    /// Of all that was sent ([`Batch::fingerprint`](super::Batch::fingerprint)).
    pub fingerprint: String,
    /// Epoch its entries were drawn in.
    pub epoch: u64,
    /// What it added to each tier, in the order of the definition that its last entry was drawn under.
    pub totals: Vec<Total>,
    /// Indexes (from 1) of the entries that drew a prize, ascending.
    pub winners: Vec<usize>,
}

/// What a batch added to a tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Total {
    /// Which.
    pub tier: Id,
    /// By how many whole minor units the tier's contributions grew.
    pub amount: u64,
    /// The pool behind its last entry.
    pub pool: u64,
}

impl BatchRecord {
    /// Parses a record.
    pub fn parse(text: &str) -> Result<Self, Unreadable> {
        parse(text).ok_or_else(|| Unreadable(text.to_owned()))
    }

    /// The record as the script writes it: the inverse of [`BatchRecord::parse`].
    #[must_use]
    pub fn to_text(&self) -> String {
        let totals = self.totals.iter().map(|t| format!("{}+{}+{}", t.tier, t.amount, t.pool));
        let totals = totals.collect::<Vec<_>>().join(",");
        let winners = self.winners.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
        let winners = if winners.is_empty() { "-" } else { &winners };
        let Self {
            first,
            count,
            fingerprint,
            epoch,
            ..
        } = self;
        format!("{first} {count} {fingerprint} {epoch} {totals} {winners}")
    }
}

fn parse(text: &str) -> Option<BatchRecord> {
    let mut parts = text.split(' ');
    let record = BatchRecord {
        first: parts.next()?.parse().ok()?,
        count: parts.next()?.parse().ok()?,
        fingerprint: parts.next()?.to_owned(),
        epoch: parts.next()?.parse().ok()?,
        totals: parts.next()?.split(',').map(parse_total).collect::<Option<_>>()?,
        winners: match parts.next()? {
            "-" => Vec::new(),
            list => list.split(',').map(|i| i.parse().ok()).collect::<Option<_>>()?,
        },
    };
    parts.next().is_none().then_some(record)
}

fn parse_total(text: &str) -> Option<Total> {
    let mut parts = text.split('+');
    let total = Total {
        tier: Id::parse(parts.next()?).ok()?,
        amount: parts.next()?.parse().ok()?,
        pool: parts.next()?.parse().ok()?,
    };
    parts.next().is_none().then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_written_as_it_was_read() {
        for text in [
            "1 1000 fD6nE2LKmN2i2E0cFqI3-w 1 grand+1000+37 12,407",
            "8812 1 f 3 grand+1+1,mini+0+7 -",
        ] {
            assert_eq!(BatchRecord::parse(text).expect("readable").to_text(), text);
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for bad in [
            "",
            "1 2 f 1 grand+1+1",
            "1 2 f 1 grand+1 -",
            "1 2 f 1 grand+1+1 1,x",
            "1 2 f 1 grand+1+1 - more",
        ] {
            assert!(BatchRecord::parse(bad).is_err(), "{bad}");
        }
    }
}
