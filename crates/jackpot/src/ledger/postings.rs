//! Double entry: what an event moved between the accounts of a tier. Pure.
//!
//! The row of the event keeps it as one text (`events.moved`): `grand c-112:-500000,p101,r11,m0:500000;mini c-48,p48`.
//! The tiers stand in the order of their ids, their accounts in that of [`Account`]. An account is a letter and what went
//! into it: minor units and, unless it is 0, `:` and millionths. The number of a posting is its place in the text, from 0.

use jackpot_core::ids::Id;
use jackpot_core::wire::Field;

use super::event::MeterChange;
use super::sources::Moved;

/// Millionths of a minor unit.
const MICRO: i128 = 1_000_000;

jackpot_core::names! {
    /// A place where money comes from, is, or goes to.
    #[derive(PartialOrd, Ord)]
    pub enum Account {
        /// Players; negative: what they have contributed.
        Contributions = "contributions",
        /// Operators; negative: what they have put in, less what they have taken out.
        Funding = "funding",
        /// What winners are paid from.
        Pool = "pool",
        /// What pays for the next seed.
        Reserve = "reserve",
        /// Money beyond the cap.
        Overflow = "overflow",
        /// Carried fractions of pool and reserve together.
        Remainder = "remainder",
        /// Winners: what they were paid.
        Payouts = "payouts",
        /// What a skipped event moved without stating the source; negative: what it brought in.
        Skipped = "skipped",
        /// Cancelled rounds: what was given back.
        Reversals = "reversals",
        /// Other jackpots: what went to them; negative: what came from them.
        Transfers = "transfers",
        /// Payouts that were taken back; negative. `payouts` stays gross.
        Voids = "voids",
    }
}

impl Account {
    /// The account in the text of an event's postings.
    fn letter(self) -> char {
        match self {
            Self::Contributions => 'c',
            Self::Funding => 'f',
            Self::Pool => 'p',
            Self::Reserve => 'r',
            Self::Overflow => 'o',
            Self::Remainder => 'm',
            Self::Payouts => 'w',
            Self::Skipped => 's',
            Self::Reversals => 'v',
            Self::Transfers => 't',
            Self::Voids => 'b',
        }
    }

