//! What the subscriber got, against the ledger and the answers.

use std::collections::BTreeMap;

use crate::finding::Judged;
use crate::jackpot::Receipt;
use crate::market::evidence::Evidence;
use crate::subscriber::{Read, Subject};

pub fn delivered(evidence: &Evidence) -> Judged {
    let read = match &evidence.delivered {
        Ok(read) => read,
        Err(why) => return Judged::NotChecked(why.clone()),
    };
    if let Some(first) = read.got.wrong.first() {
        return Judged::Violated(format!("{first} ({} in all)", read.got.wrong.len()));
    }
    let ours: Vec<String> = (0..evidence.shown.len())
        .map(|jackpot| evidence.plan.subject(jackpot))
        .collect();
    if let Some(unknown) = read.got.subjects.keys().find(|subject| !ours.contains(subject)) {
        return Judged::Violated(format!("{unknown} is no subject of the subscription"));
    }
    let none = Subject::default();
    for (jackpot, name) in ours.iter().enumerate() {
        let of = read.got.subjects.get(name).unwrap_or(&none);
        let compared = dense(of, read, name)
            .and_then(|()| entries(evidence, jackpot, of))
            .and_then(|()| reversals(evidence, jackpot, of));
        if let Err(what) = compared {
            return Judged::Violated(format!("{name}: {what}"));
        }
        let receipts = match &evidence.shown[jackpot].receipts {
            Ok(receipts) => receipts,
            Err(why) => return Judged::NotChecked(why.clone()),
        };
        if let Err(what) = payouts(receipts, of) {
            return Judged::Violated(format!("{name}: {what}"));
        }
    }
    Judged::Held(over(read))
}

/// Numbers from 1 on, and from 0 on within each, up to the head of the ledger.
fn dense(of: &Subject, read: &Read, name: &str) -> Result<(), String> {
    let mut last = (0, 0);
    for place in &of.places {
        let goes_on = last.0 > 0 && *place == (last.0, last.1 + 1);
        if !goes_on && *place != (last.0 + 1, 0) {
            return Err(format!("event {}, {} follows {}, {}", place.0, place.1, last.0, last.1));
        }
        last = *place;
    }
    let head = read.heads.get(name).copied().unwrap_or_default();
    if last.0 >= head {
        return Ok(());
    }
    let error = read.last_error.as_deref().unwrap_or("no error");
    Err(format!(
        "the ledger ends with event {head}, the last one that came is {} ({error})",
        last.0
    ))
}

fn entries(evidence: &Evidence, jackpot: usize, of: &Subject) -> Result<(), String> {
    let mut came = of.entries.iter();
    for entry in evidence.entries(jackpot) {
        let found = came.next().map(|taken| {
            (
                taken.sequence,
                taken.entry_id.as_str(),
                taken.stake,
                taken.source_id.as_deref(),
            )
        });
        if found != Some((entry.sequence, &entry.id, entry.stake, entry.source.as_deref())) {
            return Err(format!(
                "entry {} is {}, an event has {found:?}",
                entry.sequence, entry.id
            ));
        }
    }
    match came.next() {
        Some(more) => Err(format!("nobody played entry {} ({})", more.sequence, more.entry_id)),
        None => Ok(()),
    }
}

/// Each payout of the ledger, one by one.
fn payouts(receipts: &BTreeMap<String, Receipt>, of: &Subject) -> Result<(), String> {
    for paid in &of.payouts {
        let (came, kept) = (&paid.receipt, receipts.get(&paid.payout_id));
        if kept != Some(came) {
            return Err(format!(
                "payout {} came as {came:?}, the ledger has {kept:?}",
                paid.payout_id
            ));
        }
    }
    let mut ids: Vec<_> = of.payouts.iter().map(|paid| paid.payout_id.as_str()).collect();
    ids.sort_unstable();
    if ids.iter().copied().eq(receipts.keys().map(String::as_str)) {
        return Ok(());
    }
    let missing = receipts.keys().find(|id| ids.binary_search(&id.as_str()).is_err());
    Err(match missing {
        Some(missing) => format!("payout {missing} did not come"),
        None => format!("{} payouts came, the ledger has {}", ids.len(), receipts.len()),
    })
}

