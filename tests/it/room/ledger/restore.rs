//! Redis rebuilt from the ledger, after it lost all or some of a room. What operators set is there again, tickets are
//! not. Nobody comes in before every pass that may still be valid has expired.

use jackpot::ledger::restore::{Replace, RestoreError};
use jackpot::room::scripts::{self, Define, ScriptError, Visit, VisitReply, Wanted};
use jackpot::room::status::Status;
use jackpot::subject::restore::{RestoreBegun, restore_begin};
use jackpot_core::mark::Mark;
use serde_json::json;

use crate::room::fixture::{RETENTION_MS, ahead, definition, is_in};
use crate::room::ledger::fixture::{RoomKit, live, sha256};
use crate::support::ledger_db::{LedgerDb, on_both_databases};

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
async fn told(kit: &RoomKit) -> Vec<Option<String>> {
    let fields = "json version status puts capacity session waiting_timeout rate opens_at \
                  collected_sha256";
    let mut read = redis::cmd("HMGET");
    read.arg(&kit.bench.keys.state);
    for field in fields.split_whitespace() {
        read.arg(field);
    }
    let told: Vec<Option<String>> = kit.bench.raw(&mut read).await;
    assert!(told.iter().all(Option::is_some), "{told:?}");
    told
}

async fn a_redis_that_lost_all_is_rebuilt_as_operators_had_it(db: LedgerDb) {
    let kit = RoomKit::with(db, &json!({"opens_at": "2099-01-01T00:00:00Z"})).await;
    for restores in 1..=2_u64 {
        let change = json!({"opens_at": "2098-01-01T00:00:00Z", "admissions_per_minute": 7, "capacity": restores});
        kit.bench.define(&change).await;
        kit.project().await;
        let (before, order) = (told(&kit).await, kit.bench.snapshot().await.values.order);
        kit.bench.joined(["u1"]).await;
        kit.wipe().await;
        kit.heal().await;
        assert_eq!(told(&kit).await, before);
        kit.assert_complete().await;
        let restored = kit.bench.snapshot().await;
        // A reader of the seed that was published in the lost time knows nothing of this one.
        assert_ne!(
            (&restored.order.nonce, &restored.order.commitment),
            (&order.nonce, &order.commitment)
        );
        assert_eq!(restored.order.commitment, kit.bench.seed().commitment());
        let joined = kit.bench.joined(["u1"]).await;
        assert_eq!((ahead(&joined[0]), kit.bench.collected().await.items.len()), (0, 1));
        assert_eq!(restored.mark.restores(), restores);
        assert_eq!(kit.metric("ledger_restores_total"), restores.to_string());
        let ids = kit.registry.ids(None, 9).await.expect("readable");
        assert_eq!(ids, std::slice::from_ref(&kit.bench.id));
    }
    let audit = kit.table("audit", "action target who").await;
    let restored = ["restore", kit.bench.id.as_str(), "service"];
    assert_eq!(audit.iter().filter(|row| **row == restored).count(), 2, "{audit:?}");
    kit.project().await;
    assert!(kit.report().await.clean);
}