    /// The account of a meter, whether it counts from outside, and whether it is in millionths. `None` for a meter
    /// that is not money.
    fn of_meter(meter: &str) -> Option<(Self, bool, bool)> {
        Some(match meter {
            "contributed" => (Self::Contributions, true, false),
            "contributed_micro" => (Self::Contributions, true, true),
            "funded" => (Self::Funding, true, false),
            "funded_micro" => (Self::Funding, true, true),
            "reversed" => (Self::Reversals, false, false),
            "reversed_micro" => (Self::Reversals, false, true),
            "pool" => (Self::Pool, false, false),
            "reserve" => (Self::Reserve, false, false),
            "overflow" => (Self::Overflow, false, false),
            "pool_micro" | "reserve_micro" => (Self::Remainder, false, true),
            "paid" => (Self::Payouts, false, false),
            "transferred_out" => (Self::Transfers, false, false),
            "transferred_out_micro" => (Self::Transfers, false, true),
            // The part of `funded` that is only room: nobody has funded it.
            "expected" => (Self::Funding, false, false),
            "transferred_in" => (Self::Transfers, true, false),
            "transferred_in_micro" => (Self::Transfers, true, true),
            "voided" => (Self::Voids, true, false),
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

/// What the changes of an event moved, as one text; empty for nothing. If it has passed [`super::books::Books::apply`], the
/// postings of each tier sum to zero: `amount * 1,000,000 + micro`.
pub fn moved(changes: &[MeterChange]) -> String {
    let mut tiers: Vec<(&Id, [(i64, i64); Account::ALL.len()])> = Vec::new();
    for MeterChange { tier, meter, delta } in changes {
        let Some((account, outside, millionths)) = Account::of_meter(meter) else {
            continue;
        };
        let known = tiers.iter().rposition(|(known, _)| *known == tier);
        let place = known.unwrap_or_else(|| {
            tiers.push((tier, Default::default()));
            tiers.len() - 1
        });
        let (amount, micro) = &mut tiers[place].1[account as usize];
        let into = if outside { -delta } else { *delta };
        *(if millionths { micro } else { amount }) += into;
        // The meter `funded` counts it too, and no operator has funded it.
        if meter.starts_with("transferred_in") || &**meter == "voided" {
            let (amount, micro) = &mut tiers[place].1[Account::Funding as usize];
            *(if millionths { micro } else { amount }) += delta;
        }
    }
    text(tiers)
}

/// What an event moved for one source, in the same form: what its entries brought and won. These lines do not sum to
/// zero, because what is brought goes to accounts that all sources share.
pub fn moved_for(source: &Moved) -> String {
    let tiers = source.tiers.iter().map(|(tier, of)| {
        let mut sums = <[(i64, i64); Account::ALL.len()]>::default();
        let whole = |micro: i128| i64::try_from(micro).expect("the contributions of an event are below 2^63");
        let (units, micro) = (of.contributed_micro / MICRO, of.contributed_micro % MICRO);
        sums[Account::Contributions as usize] = (-whole(units), -whole(micro));
        sums[Account::Payouts as usize] = (of.paid, 0);
        (tier, sums)
    });
    text(tiers.collect())
}

fn text(mut tiers: Vec<(&Id, [(i64, i64); Account::ALL.len()])>) -> String {
    tiers.sort_unstable_by_key(|(tier, _)| *tier);
    let mut text = String::new();
    for (tier, sums) in tiers {
        let moved = Account::ALL.into_iter().zip(sums).filter(|(_, sum)| *sum != (0, 0));
        for (i, (account, (amount, micro))) in moved.enumerate() {
            if i > 0 {
                text.push(',');
            } else {
                text.push_str(if text.is_empty() { "" } else { ";" });
                text.push_str(tier.as_str());
                text.push(' ');
            }
            text.push(account.letter());
            amount.write(&mut text);
            if micro != 0 {
                text.push(':');
                micro.write(&mut text);
            }
        }
    }
    text
}

/// The postings in the text that [`moved`] wrote, by tier and account; `None` for anything else.
pub fn parse(text: &str) -> Option<Vec<Posting>> {
    let mut postings = Vec::new();
    for of_tier in text.split(';').filter(|_| !text.is_empty()) {
        let (tier, lines) = of_tier.split_once(' ')?;
        let tier = Id::parse(tier).ok()?;
        for line in lines.split(',') {
            let letter = line.chars().next()?;
            let account = Account::ALL.into_iter().find(|account| account.letter() == letter)?;
            let moved = &line[letter.len_utf8()..];
            let (amount, micro) = moved.split_once(':').unwrap_or((moved, "0"));
            postings.push(Posting {
                tier: tier.clone(),
                account,
                amount: amount.parse().ok()?,
                micro: micro.parse().ok()?,
            });
        }
    }
    Some(postings)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn posted(changes: &[(&str, &str, i64)]) -> String {
        let changes = changes.iter().map(|(tier, meter, delta)| MeterChange {
            tier: Id::parse(tier).expect("an id"),
            meter: (*meter).into(),
            delta: *delta,
        });
        moved(&changes.collect::<Vec<_>>())
    }

    #[test]
    fn an_entry_that_wins_all_posts_what_came_and_what_went() {
        let text = posted(&[
            ("grand", "pool", -90),
            ("grand", "reserve", -10),
            ("grand", "pool_micro", 700_000),
            ("grand", "reserve_micro", 500_000),
            ("grand", "contributed", 1),
            ("grand", "contributed_micro", 200_000),
            ("grand", "paid", 100),
            ("grand", "wins", 1),
        ]);
        let rows = parse(&text).expect("postings");
        let shown = |p: &Posting| format!("{} {} {}", p.account.as_str(), p.amount, p.micro);
        assert_eq!(
            rows.iter().map(shown).collect::<Vec<_>>(),
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
        assert_eq!(text, "grand c-1:-200000,p-90,r-10,m0:1200000,w100");
    }

    #[test]
    fn a_void_takes_back_what_was_paid_and_nobody_funds_it() {
        let text = posted(&[
            ("grand", "overflow", 40),
            ("grand", "funded", 40),
            ("grand", "voided", 40),
        ]);
        assert_eq!(text, "grand o40,b-40");
        assert_eq!(parse(&text).expect("postings")[1].account, Account::Voids);
    }

    #[test]
    fn tiers_are_kept_apart_and_what_cancels_is_left_out() {
        let text = posted(&[
            ("major", "pool_micro", 5),
            ("major", "reserve_micro", -5),
            ("mini", "pool", 3),
            ("mini", "funded", 3),
        ]);
        assert_eq!(text, "mini f-3,p3");
        assert_eq!(posted(&[("mini", "wins", 1)]), "");
    }

    #[test]
    fn the_text_is_read_back_in_the_order_of_tiers_and_accounts() {
        let meters = [
            "skipped",
            "paid",
            "pool_micro",
            "overflow",
            "reserve",
            "pool",
            "funded",
            "contributed",
        ];
        let changes = ["mini", "grand"]
            .iter()
            .flat_map(|tier| meters.iter().map(|meter| (*tier, *meter, 7)));
        let text = posted(&changes.collect::<Vec<_>>());
        assert_eq!(
            text,
            "grand c-7,f-7,p7,r7,o7,m0:7,w7,s-7;mini c-7,f-7,p7,r7,o7,m0:7,w7,s-7"
        );
        let rows = parse(&text).expect("postings");
        let shown = |p: &Posting| format!("{}{}", p.account.letter(), p.amount);
        let shown: Vec<_> = rows.iter().map(shown).collect();
        assert_eq!(shown[..8], ["c-7", "f-7", "p7", "r7", "o7", "m0", "w7", "s-7"]);
        assert_eq!(shown[..8], shown[8..]);
        assert_eq!((rows[0].tier.as_str(), rows[8].tier.as_str()), ("grand", "mini"));
        assert_eq!((rows[4].micro, rows[5].micro), (0, 7));
        assert_eq!(parse(""), Some(Vec::new()));
        for wrong in [
            "grand",
            "grand ",
            "grand x1",
            "grand p",
            "grand p1:",
            "grand p1,",
            "grand p1;",
            "? p1",
            "grand é1",
        ] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
    #[test]
    fn each_meter_has_its_account() {
        for (meter, text) in [
            ("contributed", "c-1"),
            ("contributed_micro", "c0:-1"),
            ("funded", "f-1"),
            ("funded_micro", "f0:-1"),
            ("reversed", "v1"),
            ("reversed_micro", "v0:1"),
            ("pool", "p1"),
            ("reserve", "r1"),
            ("overflow", "o1"),
            ("pool_micro", "m0:1"),
            ("reserve_micro", "m0:1"),
            ("paid", "w1"),
            ("transferred_out", "t1"),
            ("transferred_out_micro", "t0:1"),
            ("expected", "f1"),
            ("transferred_in", "f1,t-1"),
            ("transferred_in_micro", "f0:1,t0:-1"),
            ("voided", "f1,b-1"),
            ("skipped", "s-1"),
            ("skipped_micro", "s0:-1"),
        ] {
            assert_eq!(posted(&[("grand", meter, 1)]), format!("grand {text}"), "{meter}");
        }
    }

    #[test]
    fn each_letter_has_a_name() {
        let rows = parse("grand c1,f1,p1,r1,o1,m1,w1,s1,v1,t1,b1").expect("postings");
        assert_eq!(
            rows.iter().map(|row| row.account.as_str()).collect::<Vec<_>>(),
            [
                "contributions",
                "funding",
                "pool",
                "reserve",
                "overflow",
                "remainder",
                "payouts",
                "skipped",
                "reversals",
                "transfers",
                "voids"
            ]
        );
    }

    #[test]
    fn a_source_has_what_its_entries_brought_and_won() {
        use crate::ledger::sources::OfTier;
        let of = |contributed_micro, paid| OfTier {
            contributed_micro,
            paid,
            payouts: 1,
        };
        let id = |tier| Id::parse(tier).expect("an id");
        let source = Moved {
            entries: 3,
            tiers: [
                (id("grand"), of(2_500_000, 70)),
                (id("mini"), of(0, 0)),
                (id("tiny"), of(7, 0)),
            ]
            .into(),
        };
        assert_eq!(moved_for(&source), "grand c-2:-500000,w70;tiny c0:-7");
    }
}
