//! Redis rebuilt from the ledger, after it lost all or some of a room. What operators set is there again, tickets are
//! not. Nobody comes in before every pass that may still be valid has expired.

use jackpot::ledger::restore::{Replace, RestoreError};
use jackpot::room::scripts::{self, Define, ScriptError, Visit, VisitReply, Wanted};
use jackpot::subject::restore::{RestoreBegun, restore_begin};
use jackpot_api::room::Status;
use jackpot_core::mark::Mark;

use crate::room::fixture::{RETENTION_MS, ahead, definition, is_in};
use crate::room::ledger::fixture::{RoomLedger, live, sha256};
use crate::support::given::operator;
use crate::support::prelude::*;

on_both_databases!(
    a_redis_that_lost_all_is_rebuilt_as_operators_had_it,
    nobody_comes_in_before_the_passes_that_are_out_have_expired,
    sessions_that_the_ledger_does_not_know_are_waited_for,
    a_room_that_has_not_opened_is_not_held,
    an_older_copy_is_brought_up_to_date,
    an_older_copy_with_all_events_is_waited_for_once,
    a_restore_that_died_is_ended_by_the_next,
    a_lost_room_lets_nobody_in,
    what_is_not_lost_is_not_replaced,
    a_room_that_has_opened_does_not_open_again,
);

/// The fields of the state that operators decide.
async fn shown(fixture: &RoomLedger) -> Vec<Option<String>> {
    let fields = "json version status puts capacity session waiting_timeout rate opens_at \
                  collected_sha256";
    let mut read = redis::cmd("HMGET");
    read.arg(&fixture.keys.state);
    for field in fields.split_whitespace() {
        read.arg(field);
    }
    let told: Vec<Option<String>> = fixture.raw(&mut read).await;
    assert!(told.iter().all(Option::is_some), "{told:?}");
    told
}

async fn a_redis_that_lost_all_is_rebuilt_as_operators_had_it(db: LedgerDb) {
    let fixture = RoomLedger::with(db, &json!({"opens_at": "2099-01-01T00:00:00Z"})).await;
    for restores in 1..=2_u64 {
        let change = json!({"opens_at": "2098-01-01T00:00:00Z", "admissions_per_minute": 7, "capacity": restores});
        fixture.define(&change).await;
        fixture.project().await;
        let (before, order) = (shown(&fixture).await, fixture.snapshot().await.values.order);
        fixture.joined(["u1"]).await;
        fixture.wipe().await;
        fixture.heal().await;
        assert_eq!(shown(&fixture).await, before);
        fixture.assert_complete().await;
        let restored = fixture.snapshot().await;
        // A reader of the seed that was published in the lost time knows nothing of this one.
        assert_ne!(
            (&restored.order.nonce, &restored.order.commitment),
            (&order.nonce, &order.commitment)
        );
        assert_eq!(restored.order.commitment, fixture.seed().commitment());
        let joined = fixture.joined(["u1"]).await;
        assert_eq!((ahead(&joined[0]), fixture.collected().await.items.len()), (0, 1));
        assert_eq!(restored.mark.restores(), restores);
        assert_eq!(fixture.metric("ledger_restores_total"), restores.to_string());
        let ids = fixture.kind.registry.ids(None, 9).await.expect("readable");
        assert_eq!(ids, std::slice::from_ref(&fixture.id));
    }
    let audit = fixture.own_rows("audit", "action target who", "n").await;
    let restored = ["restore", fixture.id.as_str(), "service"];
    assert_eq!(audit.iter().filter(|row| **row == restored).count(), 2, "{audit:?}");
    fixture.project().await;
    assert!(fixture.report().await.clean);
}

