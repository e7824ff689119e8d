//! Reversals that come before their entries: what they refuse and for which source, what Redis, an export and a restore
//! know of them, and how many a key may have remembered.

use jackpot::jackpot::error::PlayError;
use jackpot::jackpot::play::{By, Played};
use jackpot::jackpot::reverse::{ReversalWish, Round};
use jackpot::jackpot::scripts::{self, EnterEntry, EntryReply, MAX_EARLY};
use jackpot::operator::Operator;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::record::Sent;
use jackpot_core::jackpot::reversal::EarlyCancel;

use crate::jackpot::batch::support::{batch, play};
use crate::jackpot::fixture::{JackpotFixture, operator, rank, sent};
use crate::jackpot::ledger::fixture::JackpotLedger;
use crate::proof::story::export;
use crate::support::prelude::*;

on_both_databases!(a_restore_remembers_what_was_cancelled_before_it_came);

const ALL: [&str; 2] = ["game-1", "game-2"];

fn id(text: &str) -> Id {
    Id::parse(text).expect("an id")
}

/// Entries of `own` come from `game-1`, those of `lobby` from any key.
fn sourced() -> Value {
    json!({"contribution": {"fixed": 3}, "odds": {"total": 1, "ranks": []},
        "sources": {"own": {"keys": ["game-1", "tester"]}, "lobby": {}}})
}

fn from(source: &str) -> Sent {
    Sent {
        source: (!source.is_empty()).then(|| id(source)),
        ..sent("p", 1)
    }
}

impl JackpotFixture {
    /// Cancels the round of an entry that is not there.
    async fn cancel_early(&self, key: &str, entry_id: &str, reversal_id: &str) -> PlayError {
        let wish = ReversalWish {
            entry_id,
            reversal_id: &id(reversal_id),
            reason: "a test",
            by: &Operator {
                who: key.to_owned(),
                ..operator()
            },
            operates: false,
        };
        let nothing = async || Ok::<Option<Round>, PlayError>(None);
        self.operate
            .reverse(&self.id, &wish, nothing)
            .await
            .expect_err("there is no such entry")
    }

    async fn play_as(&self, key: &str, entry_id: &str, source: &str) -> Result<Played, PlayError> {
        let by = By { key, ..By::default() };
        play(self, u64::MAX)
            .enter(&self.id, &id(entry_id), from(source), by)
            .await
    }

    async fn send_batch(&self, key: &str, batch_id: &str, sources: &[&str]) -> Result<u64, PlayError> {
        let sent: Vec<_> = sources.iter().map(|source| from(source)).collect();
        let played = play(self, u64::MAX)
            .enter_batch(&self.id, &batch(batch_id, &sent), key)
            .await;
        played.map(|played| played.record.count)
    }
}

fn is_cancelled<T: std::fmt::Debug>(result: &Result<T, PlayError>, entry: &str, reversal: &str) {
    let right = matches!(result, Err(PlayError::EntryReversed { entry_id, reversal_id })
        if entry_id == entry && reversal_id.as_str() == reversal);
    assert!(right, "{result:?}");
}

#[tokio::test]
async fn an_entry_that_a_cancel_overtook_is_refused_and_counts_nothing() {
    let fixture = JackpotFixture::with(&json!({"odds": {"total": 1, "ranks": []}})).await;
    for (entry_id, reversal_id) in [("e", "r1"), ("e", "r1"), ("e", "r2"), ("b:2", "r3"), ("b:3", "r4")] {
        let refused = fixture.cancel_early("game", entry_id, reversal_id).await;
        assert!(
            matches!(&refused, PlayError::EntryNotFound(id) if id == entry_id),
            "{refused:?}"
        );
    }
    let before = fixture.state().await;
    for _ in 0..2 {
        is_cancelled(&fixture.play_as("game", "e", "").await, "e", "r1");
        is_cancelled(&fixture.send_batch("game", "b", &[""; 3]).await, "b:2", "r3");
        let found = play(&fixture, 0).look_up(&fixture.id, "e").await;
        assert!(matches!(found, Err(PlayError::EntryNotFound(_))), "{found:?}");
    }
    assert_eq!(fixture.state().await, before);
    // Neither id is in it.
    assert_eq!(fixture.send_batch("game", "b", &[""]).await.expect("taken"), 1);
    let ids = ["d", "e", "f", "g", "h"];
    let all = ids.map(|entry_id| EnterEntry {
        entry_id: entry_id.to_owned(),
        sent: sent("p", 1),
        rank: 0,
    });
    let replies = fixture.enter(&all).await.replies;
    for (entry_id, reply) in ids.into_iter().zip(replies) {
        let is_right = match reply {
            EntryReply::Cancelled(_) => entry_id == "e",
            EntryReply::Taken(_) => entry_id != "e",
            _ => false,
        };
        assert!(is_right, "{entry_id}");
    }
    assert_eq!(fixture.snapshot().await.sequence, 5);
    fixture.assert_rebuilds().await;
    let report = export(&fixture).await.verify();
    assert!(report.problems.is_empty(), "{report}");
}

