//! Passes that are taken back, passes that Redis lost, and a room restored from the ledger.

use jackpot::operator::Operator;
use jackpot::room::known::OrderOf;
use jackpot::room::scripts::{self, End, RestoredState, ScriptError, Visit};
use jackpot::subject::restore::{RestoreBegun, RestoreEnded, restore_begin};
use jackpot_api::room::Status;
use jackpot_core::mark::Mark;

use crate::room::fixture::{RoomFixture, ahead, definition, end_of, ended, is_in};
use crate::support::prelude::*;

#[tokio::test]
async fn who_leaves_from_within_is_on_the_list_until_the_pass_expires() {
    let fixture = RoomFixture::with(&json!({"capacity": 2, "session_s": 100})).await;
    let [a, b, waits] = fixture.joined(["a", "b", "c"]).await.try_into().expect("three");
    let visits = [waits.ticket, a.ticket, b.ticket].map(Visit::Leave);
    let visited = fixture.visit(&visits).await;
    assert_eq!(visited.counts.left, 3);
    let revoked = fixture.revoked(0).await;
    let expected = [(a.ticket, end_of(&a)), (b.ticket, end_of(&b))];
    let items: Vec<_> = revoked.items.iter().map(|pass| (pass.ticket, pass.exp_ms)).collect();
    assert_eq!(items, expected, "who only waited had no pass");
    let numbers: Vec<_> = revoked.items.iter().map(|pass| pass.number).collect();
    assert_eq!(numbers, [3, 4]);
    assert_eq!((revoked.passes, revoked.last, revoked.complete), (4, 4, true));
    assert_eq!(visited.revocations, 4);
    let page = scripts::revoked(&fixture.store, &fixture.known, 0, 1)
        .await
        .expect("a reply");
    assert_eq!((page.items.len(), page.last, page.complete), (1, 3, false));
    let rest = fixture.revoked(page.last).await;
    assert_eq!((&rest.items[..], rest.complete), (&revoked.items[1..], true));
    assert!(fixture.revoked(rest.last).await.items.is_empty());
    fixture.pass(101).await;
    fixture.tick().await;
    let revoked = fixture.revoked(0).await;
    assert!(revoked.items.is_empty());
    assert_eq!((revoked.last, revoked.complete), (4, true));
}

#[tokio::test]
async fn where_passes_were_lost_nobody_comes_in_until_the_last_has_expired() {
    let fixture = RoomFixture::with(&json!({"capacity": 2, "session_s": 100})).await;
    let [a, waits] = fixture.joined(["a", "b"]).await.try_into().expect("two");
    fixture.one(Visit::Leave(waits.ticket)).await;
    fixture.define(&json!({"capacity": 2, "session_s": 20})).await;
    fixture.known.hear_passes(9);
    let visits = [
        Visit::Look(a.ticket),
        Visit::Renew(a.ticket),
        fixture.join("c"),
        fixture.join("a"),
    ];
    let visited = fixture.visit(&visits).await;
    let hold_ms = visited.hold_ms.expect("a hold");
    let longest_end = visited.now_ms + 100_000;
    assert!((longest_end - 5_000..longest_end + 1_000).contains(&hold_ms) && hold_ms % 1_000 == 0);
    assert_eq!((visited.passes, fixture.snapshot().await.hold_ms), (10, Some(hold_ms)));
    let places: Vec<_> = visited.replies.into_iter().map(crate::room::fixture::seen).collect();
    assert_eq!(places.iter().map(is_in).collect::<Vec<_>>(), [true, true, false, true]);
    assert_eq!(ahead(&places[2]), 0);
    // The same loss counts once: the hold stays where it is.
    assert_eq!(fixture.tick().await.hold_ms, Some(hold_ms));
    fixture.pass(50).await;
    fixture.one(Visit::Look(places[2].ticket)).await;
    fixture.pass(49).await;
    assert!(!is_in(&fixture.one(Visit::Look(places[2].ticket)).await));
    fixture.pass(2).await;
    let visited = fixture.tick().await;
    assert_eq!((visited.hold_ms, visited.counts.active), (None, 1));
    assert!(is_in(&fixture.one(Visit::Look(places[2].ticket)).await));
    assert_eq!(ended(&fixture.one(Visit::Look(a.ticket)).await), End::Expired);
}