async fn nobody_comes_in_before_the_passes_that_are_out_have_expired(db: LedgerDb) {
    let fixture = RoomLedger::with(db, &json!({"capacity": 1, "session_s": 30})).await;
    // Passes of the definition before may still be valid.
    fixture.define(&json!({"capacity": 1, "session_s": 5})).await;
    let lost = fixture.joined(["u1", "u2"]).await;
    let known = fixture.tick().await.passes;
    assert!(is_in(&lost[0]) && !is_in(&lost[1]) && known > 0);
    fixture.project().await;
    fixture.wipe().await;
    fixture.heal().await;
    fixture.project().await;
    assert!(fixture.report().await.clean);
    let events = fixture.events().await;
    let (_, restore) = events.iter().find(|(kind, _)| kind == "restore").expect("restored");
    let at: i64 = restore["at"].parse().expect("a time");
    let snapshot = fixture.snapshot().await;
    let hold_ms = snapshot.hold_ms.expect("a hold");
    assert!((at + 25_000..at + 31_000).contains(&hold_ms), "{hold_ms} from {at} on");
    let renewed = fixture.visit(&[Visit::Renew(lost[0].ticket)]).await;
    assert_eq!(renewed.replies, [VisitReply::Unknown], "it is not in the ledger");
    for round in 0..3 {
        let again = fixture.joined(["u2", "u3"]).await;
        assert!(!again.iter().any(is_in), "{again:?} in round {round}");
        let visited = fixture.tick().await;
        assert_eq!(
            visited.hold_ms,
            Some(hold_ms),
            "what was known before is not lost again"
        );
    }
    fixture.pass(20).await;
    assert_eq!(fixture.tick().await.counts.active, 0, "the longer sessions are out yet");
    fixture.pass(12).await;
    let visited = fixture.tick().await;
    assert_eq!(
        (visited.hold_ms, visited.counts.active, visited.counts.waiting),
        (None, 1, 1)
    );
    assert!(
        is_in(&fixture.joined(["u2"]).await[0]),
        "in the order in which they came again"
    );
}

/// A longer session was put, and lost before the ledger had it; an instance knows its passes.
async fn sessions_that_the_ledger_does_not_know_are_waited_for(db: LedgerDb) {
    let fixture = RoomLedger::with(db, &json!({"session_s": 5})).await;
    fixture.project().await;
    fixture.define(&json!({"session_s": 300})).await;
    let known = fixture.kind.registry.observe(&fixture.id, Mark::ZERO);
    let visits = [fixture.join("u1")];
    let visited = scripts::visit(&fixture.store, &known, RETENTION_MS, &visits).await;
    assert!(visited.expect("a reply").counts.active == 1 && known.passes_until_ms() > 0);
    fixture.wipe().await;
    for _ in 0..2 {
        fixture.heal().await;
        let snapshot = fixture.snapshot().await;
        let hold_ms = snapshot.hold_ms.expect("a hold");
        let until_ms = snapshot.now_ms + 300_000;
        assert!((until_ms - 60_000..=until_ms + 3_000).contains(&hold_ms), "{hold_ms}");
        fixture.project().await;
        assert!(fixture.report().await.clean);
        fixture.assert_complete().await;
        // From then on the ledger has it, whichever instance restores.
        fixture.wipe().await;
        fixture.restore(Replace::Lost).await.expect("rebuilt");
        assert!(fixture.snapshot().await.hold_ms >= Some(hold_ms));
        fixture.project().await;
        fixture.wipe().await;
    }
}

async fn a_room_that_has_not_opened_is_not_held(db: LedgerDb) {
    let fixture = RoomLedger::with(db, &json!({"opens_at": "2099-01-01T00:00:00Z"})).await;
    fixture.project().await;
    fixture.wipe().await;
    fixture.heal().await;
    assert_eq!(fixture.snapshot().await.hold_ms, None, "nobody was ever let in");
    fixture.project().await;
    // The room was opened, which the ledger does not know; an instance has seen that there was something.
    fixture.define(&json!({"opens_at": null})).await;
    fixture
        .kind
        .registry
        .observe(&fixture.id, fixture.snapshot().await.mark);
    fixture.wipe().await;
    fixture.heal().await;
    let snapshot = fixture.snapshot().await;
    assert!(
        snapshot.opens_ms.is_some() && snapshot.hold_ms.is_some(),
        "{snapshot:?}"
    );
    fixture.project().await;
    fixture.assert_complete().await;
}