#[tokio::test]
async fn a_cancel_is_for_the_sources_of_its_key() {
    let fixture = JackpotFixture::with(&sourced()).await;
    for (i, entry_id) in ["theirs", "both", "b:1", "b:2", "mixed:2"].into_iter().enumerate() {
        fixture.cancel_early("game-2", entry_id, &format!("r{i}")).await;
    }
    fixture.cancel_early("game-1", "both", "r9").await;
    let forbidden = fixture.cancel_early("game-2", "theirs", "r9").await;
    assert!(matches!(forbidden, PlayError::EntryNotFound(_)), "{forbidden:?}");
    // A key of another source stops nobody, and its records give way, in the generation that has them.
    assert!(
        !fixture
            .play_as("game-1", "theirs", "own")
            .await
            .expect("taken")
            .replayed
    );
    assert_eq!(
        fixture.send_batch("game-1", "b", &["own", "own"]).await.expect("taken"),
        2
    );
    is_cancelled(&fixture.play_as("game-1", "both", "own").await, "both", "r9");
    is_cancelled(&fixture.play_as("game-1", "both", "lobby").await, "both", "r1");
    is_cancelled(
        &fixture.send_batch("game-1", "mixed", &["own", "lobby"]).await,
        "mixed:2",
        "r4",
    );
    let again = fixture.play_as("game-1", "theirs", "own").await.expect("remembered");
    assert!(again.replayed && again.record.sequence == 1, "{again:?}");
    assert!(fixture.reverse("theirs", "r20").await.expect("reversed").0);
    assert!(fixture.reverse("b:2", "r21").await.expect("reversed").0);
    assert_eq!(fixture.snapshot().await.sequence, 3);
    fixture.assert_rebuilds().await;
    // Those of the older generation do too, and are dropped with it.
    fixture.cancel_early("game-2", "old", "r30").await;
    fixture
        .operate
        .rotate_by_retention(&fixture.id, 0)
        .await
        .expect("rotated");
    assert!(!fixture.play_as("game-1", "old", "own").await.expect("taken").replayed);
    fixture.assert_rebuilds().await;
    is_cancelled(&fixture.play_as("game-1", "both", "own").await, "both", "r9");
    fixture
        .operate
        .rotate_by_retention(&fixture.id, 0)
        .await
        .expect("rotated");
    assert!(!fixture.play_as("game-1", "both", "own").await.expect("taken").replayed);
    fixture.assert_rebuilds().await;
    let report = export(&fixture).await.verify();
    assert!(report.problems.is_empty(), "{report}");
}

/// Records change between two sets, and either may be the older one.
#[tokio::test]
async fn a_batch_is_refused_for_a_cancel_of_the_older_generation() {
    let fixture = JackpotFixture::with(&json!({"odds": {"total": 1, "ranks": []}})).await;
    for (batch_id, entry_id, reversal_id) in [("a", "a:2", "r1"), ("b", "b:2", "r2")] {
        fixture.cancel_early("game", entry_id, reversal_id).await;
        fixture
            .operate
            .rotate_by_retention(&fixture.id, 0)
            .await
            .expect("rotated");
        is_cancelled(
            &fixture.send_batch("game", batch_id, &[""; 2]).await,
            entry_id,
            reversal_id,
        );
    }
}

#[tokio::test]
async fn a_winner_replaces_the_cancel_that_is_not_for_its_source() {
    let change = json!({"odds": {"total": 1, "ranks": [rank(1, &json!({"fixed": {"tier": "grand", "amount": 1}}))]}});
    let mut all = sourced();
    all["odds"] = change["odds"].clone();
    let fixture = JackpotFixture::with(&all).await;
    for (entry_id, reversal_id) in [("e", "r1"), ("b:1", "r2"), ("b:2", "r3")] {
        fixture.cancel_early("game-2", entry_id, reversal_id).await;
    }
    assert!(!fixture.play_as("game-1", "e", "own").await.expect("taken").replayed);
    assert_eq!(fixture.send_batch("game-1", "b", &["own"; 3]).await.expect("taken"), 3);
    assert_eq!(fixture.send_batch("game-1", "b", &["own"; 3]).await.expect("known"), 3);
    fixture.assert_rebuilds().await;
    let report = export(&fixture).await.verify();
    assert!(report.problems.is_empty(), "{report}");
}