fn order(nonce: &str, digit: &str) -> OrderOf {
    OrderOf {
        nonce: nonce.to_owned(),
        commitment: digit.repeat(64),
    }
}

fn state(restores: u64) -> RestoredState {
    let definition = definition(&json!({"session_s": 40, "opens_at": "2020-01-01T00:00:00Z"}));
    RestoredState {
        n: 7,
        restores,
        status: Status::Open,
        history: "0123456789abcdef".to_owned(),
        version: 3,
        json: definition.to_json(),
        definition,
        order: order("0a", "c"),
        next_order: order("0b", "d"),
        passes_until_ms: 0,
        clock_ms: 0,
        collected_sha256: Some("a".repeat(64)),
        puts: "abc created 1;".to_owned(),
        lost_events: false,
    }
}

async fn end(fixture: &RoomFixture, token: &str, state: &RestoredState) -> Result<RestoreEnded, ScriptError> {
    let by = Operator {
        who: "tester".to_owned(),
        owner: "tester".to_owned(),
        request_id: "r".to_owned(),
    };
    scripts::restore_end(&fixture.store, &fixture.keys, token, state, &by, "a test").await
}

#[tokio::test]
async fn a_restored_room_has_no_tickets_and_waits_for_the_passes_that_are_out() {
    let fixture = RoomFixture::with(&json!({})).await;
    let lost = fixture.joined(["a", "b", "c"]).await;
    let seen = fixture.snapshot().await.mark;
    let begun = restore_begin(&fixture.store, fixture.keys.all(), "t", Some(seen), None).await;
    assert!(matches!(begun.expect("a reply"), RestoreBegun::Begun { .. }));
    let restoring = fixture.try_visit(&[]).await;
    assert!(matches!(restoring, Err(ScriptError::Restoring)), "{restoring:?}");
    let other = end(&fixture, "other", &state(2)).await.expect("a reply");
    assert_eq!(other, RestoreEnded::Other);
    let mark = Mark::new(3, 8).expect("a mark");
    for _ in 0..2 {
        let done = end(&fixture, "t", &state(2)).await.expect("a reply");
        assert_eq!(done, RestoreEnded::Done(mark));
    }
    let event = fixture.last_event("restore").await;
    let told = ["n", "from_n", "restores", "records", "status"].map(|field| event[field].as_str());
    assert_eq!(told, ["8", "1", "3", "0", "open"]);
    let snapshot = fixture.snapshot().await;
    assert_eq!((snapshot.mark, snapshot.version, snapshot.defined), (mark, 3, 7));
    assert_eq!(
        (snapshot.order.clone(), snapshot.collected_sha256.clone()),
        (order("0a", "c"), Some("a".repeat(64))),
        "what has opened keeps its order"
    );
    assert_eq!(snapshot.counts, scripts::Counts::default());

    let visited = fixture.visit(&[Visit::Look(lost[0].ticket), fixture.join("a")]).await;
    assert_eq!(visited.replies[0], scripts::VisitReply::Unknown);
    assert!(!is_in(&crate::room::fixture::seen(visited.replies[1].clone())));
    let hold_ms = visited.hold_ms.expect("a hold");
    assert!(
        (39_000..=41_000).contains(&(hold_ms - visited.now_ms)),
        "what this instance knew adds nothing to it"
    );
    assert!(visited.passes > 1 << 40, "numbers above all that there were");
    fixture.pass(51).await;
    assert_eq!(fixture.tick().await.counts.active, 1);
}