async fn an_older_copy_is_brought_up_to_date(db: LedgerDb) {
    let fixture = RoomLedger::with(db, &json!({"capacity": 5})).await;
    fixture.joined(["u1"]).await;
    fixture.project().await;
    let older = fixture.dump().await;
    fixture.define(&json!({"capacity": 1})).await;
    fixture.heal().await;
    let before = shown(&fixture).await;
    fixture.put_back(&older).await;
    fixture.heal().await;
    assert_eq!(shown(&fixture).await, before);
    fixture.assert_complete().await;
    assert!(!fixture.kind.registry.known(&fixture.id).is_lost());
    let visited = fixture.tick().await;
    assert!(visited.hold_ms.is_some() && visited.counts.active == 0, "{visited:?}");
}

/// No event is lost, so that nothing is restored. Each instance that knows more passes makes the room wait. Once the
/// room knows all of them, nothing makes it wait.
async fn an_older_copy_with_all_events_is_waited_for_once(db: LedgerDb) {
    let fixture = RoomLedger::with(db, &json!({"capacity": 2, "session_s": 20})).await;
    fixture.project().await;
    let older = fixture.dump().await;
    let first = fixture.kind.registry.observe(&fixture.id, Mark::ZERO);
    let started = fixture.other_instance();
    let other = started.registry.observe(&fixture.id, Mark::ZERO);
    let visit = async |known: &jackpot::room::known::Known, visits: &[Visit]| {
        let visited = scripts::visit(&fixture.store, known, RETENTION_MS, visits).await;
        visited.expect("a reply")
    };
    visit(&other, &[fixture.join("u1")]).await;
    let knew = visit(&first, &[fixture.join("u2")]).await;
    assert!((other.passes(), first.passes()) == (1, 2) && knew.counts.active == 2);
    fixture.put_back(&older).await;
    fixture.heal().await;
    assert_eq!(fixture.snapshot().await.mark.restores(), 0, "no event is lost");
    let lost = visit(&other, &[fixture.join("u3")]).await;
    assert!(
        lost.hold_ms.is_some() && lost.counts.active == 0 && lost.passes == 1,
        "{lost:?}"
    );
    fixture.pass(7).await;
    let more = visit(&first, &[]).await;
    assert!(
        more.passes == 2 && more.hold_ms.expect("a hold") >= more.now_ms + 20_000,
        "{more:?}"
    );
    fixture.pass(21).await;
    for known in [&other, &first, &other] {
        let visited = visit(known, &[fixture.join("u3")]).await;
        assert!(visited.hold_ms.is_none() && visited.counts.active == 1, "{visited:?}");
    }
}

async fn a_restore_that_died_is_ended_by_the_next(db: LedgerDb) {
    let fixture = RoomLedger::with(db, &json!({"opens_at": "2099-01-01T00:00:00Z"})).await;
    live(&fixture).await;
    fixture.project().await;
    let (keys, before) = (&fixture.keys, shown(&fixture).await);
    fixture.wipe().await;
    let begun = restore_begin(&fixture.store, keys.all(), "dead", None, None).await;
    assert!(matches!(begun.expect("a reply"), RestoreBegun::Begun { .. }));
    let refused = fixture.try_visit(&[fixture.join("u9")]).await;
    assert!(matches!(refused, Err(ScriptError::Restoring)), "{refused:?}");
    fixture.heal().await;
    assert_eq!(shown(&fixture).await, before);
    fixture.assert_complete().await;
}

