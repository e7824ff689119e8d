//! Promise 13, and the checks of money and history that come with it. `jackpot verify` finds nothing wrong in what the
//! scripts wrote, and names the place of every change.

mod batch;
mod by_stake;
mod pre_queue;
mod restored;
mod rng;
mod secrets;
pub mod story;
mod transfers;

use jackpot::proof::verify::{Place, Report, Trusted, VerifyError, verify};

use story::{Story, play};

use crate::support::prelude::*;

/// The report names something wrong at `place`, in these words.
pub fn names(report: &Report, place: &Place, what: &str) {
    let found = report
        .problems
        .iter()
        .any(|p| p.place == *place && p.what.contains(what));
    assert!(found, "{place}: {what}\n{report}");
}

/// The report names this change of the story.
fn tampered(story: &Story, change: impl FnOnce(&mut Story), place: &Place, what: &str) {
    let mut story = story.clone();
    change(&mut story);
    names(&story.verify(), place, what);
}

#[tokio::test]
async fn an_honest_export_is_right_and_everything_in_it_is_checked() {
    let story = play().await;
    let report = story.verify();
    assert!(report.is_right(), "{report}");
    let counts = &report.counts;
    let events = story.lines.iter().filter(|line| line["kind"] == "event").count() as u64;
    let receipts = story.lines.iter().filter(|line| line["kind"] == "receipt").count() as u64;
    assert_eq!((counts.events, counts.replayed), (events, events));
    assert_eq!((counts.receipts, counts.signatures), (receipts, receipts + 1));
    let entries = story.entries();
    assert_eq!((counts.entries, counts.draws), (entries, entries - 40));
    assert!(counts.steps > 0 && counts.epochs == 1 && receipts > 20, "{report}");
    let text = report.to_string();
    text.says("draws of 40 entries of epoch 2: it is open");
    text.says("entries without a client_seed");
    let kept = vec![story.head_at(1), story.head_at(events / 2), story.head_at(events)];
    assert!(story.verify_with(kept).is_right());
    // Entries of the closed epoch are pending, so nobody may know its seed yet.
    let mut held = story.clone();
    held.lines[1]["seed"] = json!(null);
    let report = held.verify();
    assert!(report.is_right() && report.lacking.is_empty(), "{report}");
}

#[tokio::test]
async fn a_changed_history_is_named_at_its_first_event() {
    let story = play().await;
    let n = story.find(|body| body.contains("\"type\":\"enter\"")) + 3;
    let at = story.event(n);
    let byte = |story: &mut Story| {
        let body = story.lines[at]["body"]
            .as_str()
            .expect("a body")
            .replacen("500", "501", 1);
        let body = body.replacen("\"player", "\"Player", 1);
        story.lines[at]["body"] = json!(body.replacen("\"at\":\"1", "\"at\":\"2", 1));
    };
    tampered(&story, byte, &Place::Event(n), "it was changed, or one before it");
    tampered(
        &story,
        |s| drop(s.lines.remove(at)),
        &Place::Event(n + 1),
        &format!("event {n} is missing before it"),
    );
    let next = story.event(n + 1);
    tampered(
        &story,
        |s| s.lines.swap(at, next),
        &Place::Event(n + 1),
        &format!("event {n} is missing before it"),
    );
    tampered(
        &story,
        |s| s.lines.insert(at, s.lines[at].clone()),
        &Place::Event(n),
        "repeated or out of order",
    );
    // A party with the key and the database can chain and sign another history. A head that was kept reveals it.
    let mut other = story.clone();
    other.edit(1, |fields| {
        fields.insert("request_id".to_owned(), "another".to_owned());
    });
    other.close();
    assert!(other.verify().is_right(), "nothing that is checked without a kept head");
    names(
        &other.verify_with(vec![story.head_at(n)]),
        &Place::KeptHead,
        "the history was rewritten",
    );
    let mut short = story.clone();
    let last = short
        .lines
        .iter()
        .rposition(|line| line["kind"] == "event")
        .expect("events");
    short.lines.remove(last);
    short.close();
    names(
        &short.verify_with(vec![story.head_at(story.lines[last]["n"].as_u64().unwrap())]),
        &Place::KeptHead,
        "does not have",
    );
}