async fn nobody_comes_in_before_the_passes_that_are_out_have_expired(db: LedgerDb) {
    let kit = RoomKit::with(db, &json!({"capacity": 1, "session_s": 30})).await;
    // Passes of the definition before may still be valid.
    kit.bench.define(&json!({"capacity": 1, "session_s": 5})).await;
    let lost = kit.bench.joined(["u1", "u2"]).await;
    let known = kit.bench.tick().await.passes;
    assert!(is_in(&lost[0]) && !is_in(&lost[1]) && known > 0);
    kit.project().await;
    kit.wipe().await;
    kit.heal().await;
    kit.project().await;
    assert!(kit.report().await.clean);
    let events = kit.bench.events().await;
    let (_, restore) = events.iter().find(|(kind, _)| kind == "restore").expect("restored");
    let at: i64 = restore["at"].parse().expect("a time");
    let snapshot = kit.bench.snapshot().await;
    let hold_ms = snapshot.hold_ms.expect("a hold");
    assert!((at + 25_000..at + 31_000).contains(&hold_ms), "{hold_ms} from {at} on");
    let renewed = kit.bench.visit(&[Visit::Renew(lost[0].ticket)]).await;
    assert_eq!(renewed.replies, [VisitReply::Unknown], "it is not in the ledger");
    for round in 0..3 {
        let again = kit.bench.joined(["u2", "u3"]).await;
        assert!(!again.iter().any(is_in), "{again:?} in round {round}");
        let visited = kit.bench.tick().await;
        assert_eq!(
            visited.hold_ms,
            Some(hold_ms),
            "what was known before is not lost again"
        );
    }
    kit.bench.pass(20).await;
    assert_eq!(
        kit.bench.tick().await.counts.active,
        0,
        "the longer sessions are out yet"
    );
    kit.bench.pass(12).await;
    let visited = kit.bench.tick().await;
    assert_eq!(
        (visited.hold_ms, visited.counts.active, visited.counts.waiting),
        (None, 1, 1)
    );
    assert!(
        is_in(&kit.bench.joined(["u2"]).await[0]),
        "in the order in which they came again"
    );
}

/// A longer session was put, and lost before the ledger had it; an instance knows its passes.
async fn sessions_that_the_ledger_does_not_know_are_waited_for(db: LedgerDb) {
    let kit = RoomKit::with(db, &json!({"session_s": 5})).await;
    kit.project().await;
    kit.bench.define(&json!({"session_s": 300})).await;
    let known = kit.registry.observe(&kit.bench.id, Mark::ZERO);
    let visits = [kit.bench.join("u1")];
    let visited = scripts::visit(&kit.bench.store, &known, RETENTION_MS, &visits).await;
    assert!(visited.expect("a reply").counts.active == 1 && known.passes_until_ms() > 0);
    kit.wipe().await;
    for _ in 0..2 {
        kit.heal().await;
        let snapshot = kit.bench.snapshot().await;
        let hold_ms = snapshot.hold_ms.expect("a hold");
        let until_ms = snapshot.now_ms + 300_000;
        assert!((until_ms - 60_000..=until_ms + 3_000).contains(&hold_ms), "{hold_ms}");
        kit.project().await;
        assert!(kit.report().await.clean);
        kit.assert_complete().await;
        // From then on the ledger has it, whichever instance restores.
        kit.wipe().await;
        kit.restore(Replace::Lost).await.expect("rebuilt");
        assert!(kit.bench.snapshot().await.hold_ms >= Some(hold_ms));
        kit.project().await;
        kit.wipe().await;
    }
}

async fn a_room_that_has_not_opened_is_not_held(db: LedgerDb) {
    let kit = RoomKit::with(db, &json!({"opens_at": "2099-01-01T00:00:00Z"})).await;
    kit.project().await;
    kit.wipe().await;
    kit.heal().await;
    assert_eq!(kit.bench.snapshot().await.hold_ms, None, "nobody was ever let in");
    kit.project().await;
    // The room was opened, which the ledger does not know; an instance has seen that there was something.
    kit.bench.define(&json!({"opens_at": null})).await;
    kit.registry.observe(&kit.bench.id, kit.bench.snapshot().await.mark);
    kit.wipe().await;
    kit.heal().await;
    let snapshot = kit.bench.snapshot().await;
    assert!(
        snapshot.opens_ms.is_some() && snapshot.hold_ms.is_some(),
        "{snapshot:?}"
    );
    kit.project().await;
    kit.assert_complete().await;
}

async fn put_back(kit: &RoomKit, older: &std::collections::BTreeMap<String, Option<Vec<u8>>>) {
    kit.wipe().await;
    for (key, bytes) in older.iter().filter_map(|(key, bytes)| Some((key, bytes.as_ref()?))) {
        let mut restore = redis::cmd("RESTORE");
        kit.bench.raw::<()>(restore.arg(key).arg(0).arg(&bytes[..])).await;
    }
}

