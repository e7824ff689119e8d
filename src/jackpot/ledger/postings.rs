//! Double entry: what an event moved between the accounts of a tier. Pure.

use std::collections::BTreeMap;

use jackpot_core::ids::Id;

use super::event::{Event, MeterChange};

/// A place where money comes from, is, or goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Account {
    /// Players; negative: what they have contributed.
    Contributions,
    /// Operators; negative: what they have put in, less what they have taken out.
    Funding,
    /// What winners are paid from.
    Pool,
    /// What pays for the next seed.
    Reserve,
    /// Money beyond the cap.
    Overflow,
    /// Carried fractions of pool and reserve together.
    Remainder,
    /// Winners: what they were paid.
    Payouts,
    /// What a skipped event moved without stating the source; negative: what it brought in.
    Skipped,
}

impl Account {
    /// The account's name in the ledger.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Contributions => "contributions",
            Self::Funding => "funding",
            Self::Pool => "pool",
            Self::Reserve => "reserve",
            Self::Overflow => "overflow",
            Self::Remainder => "remainder",
            Self::Payouts => "payouts",
            Self::Skipped => "skipped",
        }
    }

    /// The account of a meter, whether it counts from outside, and whether it is in millionths. `None` for a meter
    /// that is not money.
    fn of_meter(meter: &str) -> Option<(Self, bool, bool)> {
        Some(match meter {
            "contributed" => (Self::Contributions, true, false),
            "contributed_micro" => (Self::Contributions, true, true),
            "funded" => (Self::Funding, true, false),
            "pool" => (Self::Pool, false, false),
            "reserve" => (Self::Reserve, false, false),
            "overflow" => (Self::Overflow, false, false),
            "pool_micro" | "reserve_micro" => (Self::Remainder, false, true),
            "paid" => (Self::Payouts, false, false),
            "skipped" => (Self::Skipped, true, false),
            "skipped_micro" => (Self::Skipped, true, true),
            _ => return None,
        })
    }
}

/// What went into an account (negative: came out of it).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posting {
    pub tier: Id,
    pub account: Account,
    /// Minor units.
    pub amount: i64,
    /// Millionths of a minor unit.
    pub micro: i64,
}

/// The postings of an event, by tier and account. If the event has passed [`super::books::Books::apply`], those of
/// each tier sum to zero: `amount * 1,000,000 + micro`.
#[must_use]
pub fn postings(event: &Event) -> Vec<Posting> {
    let mut sums: BTreeMap<(&Id, Account), (i64, i64)> = BTreeMap::new();
    for MeterChange { tier, meter, delta } in &event.changes {
        let Some((account, outside, millionths)) = Account::of_meter(meter) else {
            continue;
        };
        let (amount, micro) = sums.entry((tier, account)).or_default();
        let into = if outside { -delta } else { *delta };
        *(if millionths { micro } else { amount }) += into;
    }
    sums.into_iter()
        .filter(|(_, sum)| *sum != (0, 0))
        .map(|((tier, account), (amount, micro))| Posting {
            tier: tier.clone(),
            account,
            amount,
            micro,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jackpot::ledger::event::Kind;

    fn event(changes: &[(&str, &str, i64)]) -> Event {
        let changes = changes.iter().map(|(tier, meter, delta)| MeterChange {
            tier: Id::parse(tier).expect("an id"),
            meter: (*meter).to_owned(),
            delta: *delta,
        });
        Event {
            n: 1,
            at_ms: 0,
            history: String::new(),
            changes: changes.collect(),
            applied: None,
            kind: Kind::Finish {
                entry_id: "e".to_owned(),
                sequence: 1,
            },
        }
    }

    #[test]
    fn an_entry_that_wins_all_posts_what_came_and_what_went() {
        let rows = postings(&event(&[
            ("grand", "pool", -90),
            ("grand", "reserve", -10),
            ("grand", "pool_micro", 700_000),
            ("grand", "reserve_micro", 500_000),
            ("grand", "contributed", 1),
            ("grand", "contributed_micro", 200_000),
            ("grand", "paid", 100),
            ("grand", "wins", 1),
        ]));
        let text = |p: &Posting| format!("{} {} {}", p.account.as_str(), p.amount, p.micro);
        assert_eq!(
            rows.iter().map(text).collect::<Vec<_>>(),
            [
                "contributions -1 -200000",
                "pool -90 0",
                "reserve -10 0",
                "remainder 0 1200000",
                "payouts 100 0"
            ]
        );
        let sum: i64 = rows.iter().map(|p| p.amount * 1_000_000 + p.micro).sum();
        assert_eq!(sum, 0);
    }

    #[test]
    fn tiers_are_kept_apart_and_what_cancels_is_left_out() {
        let rows = postings(&event(&[
            ("major", "pool_micro", 5),
            ("major", "reserve_micro", -5),
            ("mini", "pool", 3),
            ("mini", "funded", 3),
        ]));
        let text = |p: &Posting| format!("{} {} {}", p.tier, p.account.as_str(), p.amount);
        assert_eq!(
            rows.iter().map(text).collect::<Vec<_>>(),
            ["mini funding -3", "mini pool 3"]
        );
    }
}