fn reversals(evidence: &Evidence, jackpot: usize, of: &Subject) -> Result<(), String> {
    let seen = evidence
        .seen
        .reversals
        .iter()
        .filter(|reversal| reversal.jackpot == jackpot);
    let mut seen: Vec<_> = seen.map(|reversal| &reversal.entry_id).collect();
    let mut came: Vec<_> = of.reversed.iter().collect();
    seen.sort_unstable();
    came.sort_unstable();
    if seen == came {
        Ok(())
    } else {
        Err(format!("{} rounds were cancelled, {} came", seen.len(), came.len()))
    }
}

fn over(read: &Read) -> String {
    let got = &read.got;
    let sum = |count: fn(&Subject) -> usize| got.subjects.values().map(count).sum::<usize>();
    format!(
        "{} events with {} entries and {} payouts, nothing missing; {} repeats, subscriber killed {} times, lag 0 after {} ms",
        got.delivered(),
        sum(|of| of.entries.len()),
        sum(|of| of.payouts.len()),
        got.repeats,
        read.kills,
        read.caught_up_ms
    )
}

#[cfg(test)]
mod tests {
    use crate::finding::Judged;
    use crate::market::check::fixture::{day, found, got};

    #[test]
    fn a_lost_event_or_another_order_is_found() {
        found("events-out", "event 3, 0 follows 1, 0", |evidence| {
            got(evidence, 0).places.remove(1);
        });
        found("events-out", "follows", |evidence| got(evidence, 0).places.swap(3, 4));
        found("events-out", "event 2, 0 follows 2, 0", |evidence| {
            let places = &mut got(evidence, 0).places;
            places.insert(1, places[1]);
        });
        found("events-out", "the last one that came is", |evidence| {
            got(evidence, 1).places.pop();
        });
        found("events-out", "the ledger ends with event", |evidence| {
            *got(evidence, 1) = crate::subscriber::Subject::default();
        });
    }

    #[test]
    fn an_altered_event_is_found() {
        found("events-out", "an event has", |evidence| {
            got(evidence, 0).entries[7].stake += 1;
        });
        found("events-out", "an event has", |evidence| {
            got(evidence, 0).entries[7].source_id = None;
        });
        found("events-out", "an event has None", |evidence| {
            got(evidence, 0).entries.pop();
        });
        found("events-out", "nobody played", |evidence| {
            let entries = &mut got(evidence, 0).entries;
            entries.push(entries[0].clone());
        });
        found("events-out", "the ledger has Some", |evidence| {
            got(evidence, 1).payouts[0].receipt.amount += 1;
        });
        found("events-out", "the ledger has None", |evidence| {
            got(evidence, 1).payouts[0].payout_id.push('x');
        });
        found("events-out", "did not come", |evidence| {
            got(evidence, 1).payouts.clear();
        });
        found("events-out", "2 payouts came", |evidence| {
            let payouts = &mut got(evidence, 1).payouts;
            payouts.push(payouts[0].clone());
        });
        found("events-out", "rounds were cancelled", |evidence| {
            got(evidence, 0).reversed.clear();
        });
    }

    #[test]
    fn what_nobody_subscribed_to_and_what_is_wrong_is_found() {
        found("events-out", "no subject", |evidence| {
            let read = evidence.delivered.as_mut().expect("a subscriber");
            read.got.subjects.entry("jackpot:other".to_owned()).or_default();
        });
        found("events-out", "odd (1 in all)", |evidence| {
            let read = evidence.delivered.as_mut().expect("a subscriber");
            read.got.wrong.push("odd".to_owned());
        });
        let mut evidence = day();
        evidence.delivered = Err("refused".to_owned());
        assert_eq!(super::delivered(&evidence), Judged::NotChecked("refused".to_owned()));
    }
}