#[tokio::test]
async fn money_and_draws_are_recomputed_also_when_the_chain_was_made_anew() {
    let story = play().await;
    let closed = |story: &Story, n, change: &dyn Fn(&str) -> String, field: &str| {
        let mut story = story.clone();
        story.edit(n, |fields| {
            let value = fields.get_mut(field).expect("the field");
            let after = change(value);
            assert_ne!(*value, after, "the test changes something");
            *value = after;
        });
        story.close();
        story.verify()
    };
    let paid = story.find(|body| body.contains(",paid,") && body.contains("\"count\":\"1\""));
    // An amount is changed, and with it the meters, so that they still sum to zero.
    let more = |claims: &str| {
        let mut parts = claims.split(',').map(str::to_owned).collect::<Vec<_>>();
        parts[5] = (parts[5].parse::<u64>().expect("an amount") + 1).to_string();
        parts.join(",")
    };
    names(
        &closed(&story, paid, &more, "claims"),
        &Place::Event(paid),
        "the event says otherwise",
    );
    let shifted = |meters: &str| {
        let part = meters
            .split([' ', ',', ';'])
            .find(|part| part.starts_with("paid:"))
            .expect("paid")
            .to_owned();
        let value = part["paid:".len()..].parse::<i64>().expect("a number") + 1;
        meters.replacen(&part, &format!("paid:{value}"), 1)
    };
    let report = closed(&story, paid, &shifted, "meters");
    names(&report, &Place::Event(paid), "do not sum to zero");
    names(&report, &Place::Event(paid), "it leaves paid of tier");
    // A win for an entry that drew nothing, and none for one that won.
    let call = story.find(|body| body.contains("\"count\":\"25\"") && body.contains(",paid,"));
    let first: u64 = story.field(call, "first").parse().expect("a sequence");
    let other = |claims: &str| {
        let (sequence, rest) = claims.split_once(',').expect("a claim");
        let sequence: u64 = sequence.parse().expect("a sequence");
        let other = if sequence > first { sequence - 1 } else { sequence + 1 };
        format!("{other},{rest}")
    };
    names(
        &closed(&story, call, &other, "claims"),
        &Place::Event(call),
        "draws rank",
    );
    let report = closed(&story, call, &|_| String::new(), "claims");
    names(&report, &Place::Event(call), "it claims rank 0 on attempt 0");
    // A changed contribution, and an attempt that was left out.
    let stakes = |block: &str| block.replacen(" 500 ", " 99500 ", 1);
    let entry = story.find(|body| body.contains(" 500 "));
    names(
        &closed(&story, entry, &stakes, "block"),
        &Place::Event(entry),
        "field 'amounts'",
    );
    let mut same = story.clone();
    same.edit(entry, |fields| {
        let amounts = &fields["amounts"];
        let row = amounts.split_inclusive(';').find_map(|row| row.strip_prefix("500="));
        let amounts = format!("{amounts}99500={}", row.expect("of this stake"));
        fields.insert("block".to_owned(), stakes(&fields["block"]));
        fields.insert("amounts".to_owned(), amounts);
    });
    same.close();
    names(&same.verify(), &Place::Event(entry), "contributes");
    names(&same.verify(), &Place::Event(entry), "the amounts of stake 99500");
    let finish = story.find(|body| body.contains("\"type\":\"finish\""));
    let report = closed(&story, finish, &|attempt| format!("{attempt}1"), "attempt");
    names(&report, &Place::Event(finish), "draws rank 0 on attempt");
}

#[tokio::test]
async fn receipts_seeds_and_the_end_of_the_file_are_checked() {
    let story = play().await;
    let kind = |kind: &str| {
        story
            .lines
            .iter()
            .position(|line| line["kind"] == kind)
            .expect("such a line")
    };
    let receipt = kind("receipt");
    let id = story.lines[receipt]["payout_id"].as_str().expect("an id").to_owned();
    let event = story.lines[..receipt]
        .iter()
        .rfind(|line| line["kind"] == "event")
        .expect("an event");
    let event = Place::Event(event["n"].as_u64().expect("n"));
    let place = Place::Receipt(id);
    let other = story.lines[receipt]["amount"].as_u64().expect("an amount") + 1;
    let amount = |s: &mut Story| s.lines[receipt]["amount"] = json!(other);
    tampered(&story, amount, &place, "the signature does not match");
    tampered(&story, amount, &place, &format!("its amount is {other}"));
    tampered(&story, |s| drop(s.lines.remove(receipt)), &event, "has no receipt");
    tampered(
        &story,
        |s| s.lines.insert(receipt, s.lines[receipt].clone()),
        &place,
        "paid no such claim",
    );
    let epoch = kind("epoch");
    let seed = |s: &mut Story| s.lines[epoch]["seed"] = json!("5f".repeat(32));
    tampered(
        &story,
        seed,
        &Place::Epoch(1),
        "its seed is not the one of its commitment",
    );
    let commitment = |s: &mut Story| s.lines[epoch]["commitment"] = json!("5f".repeat(32));
    tampered(&story, commitment, &Place::Epoch(1), "not those of the events");
    let last = story.lines.len() as u64;
    tampered(&story, |s| drop(s.lines.pop()), &Place::Line(last - 1), "cut off");
    let more = |s: &mut Story| s.lines.push(s.lines[epoch].clone());
    tampered(&story, more, &Place::Line(last + 1), "after the head");
    tampered(
        &story,
        |s| s.lines.last_mut().unwrap()["n"] = json!(1),
        &Place::Head,
        "the signature does not match",
    );
    let text = story.text();
    let half = verify(&text.as_bytes()[..text.len() / 2], Trusted::default()).expect("an export");
    assert!(half.problems.iter().any(|p| p.what.contains("cut off")), "{half}");
    // Without the auditor's own keys the report says so, and with other keys nothing counts as signed.
    let alone = verify(text.as_bytes(), Trusted::default()).expect("an export");
    assert!(alone.is_right() && alone.unchecked[0].contains("taken from the export itself"));
    let none = Trusted {
        keys: Some(jackpot_core::signing::Jwks::default()),
        ..Trusted::default()
    };
    let report = verify(text.as_bytes(), none).expect("an export");
    names(&report, &place, "there is no key with the id");
    assert!(matches!(
        verify(&b"{}\n"[..], Trusted::default()),
        Err(VerifyError::NoExport(_))
    ));
}
