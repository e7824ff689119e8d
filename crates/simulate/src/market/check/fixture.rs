//! A day that kept every rule, for tests that break it in one place.

use std::collections::BTreeMap;

use crate::finding::{self, Judged};
use crate::forge::violated;
use crate::jackpot::tests::cycle;
use crate::jackpot::{Cycle, Meter, Pending, Receipt, Won};
use crate::market::check::RULES;
use crate::market::evidence::{
    Entry, Evidence, Hit, Moved, Reversal, Reversed, Seen, ShownJackpot, Stopped, Transferred,
};
use crate::market::file::File;
use crate::market::file::tests::DAY;
use crate::market::plan::{MILLION, Plan};
use crate::subscriber::{Paid, Read, Subject, Taken};

/// `mini` takes 30 entries, of which the first is cancelled, and gives all to `network`. `network` takes 20, and one of
/// them hits.
pub fn day() -> Evidence {
    let plan = Plan::new(File::parse(DAY).expect("a file"), 1);
    let mut seen = Seen {
        replayed: 3,
        stops: vec![Stopped {
            from_us: 500_000,
            to_us: 1_500_000,
        }],
        ..Seen::default()
    };
    let (mini, given) = mini(&plan, &mut seen);
    let network = network(&plan, &mut seen, &given);
    seen.transfers.push(Transferred {
        from: 0,
        to: 1,
        parts: given,
    });
    let delivered = delivered(&plan, &seen);
    Evidence::new(plan, seen, vec![mini, network], Ok(delivered))
}

/// What a subscriber gets of it: each entry is an event, which also has its payout, and each reversal is one.
fn delivered(plan: &Plan, seen: &Seen) -> Read {
    let mut read = Read::default();
    for jackpot in 0..plan.jackpots().len() {
        let mut of = Subject::default();
        let mut n = 0;
        for entry in seen.entries.iter().filter(|entry| entry.jackpot == jackpot) {
            n += 1;
            of.places.push((n, 0));
            of.entries.push(Taken {
                sequence: entry.sequence,
                entry_id: entry.id.clone(),
                stake: entry.stake,
                source_id: entry.source.clone(),
            });
            if let Some(won) = &entry.won {
                of.places.push((n, 1));
                of.payouts.push(Paid {
                    payout_id: won.payout_id.clone(),
                    receipt: won.receipt(&entry.id),
                    event_id: String::new(),
                });
            }
        }
        for reversal in seen.reversals.iter().filter(|reversal| reversal.jackpot == jackpot) {
            n += 1;
            of.places.push((n, 0));
            of.reversed.push(reversal.entry_id.clone());
        }
        read.heads.insert(plan.subject(jackpot), n);
        read.got.subjects.insert(plan.subject(jackpot), of);
    }
    read
}

/// What the subscriber got of a jackpot.
pub fn got(evidence: &mut Evidence, jackpot: usize) -> &mut Subject {
    let subject = evidence.plan.subject(jackpot);
    let read = evidence.delivered.as_mut().expect("a subscriber");
    read.got.subjects.get_mut(&subject).expect("a subject")
}

const SEED: &str = "0707070707070707070707070707070707070707070707070707070707070707";
const OF_MINI: u64 = 30;

/// One entry of the model. Its pools are in millionths.
fn entry(jackpot: usize, sequence: u64, source: Option<&str>, contributions: Vec<(i64, i64)>) -> Entry {
    Entry {
        jackpot,
        id: format!("e{jackpot}-{sequence}"),
        stake: 100,
        source: source.map(str::to_owned),
        sequence,
        contributions,
        won: None,
        hit: None,
        is_new: true,
        sent_us: sequence * 10,
        answered_us: sequence * 10 + 5,
    }
}

fn whole(micro: i128) -> i64 {
    i64::try_from(micro / MILLION).expect("a small amount")
}

fn rest(micro: i128) -> i64 {
    i64::try_from(micro % MILLION).expect("less than a million")
}