async fn an_older_copy_is_brought_up_to_date(db: LedgerDb) {
    let kit = RoomKit::with(db, &json!({"capacity": 5})).await;
    kit.bench.joined(["u1"]).await;
    kit.project().await;
    let older = kit.bench.dump().await;
    kit.bench.define(&json!({"capacity": 1})).await;
    kit.heal().await;
    let before = told(&kit).await;
    put_back(&kit, &older).await;
    kit.heal().await;
    assert_eq!(told(&kit).await, before);
    kit.assert_complete().await;
    assert!(!kit.registry.known(&kit.bench.id).is_lost());
    let visited = kit.bench.tick().await;
    assert!(visited.hold_ms.is_some() && visited.counts.active == 0, "{visited:?}");
}

/// No event is lost, so that nothing is restored. Each instance that knows more passes makes the room wait. Once the
/// room knows all of them, nothing makes it wait.
async fn an_older_copy_with_all_events_is_waited_for_once(db: LedgerDb) {
    let kit = RoomKit::with(db, &json!({"capacity": 2, "session_s": 20})).await;
    kit.project().await;
    let older = kit.bench.dump().await;
    let first = kit.rooms().registry.observe(&kit.bench.id, Mark::ZERO);
    let started = kit.other_instance();
    let other = started.registry.observe(&kit.bench.id, Mark::ZERO);
    let visit = async |known: &jackpot::room::known::Known, visits: &[Visit]| {
        let visited = scripts::visit(&kit.bench.store, known, RETENTION_MS, visits).await;
        visited.expect("a reply")
    };
    visit(&other, &[kit.bench.join("u1")]).await;
    let knew = visit(&first, &[kit.bench.join("u2")]).await;
    assert!((other.passes(), first.passes()) == (1, 2) && knew.counts.active == 2);
    put_back(&kit, &older).await;
    kit.heal().await;
    assert_eq!(kit.bench.snapshot().await.mark.restores(), 0, "no event is lost");
    let lost = visit(&other, &[kit.bench.join("u3")]).await;
    assert!(
        lost.hold_ms.is_some() && lost.counts.active == 0 && lost.passes == 1,
        "{lost:?}"
    );
    kit.bench.pass(7).await;
    let more = visit(&first, &[]).await;
    assert!(
        more.passes == 2 && more.hold_ms.expect("a hold") >= more.now_ms + 20_000,
        "{more:?}"
    );
    kit.bench.pass(21).await;
    for known in [&other, &first, &other] {
        let visited = visit(known, &[kit.bench.join("u3")]).await;
        assert!(visited.hold_ms.is_none() && visited.counts.active == 1, "{visited:?}");
    }
}

async fn a_restore_that_died_is_ended_by_the_next(db: LedgerDb) {
    let kit = RoomKit::with(db, &json!({"opens_at": "2099-01-01T00:00:00Z"})).await;
    live(&kit.bench).await;
    kit.project().await;
    let (keys, before) = (&kit.bench.keys, told(&kit).await);
    kit.wipe().await;
    let begun = restore_begin(&kit.bench.store, keys.all(), "dead", None).await;
    assert!(matches!(begun.expect("a reply"), RestoreBegun::Begun { .. }));
    let refused = kit.bench.try_visit(&[kit.bench.join("u9")]).await;
    assert!(matches!(refused, Err(ScriptError::Restoring)), "{refused:?}");
    kit.heal().await;
    assert_eq!(told(&kit).await, before);
    kit.assert_complete().await;
}

