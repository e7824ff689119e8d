//! Batches in an export: the verifier recomputes what their events state, also when the chain was made anew.

use jackpot::proof::verify::{Place, Report};

use super::names;
use super::story::{Story, export_of};
use crate::jackpot::batch::ledger::{entries, eventful};
use crate::jackpot::batch::oracle::{batched, play_singly};
use crate::jackpot::fixture::{JackpotFixture, operator};

/// Two batches, a definition that comes into force within the first, and the epoch closed.
async fn play() -> Story {
    let fixture = JackpotFixture::with(&eventful(300)).await;
    fixture.fund("first", 30).await;
    fixture.define(&eventful(60)).await;
    for (batch_id, count) in [("b1", 120), ("b2", 30)] {
        play_singly(&fixture, batch_id, &entries(count), &[].into()).await;
    }
    let by = operator();
    let end = fixture.operate.end_epoch(&fixture.id, "a test".to_owned(), &by);
    end.await.expect("rotated");
    let singles = fixture.stream().await;
    export_of(&fixture, batched(&batched(&singles, "b1"), "b2")).await
}

/// The report after this change of a field, with the chain made anew.
fn changed(story: &Story, n: u64, field: &str, change: impl Fn(&str) -> String) -> Report {
    let mut story = story.clone();
    story.edit(n, |fields| {
        let value = fields.get_mut(field).expect("the field");
        let after = change(value);
        assert_ne!(*value, after, "the test changes something");
        *value = after;
    });
    story.close();
    story.verify()
}

#[tokio::test]
async fn an_export_with_batches_is_right_and_all_of_it_is_checked() {
    let story = play().await;
    let report = story.verify();
    assert!(report.is_right(), "{report}");
    let counts = &report.counts;
    assert_eq!((counts.entries, counts.draws), (150, 150));
    assert_eq!(counts.replayed, counts.events);
    assert!(counts.steps > 5 && counts.claims > 25, "{report}");
    assert!(
        report.unchecked.iter().all(|what| !what.contains("draws of")),
        "{report}"
    );
}

#[tokio::test]
async fn whatever_the_event_of_a_batch_states_is_recomputed() {
    let story = play().await;
    let first = story.find(|body| body.contains("\"batch\":\"b1\""));
    let other = story.find(|body| body.contains("\"batch\":\"b2\""));
    let says = |n: u64, field: &str, change: &dyn Fn(&str) -> String, what: &str| {
        names(&changed(&story, n, field, change), &Place::Event(n), what);
    };
    // A pool at the beginning of a run, which moves all later pools.
    let pool = |runs: &str| {
        let (index, rest) = runs.split_once(':').expect("a run");
        let (pool, rest) = rest.split_once(',').expect("a place");
        format!("{index}:{},{rest}", pool.parse::<u64>().expect("a pool") + 1)
    };
    says(first, "runs", &pool, "the runs of batch 'b1'");
    says(first, "runs", &pool, "the event says otherwise");
    // A run that is said to begin where none begins.
    let more = |runs: &str| {
        let (index, rest) = runs.split_once(':').expect("a run");
        let place = rest.split_once(';').expect("a place").0;
        format!(
            "{index}:{place};{}:{place};{}",
            2,
            &runs[runs.find(';').expect("an end") + 1..]
        )
    };
    says(first, "runs", &more, "the runs of batch 'b1'");
    says(
        first,
        "amounts",
        &|amounts| amounts.replacen(",0,", ",1,", 1),
        "the amounts of stake",
    );
    says(
        first,
        "amounts",
        &|amounts| format!("{amounts}9=0,0,0,0/0,0,0,0;"),
        "amounts that nobody sent",
    );
    says(
        first,
        "record",
        &|record| record.rsplit_once(',').expect("winners").0.to_owned(),
        "the record of batch 'b1'",
    );
    says(
        first,
        "record",
        &|record| record.replacen("grand+", "grand+1", 1),
        "the record of batch 'b1'",
    );
    names(
        &changed(&story, first, "block", |block| block.replacen("p0", "p9", 1)),
        &Place::Event(first),
        "the record of batch 'b1'",
    );
    let report = changed(&story, other, "batch", |_| "b1".to_owned());
    names(&report, &Place::Event(other), "batch id 'b1' was taken before");
    names(&report, &Place::Event(other), "entry id 'b1:1' was taken before");
}

#[tokio::test]
async fn all_attempts_of_a_batch_are_drawn_again() {
    let story = play().await;
    let n = story.find(|body| body.contains("\"batch\":\"b1\""));
    let says = |change: &dyn Fn(&[&str]) -> Vec<String>, what: &str| {
        let change = |claims: &str| change(&claims.split_inclusive(';').collect::<Vec<_>>()).concat();
        names(&changed(&story, n, "claims", change), &Place::Event(n), what);
    };
    let without = |what: &'static str| {
        move |claims: &[&str]| {
            let at = claims
                .iter()
                .position(|claim| claim.contains(what))
                .expect("such a claim");
            claims
                .iter()
                .enumerate()
                .filter(|(i, _)| *i != at)
                .map(|(_, claim)| (*claim).to_owned())
                .collect()
        }
    };
    let with = |what: &'static str, field: usize, value: &'static str| {
        move |claims: &[&str]| {
            let at = claims
                .iter()
                .position(|claim| claim.contains(what))
                .expect("such a claim");
            let mut all: Vec<_> = claims.iter().map(|claim| (*claim).to_owned()).collect();
            let mut parts: Vec<_> = claims[at].split(',').collect();
            parts[field] = value;
            all[at] = parts.join(",");
            all
        }
    };
    says(&without(",0,none;"), "left in the middle of its attempts");
    says(&without(",retry,"), "draws rank");
    // Rank 4 takes from `mini`. Without a take of all of `grand`, nothing after the new definition could be replayed.
    says(&without(",4,paid,"), "the event says otherwise");
    says(&with(",0,none;", 1, "9"), "draws rank 0 on attempt");
    says(&with(",retry,", 2, "9"), "draws rank");
    says(&with(",retry,", 5, "999999;"), "the event says otherwise");
    says(&with(",paid,", 5, "999"), "the event says otherwise");
}