async fn a_lost_room_lets_nobody_in(db: LedgerDb) {
    let fixture = RoomLedger::with(db, &json!({})).await;
    fixture.own_projector().finish().await;
    fixture.wipe().await;
    // Another instance has it from the ledger alone.
    let started = fixture.other_instance();
    let known = started
        .registry
        .observe(&fixture.id, Mark::new(0, 1).expect("a mark"))
        .mark();
    for rooms in [fixture.kind.clone(), started] {
        assert_eq!(rooms.registry.known(&fixture.id).mark(), known);
        fixture.projector_of(rooms.clone(), false).finish().await;
        let lost = rooms.registry.known(&fixture.id);
        assert!(lost.is_lost() && lost.whole().is_err());
        let (store, keys) = (&fixture.store, &fixture.keys);
        let visited = scripts::visit(store, &lost, RETENTION_MS, &[fixture.join("u1")]).await;
        assert!(
            matches!(visited, Err(ScriptError::Unknown | ScriptError::Behind { .. })),
            "{visited:?}"
        );
        let wish = Define {
            definition: &definition(&json!({})),
            wanted: Wanted::Any,
            last_version: None,
            nonce: "again",
            history: "0123456789abcdef",
            by: &operator(),
        };
        let created = scripts::define(store, keys, known, &wish, &fixture.seed().commitment()).await;
        assert!(matches!(created, Err(ScriptError::Behind { .. })), "{created:?}");
    }
    let nothing = fixture.dump().await.is_empty();
    assert!(nothing, "nothing was made anew");
    let done = fixture.restore(Replace::Lost).await.expect("rebuilt");
    assert_eq!((done.mark, done.records), (Mark::new(1, 2).expect("a mark"), 0));
    fixture.own_projector().finish().await;
    assert!(
        !fixture.kind.registry.known(&fixture.id).is_lost(),
        "found out by itself"
    );
}

async fn what_is_not_lost_is_not_replaced(db: LedgerDb) {
    let fixture = RoomLedger::with(db, &json!({})).await;
    fixture.project().await;
    let seen = fixture.snapshot().await.mark;
    for replace in [Replace::Lost, Replace::Stopped, Replace::Seen(seen)] {
        let refused = fixture.restore(replace).await;
        assert!(matches!(refused, Err(RestoreError::NotLost)), "{refused:?}");
    }
    fixture.define(&json!({"capacity": 9})).await;
    let ahead = fixture.restore(Replace::Stopped).await;
    assert!(matches!(ahead, Err(RestoreError::Ahead { .. })), "{ahead:?}");
    fixture.restore(Replace::Ahead).await.expect("given up");
    assert_eq!(fixture.status_held().await, "suspended");
    fixture.status(Status::Open).await;
    fixture.snapshot().await.definition.says(r#""capacity":2"#);
    fixture.project().await;
    fixture.assert_complete().await;
    // What no script can read is replaced, whatever the type of the key.
    let keys = &fixture.keys;
    let waiting = redis::cmd("SET").arg(&keys.waiting).arg("rubbish").to_owned();
    let state = redis::cmd("HSET")
        .arg(&keys.state)
        .arg("session")
        .arg("rubbish")
        .to_owned();
    for mut damage in [waiting, state] {
        fixture.raw::<()>(&mut damage).await;
        fixture.restore(Replace::Stopped).await.expect("rebuilt");
        fixture.project().await;
        fixture.assert_complete().await;
        assert_eq!(fixture.status_held().await, "open");
    }
}

async fn a_room_that_has_opened_does_not_open_again(db: LedgerDb) {
    let fixture = RoomLedger::with(db, &json!({"opens_at": "2099-01-01T00:00:00Z"})).await;
    live(&fixture).await;
    fixture.project().await;
    let published = fixture.snapshot().await;
    let sha = published.collected_sha256.clone();
    assert!(sha.is_some());
    fixture.wipe().await;
    fixture.heal().await;
    let later = fixture.define(&json!({"opens_at": "2099-01-01T00:00:00Z"})).await;
    assert_eq!(
        later,
        scripts::Defined::Refused(scripts::DefineRefusal::Opened),
        "its seed is known"
    );
    let other = scripts::publish(&fixture.store, &fixture.keys, Mark::ZERO, 0, &sha256(&[])).await;
    assert!(other.expect("a reply").1, "done before");
    let snapshot = fixture.snapshot().await;
    assert_eq!((snapshot.collected_sha256.clone(), snapshot.collected), (sha, 0));
    assert_eq!(snapshot.order, published.order, "that of its list");
    fixture.project().await;
    fixture.assert_complete().await;
}