async fn a_lost_room_lets_nobody_in(db: LedgerDb) {
    let kit = RoomKit::with(db, &json!({})).await;
    kit.projector_of(kit.rooms(), false).finish().await;
    kit.wipe().await;
    // Another instance has it from the ledger alone.
    let started = kit.other_instance();
    let known = started
        .registry
        .observe(&kit.bench.id, Mark::new(0, 1).expect("a mark"))
        .mark();
    for rooms in [kit.rooms(), started] {
        assert_eq!(rooms.registry.known(&kit.bench.id).mark(), known);
        kit.projector_of(rooms.clone(), false).finish().await;
        let lost = rooms.registry.known(&kit.bench.id);
        assert!(lost.is_lost() && lost.whole().is_err());
        let (store, keys) = (&kit.bench.store, &kit.bench.keys);
        let visited = scripts::visit(store, &lost, RETENTION_MS, &[kit.bench.join("u1")]).await;
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
            who: "tester",
            request_id: "r",
        };
        let created = scripts::define(store, keys, known, &wish, &kit.bench.seed().commitment()).await;
        assert!(matches!(created, Err(ScriptError::Behind { .. })), "{created:?}");
    }
    let nothing = kit.bench.dump().await.values().all(Option::is_none);
    assert!(nothing, "nothing was made anew");
    let done = kit.restore(Replace::Lost).await.expect("rebuilt");
    assert_eq!((done.mark, done.records), (Mark::new(1, 2).expect("a mark"), 0));
    kit.projector_of(kit.rooms(), false).finish().await;
    assert!(!kit.registry.known(&kit.bench.id).is_lost(), "found out by itself");
}

async fn what_is_not_lost_is_not_replaced(db: LedgerDb) {
    let kit = RoomKit::with(db, &json!({})).await;
    kit.project().await;
    let seen = kit.bench.snapshot().await.mark;
    for replace in [Replace::Lost, Replace::Stopped, Replace::Seen(seen)] {
        let refused = kit.restore(replace).await;
        assert!(matches!(refused, Err(RestoreError::NotLost)), "{refused:?}");
    }
    kit.bench.define(&json!({"capacity": 9})).await;
    let ahead = kit.restore(Replace::Stopped).await;
    assert!(matches!(ahead, Err(RestoreError::Ahead { .. })), "{ahead:?}");
    kit.restore(Replace::Ahead).await.expect("given up");
    assert_eq!(kit.status().await, Status::Suspended);
    kit.bench.status(Status::Open).await;
    assert!(kit.bench.snapshot().await.definition.contains(r#""capacity":2"#));
    kit.project().await;
    kit.assert_complete().await;
    // What no script can read is replaced, whatever the type of the key.
    let keys = &kit.bench.keys;
    let waiting = redis::cmd("SET").arg(&keys.waiting).arg("rubbish").to_owned();
    let state = redis::cmd("HSET")
        .arg(&keys.state)
        .arg("session")
        .arg("rubbish")
        .to_owned();
    for mut damage in [waiting, state] {
        kit.bench.raw::<()>(&mut damage).await;
        kit.restore(Replace::Stopped).await.expect("rebuilt");
        kit.project().await;
        kit.assert_complete().await;
        assert_eq!(kit.status().await, Status::Open);
    }
}

async fn a_room_that_has_opened_does_not_open_again(db: LedgerDb) {
    let kit = RoomKit::with(db, &json!({"opens_at": "2099-01-01T00:00:00Z"})).await;
    live(&kit.bench).await;
    kit.project().await;
    let published = kit.bench.snapshot().await;
    let sha = published.collected_sha256.clone();
    assert!(sha.is_some());
    kit.wipe().await;
    kit.heal().await;
    let later = kit.bench.define(&json!({"opens_at": "2099-01-01T00:00:00Z"})).await;
    assert_eq!(
        later,
        scripts::Defined::Refused(scripts::DefineRefusal::Opened),
        "its seed is known"
    );
    let other = scripts::publish(&kit.bench.store, &kit.bench.keys, Mark::ZERO, 0, &sha256(&[])).await;
    assert!(other.expect("a reply").1, "done before");
    let snapshot = kit.bench.snapshot().await;
    assert_eq!((snapshot.collected_sha256.clone(), snapshot.collected), (sha, 0));
    assert_eq!(snapshot.order, published.order, "that of its list");
    kit.project().await;
    kit.assert_complete().await;
}