/// What it shows, and what its tiers gave.
fn mini(plan: &Plan, seen: &mut Seen) -> (ShownJackpot, Vec<Moved>) {
    let shares = plan.shares(0, Some("lobby"), 100);
    for sequence in 1..=OF_MINI {
        let (before, now) = (i128::from(sequence - 1), i128::from(sequence));
        let units = |share: i128| whole(share * now) - whole(share * before);
        let contributions = shares
            .iter()
            .map(|share| (units(share.pool) + units(share.reserve), whole(share.pool * now)));
        seen.entries
            .push(entry(0, sequence, Some("lobby"), contributions.collect()));
    }
    let tiers = plan.tiers(0).into_iter().zip(&shares);
    seen.reversals.push(Reversal {
        jackpot: 0,
        entry_id: "e0-1".to_owned(),
        parts: tiers
            .clone()
            .map(|(tier, share)| Reversed {
                tier: tier.to_owned(),
                amount: share.whole(),
                uncovered: 0,
            })
            .collect(),
    });
    let left = i128::from(OF_MINI - 1);
    let given = tiers.clone().map(|(tier, share)| Moved {
        tier: tier.to_owned(),
        to_tier: "grand".to_owned(),
        whole: whole(share.pool * left) + whole(share.reserve * left),
        remainder_micro: rest(share.pool * left) + rest(share.reserve * left),
    });
    let meters = tiers.map(|(tier, share)| Meter {
        tier: tier.to_owned(),
        contributed: whole(share.whole() * (left + 1)),
        reversed: whole(share.whole()),
        transferred_out: whole(share.whole() * left),
        ..Meter::default()
    });
    let shown = ShownJackpot {
        meters: meters.collect(),
        receipts: Ok(BTreeMap::new()),
        cycles: Vec::new(),
        pending: Pending::None { after_ms: 1 },
    };
    (shown, given.collect())
}

/// It gets what `mini` gave into its overflow.
fn network(plan: &Plan, seen: &mut Seen, given: &[Moved]) -> ShownJackpot {
    let ended = cycle(0, SEED);
    let trigger = ended.trigger_amount.expect("an amount");
    let share = plan.shares(1, None, 100)[0].pool;
    let (mut pool, mut paid, mut count) = (0, 0, 0);
    while paid == 0 {
        count += 1;
        let before = pool;
        pool += share;
        let mut entry = entry(1, count, None, vec![(whole(pool) - whole(before), whole(pool))]);
        if whole(pool) >= trigger {
            paid = whole(pool);
            pool = i128::from(rest(pool));
            entry.hit = Some(Hit {
                tier: "grand".to_owned(),
                cycle: 0,
                by: "amount".to_owned(),
                trigger,
            });
            entry.won = Some(Won {
                tier: "grand".to_owned(),
                amount: paid,
                payout_id: "p1".to_owned(),
                claim_order: 1,
            });
        }
        seen.entries.push(entry);
    }
    let last = whole(pool + share);
    seen.entries
        .push(entry(1, count + 1, None, vec![(last - whole(pool), last)]));
    pool += share;
    let exact = |part: &Moved| i128::from(part.whole) * MILLION + i128::from(part.remainder_micro);
    let received: i128 = given.iter().map(exact).sum();
    let receipt = Receipt {
        entry_id: format!("e1-{count}"),
        tier: "grand".to_owned(),
        amount: paid,
        claim_order: 1,
    };
    let open = Cycle {
        ended_by: None,
        seed: None,
        trigger_amount: None,
        ..cycle(1, SEED)
    };
    ShownJackpot {
        meters: vec![Meter {
            tier: "grand".to_owned(),
            pool: whole(pool),
            overflow: whole(received),
            remainder_micro: rest(pool) + rest(received),
            contributed: whole(share * i128::from(count + 1)),
            paid,
            transferred_in: whole(received),
            ..Meter::default()
        }],
        receipts: Ok(BTreeMap::from([("p1".to_owned(), receipt)])),
        cycles: vec![ended, open],
        pending: Pending::None { after_ms: 1 },
    }
}

/// The entry that hit.
pub fn hit(evidence: &mut Evidence) -> &mut Entry {
    let mut entries = evidence.seen.entries.iter_mut();
    entries.find(|entry| entry.hit.is_some()).expect("a hit")
}

pub fn receipts(evidence: &mut Evidence, jackpot: usize) -> &mut BTreeMap<String, Receipt> {
    evidence.shown[jackpot].receipts.as_mut().expect("receipts")
}

/// What this rule finds in a day that was changed: a violation that says `named`.
pub fn found(rule: &str, named: &str, change: impl FnOnce(&mut Evidence)) {
    let mut evidence = day();
    change(&mut evidence);
    violated::<Plan>(rule, named, &evidence);
}

#[test]
fn a_right_day_breaks_no_rule() {
    for finding in finding::judge(RULES, &day()) {
        assert!(matches!(finding.judged, Judged::Held(_)), "{finding:?}");
    }
}