#[tokio::test]
async fn a_reversal_id_is_of_one_entry_and_one_reason() {
    let fixture = JackpotFixture::with(&json!({"contribution": {"fixed": 3}, "odds": {"total": 1, "ranks": []}})).await;
    for entry_id in ["a", "b"] {
        fixture.take(entry_id, 0).await;
    }
    fixture.cancel_early("game", "early", "r1").await;
    assert!(fixture.reverse("a", "r2").await.expect("reversed").0);
    let before = fixture.state().await;
    for reversal_id in ["r1", "r2"] {
        let reused = fixture.reverse("b", reversal_id).await;
        assert!(matches!(reused, Err(PlayError::ReversalIdReused(_))), "{reused:?}");
    }
    let reused = fixture.cancel_early("game", "later", "r2").await;
    assert!(matches!(reused, PlayError::ReversalIdReused(_)), "{reused:?}");
    assert!(!fixture.reverse("a", "r2").await.expect("repeated").0);
    assert_eq!(fixture.state().await, before);
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn a_key_has_a_limit_of_its_own() {
    let fixture = JackpotFixture::with(&sourced()).await;
    let opened: String = fixture.field("gen_opened").await;
    let full = format!("{opened} game-1 {};game-2 {MAX_EARLY};", MAX_EARLY - 1);
    let set = redis::cmd("HSET")
        .arg(&fixture.keys.state)
        .arg("early")
        .arg(full)
        .to_owned();
    fixture.store.run(&set).await.expect("set");
    for (i, key) in ALL.into_iter().enumerate() {
        let refused = fixture.cancel_early(key, &format!("e{i}"), &format!("r{i}")).await;
        assert_eq!(
            matches!(refused, PlayError::TooManyCancels { .. }),
            key == "game-2",
            "{refused:?}"
        );
    }
    let refused = fixture.cancel_early("game-1", "e3", "r3").await;
    assert!(matches!(refused, PlayError::TooManyCancels { .. }), "{refused:?}");
    fixture
        .operate
        .rotate_by_retention(&fixture.id, 0)
        .await
        .expect("rotated");
    let refused = fixture.cancel_early("game-2", "e4", "r4").await;
    assert!(matches!(refused, PlayError::EntryNotFound(_)), "{refused:?}");
}

/// A service that does not check them could do all of this.
#[tokio::test]
async fn an_export_shows_an_entry_after_its_cancel_and_a_reversal_by_another_key() {
    let fixture = JackpotFixture::with(&sourced()).await;
    fixture.cancel_early("game-1", "e", "r1").await;
    let entry = EnterEntry {
        entry_id: "e".to_owned(),
        sent: from("own"),
        rank: 0,
    };
    let EntryReply::Cancelled(cancels) = fixture.enter(std::slice::from_ref(&entry)).await.replies.remove(0) else {
        panic!("it was cancelled");
    };
    assert_eq!(EarlyCancel::all(&cancels).expect("readable").len(), 1);
    let (known, view) = fixture.fresh().await;
    let (fence, definition) = (known.fence(&view), &view.definition);
    let taken = scripts::enter_despite(&fixture.store, &fixture.keys, &fence, definition, &entry, &cancels).await;
    assert!(matches!(taken.expect("a reply").replies[..], [EntryReply::Taken(_)]));
    // As an operator, whose key is none of the source's.
    fixture.play_as("game-1", "f", "own").await.expect("taken");
    let mut story = export(&fixture).await;
    let n = story.find(|body| body.contains("\"entry\":\"e\""));
    story.edit(n, |fields| {
        let records = fields["records"].replace("e 1", "e 0");
        fields.insert("records".to_owned(), records);
    });
    let report = story.verify().to_string();
    for what in ["was taken after reversal 'r1' of it", "it writes the records"] {
        report.says(what);
    }
}

async fn a_restore_remembers_what_was_cancelled_before_it_came(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &sourced()).await;
    fixture.cancel_early("game-2", "e", "r1").await;
    fixture
        .operate
        .rotate_by_retention(&fixture.id, 0)
        .await
        .expect("rotated");
    fixture.cancel_early("game-1", "e", "r2").await;
    fixture.cancel_early("game-2", "b:2", "r3").await;
    fixture.cancel_early("game-2", "replaced", "r4").await;
    fixture.play_as("game-1", "replaced", "own").await.expect("taken");
    fixture.project().await;
    fixture.wipe().await;
    fixture.heal().await;
    is_cancelled(&fixture.play_as("game-1", "e", "lobby").await, "e", "r1");
    is_cancelled(&fixture.play_as("game-1", "e", "own").await, "e", "r2");
    is_cancelled(&fixture.send_batch("game-1", "b", &["lobby"; 2]).await, "b:2", "r3");
    assert!(
        fixture
            .play_as("game-1", "replaced", "own")
            .await
            .expect("known")
            .replayed
    );
    fixture.project().await;
    fixture.assert_complete().await;
}
