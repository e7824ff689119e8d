//! Redis rebuilt from the ledger, after it lost all or some of a jackpot.

use std::collections::{BTreeMap, BTreeSet};

use jackpot::jackpot::error::PlayError;
use jackpot::jackpot::metrics::PlayMetrics;
use jackpot::jackpot::scripts::{self, EntryReply, Part, RestoreBegun, ScriptError, Wanted};
use jackpot::jackpot::view::Status;
use jackpot::ledger::kinds::Kinds;
use jackpot::ledger::restore::{Replace, RestoreError};
use jackpot::subject::Subject;
use jackpot::subject::kinds::JACKPOT;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::record::State;
use jackpot_core::mark::Mark;
use serde_json::json;

use crate::jackpot::fixture::{entry, put};
use crate::jackpot::ledger::fixture::Kit;
use crate::jackpot::ledger::projector::live;
use crate::support::ledger_db::{LedgerDb, on_both_databases};

on_both_databases!(
    a_redis_that_lost_all_is_rebuilt,
    an_older_copy_is_brought_up_to_date,
    events_that_only_redis_had_are_given_up_and_play_goes_on,
    a_restore_that_died_at_any_step_is_ended_by_the_next,
    without_auto_restore_a_lost_jackpot_is_refused_and_never_created_anew,
    what_is_not_lost_is_not_replaced,
    a_jackpot_that_no_script_can_read_is_rebuilt,
);

type Copy = Vec<(String, Vec<u8>)>;

/// Copies all of Redis, as a backup does.
async fn copy(kit: &Kit) -> Copy {
    let mut copy = Vec::new();
    for key in kit.bench.raw::<Vec<String>>(redis::cmd("KEYS").arg("*")).await {
        let bytes = kit.bench.raw(redis::cmd("DUMP").arg(&key)).await;
        copy.push((key, bytes));
    }
    copy
}

/// What Redis holds of the jackpot itself, without what a restore changes.
async fn state(kit: &Kit) -> BTreeMap<String, String> {
    let known = kit.bench.operate.views.registry.known(&kit.bench.id);
    let mut state: BTreeMap<String, String> = kit.bench.raw(redis::cmd("HGETALL").arg(&known.keys.state)).await;
    let new = "n restores restore_token history epoch commitment nonce secret gen_age gen_looked";
    state.retain(|field, _| !new.split(' ').any(|new| new == field));
    state
}

async fn wipe(kit: &Kit) {
    kit.bench.raw::<()>(&mut redis::cmd("FLUSHALL")).await;
}

async fn bring_back(kit: &Kit, copy: &Copy) {
    wipe(kit).await;
    for (key, bytes) in copy {
        kit.bench
            .raw::<()>(redis::cmd("RESTORE").arg(key).arg(0).arg(&bytes[..]))
            .await;
    }
}

/// The jackpot was restored `restores` times, and everything works as if nothing had happened.
async fn assert_whole(kit: &Kit, restores: u64) {
    kit.assert_complete().await;
    let bench = &kit.bench;
    assert_eq!(bench.snapshot().await.mark.restores(), restores);
    assert_eq!(kit.place(&bench.id, "restores").await, restores.to_string());
    assert_eq!(kit.metric("ledger_restores_total", &bench.id), restores.to_string());
    let audited = kit.table("audit", "action").await;
    assert_eq!(
        audited.iter().filter(|row| row[0] == "restore").count() as u64,
        restores
    );
    let again = bench.enter(&[entry("new", 0)]).await;
    assert!(
        matches!(again.replies[0], EntryReply::Taken(_) | EntryReply::Seen(_)),
        "{again:?}"
    );
}

async fn a_redis_that_lost_all_is_rebuilt(db: LedgerDb) {
    let kit = Kit::with(db, &json!({})).await;
    live(&kit.bench).await;
    kit.project().await;
    let (pending, before) = (
        kit.bench.enter(&[entry("pending", 1)]).await,
        kit.bench.snapshot().await,
    );
    let other = kit.other_instance();
    other.views.refresh(&kit.bench.id).await.expect("readable");
    for restores in 1..=2 {
        kit.project().await;
        let state = state(&kit).await;
        wipe(&kit).await;
        assert!(other.views.snapshot(&kit.bench.id).await.is_err(), "it has seen more");
        kit.heal().await;
        assert_eq!(self::state(&kit).await, state);
        assert_whole(&kit, restores).await;
        assert!(other.views.view(&kit.bench.id).await.is_err());
        assert!(
            other.views.registry.recheck(&kit.bench.id).await.expect("readable"),
            "and plays again"
        );
        assert!(other.views.view(&kit.bench.id).await.is_ok());
    }
    let after = kit.bench.snapshot().await;
    assert_eq!(
        (after.pending, after.waiting, after.claim_order),
        (before.pending, before.waiting, before.claim_order)
    );
    assert_eq!(after.sequence, before.sequence + 1);
    let again = kit.bench.enter(&[entry("pending", 1)]).await;
    assert_eq!(again.replies, pending.replies, "the same record, with its refusal");
    let ended = kit.bench.finish("pending", 1).await;
    assert!(ended.done_now);
    kit.project().await;
    kit.assert_complete().await;
}

async fn an_older_copy_is_brought_up_to_date(db: LedgerDb) {
    let kit = Kit::with(db, &json!({})).await;
    kit.bench.fund("early", 1_000).await;
    kit.bench.take("win", 1).await;
    kit.project().await;
    let older = copy(&kit).await;
    live_on(&kit).await;
    kit.project().await;
    let epochs = kit.bench.operate.epochs(&kit.bench.id).await.expect("readable");
    bring_back(&kit, &older).await;
    kit.heal().await;
    assert_whole(&kit, 1).await;
    // A seed may be public by now: no epoch is opened again, and the next has a number that none had.
    let after = kit.bench.operate.epochs(&kit.bench.id).await.expect("readable");
    assert_eq!((after.len(), &after[0]), (3, &epochs[0]));
    assert_eq!((epochs[1].closed_ms, &after[1].opening), (None, &epochs[1].opening));
    assert!(after[1].closed_ms.is_some() && after[2].closed_ms.is_none());
    assert_eq!(kit.bench.snapshot().await.epoch, after[2].epoch);
    assert!(after[2].epoch > 1_700_000_000, "{}", after[2].epoch);
    // A copy from before the restore is older than everything that came with it, however many events it has.
    bring_back(&kit, &older).await;
    kit.heal().await;
    assert_whole(&kit, 2).await;
}

async fn live_on(kit: &Kit) {
    kit.bench.take("pending", 1).await;
    let by = crate::jackpot::fixture::operator();
    let end = kit.bench.operate.end_epoch(&kit.bench.id, "a test".to_owned(), &by);
    end.await.expect("done");
    kit.bench.fund("late", 200).await;
    kit.bench.take("later", 3).await;
}

async fn events_that_only_redis_had_are_given_up_and_play_goes_on(db: LedgerDb) {
    let kit = Kit::with(db, &json!({})).await;
    kit.bench.take("kept", 0).await;
    kit.project().await;
    let older = copy(&kit).await;
    kit.bench.take("lost", 0).await;
    kit.bench.take("lost-too", 0).await;
    bring_back(&kit, &older).await;
    assert!(
        kit.bench.operate.views.snapshot(&kit.bench.id).await.is_err(),
        "seen and gone"
    );
    kit.heal().await;
    assert_whole(&kit, 1).await;
    // Redis is lost again before the ledger has the restore's event, which this instance has seen.
    kit.project().await;
    let older = copy(&kit).await;
    wipe(&kit).await;
    kit.restore(Replace::Lost).await.expect("rebuilt");
    kit.bench
        .operate
        .views
        .registry
        .recheck(&kit.bench.id)
        .await
        .expect("readable");
    let known = kit.bench.operate.views.registry.known(&kit.bench.id);
    known.observe(kit.bench.snapshot().await.mark);
    assert_eq!(known.mark().restores(), 2);
    bring_back(&kit, &older).await;
    kit.heal().await;
    assert!(!known.is_lost(), "it plays again");
    assert_eq!(kit.bench.snapshot().await.mark.restores(), 3);
    kit.assert_complete().await;
}

async fn a_restore_that_died_at_any_step_is_ended_by_the_next(db: LedgerDb) {
    let kit = Kit::with(db, &json!({})).await;
    live(&kit.bench).await;
    kit.project().await;
    let known = kit.bench.operate.views.registry.known(&kit.bench.id);
    for (steps, restores) in (0..3).zip(1..) {
        wipe(&kit).await;
        let all = scripts::restored_keys(&known.keys, &BTreeSet::new());
        let begun = scripts::restore_begin(&kit.bench.store, all.iter().map(String::as_str), "dead", None).await;
        assert!(matches!(begun.expect("a reply"), RestoreBegun::Begun { .. }));
        for (part, name) in [(Part::SeenA, "win"), (Part::Definitions, "1")].into_iter().take(steps) {
            let half = [(name.to_owned(), "half".to_owned())];
            let written = scripts::restore_records(&kit.bench.store, &known.keys, "dead", part, &half).await;
            assert!(written.expect("a reply"));
        }
        let refused = kit.bench.operate.views.snapshot(&kit.bench.id).await;
        assert!(
            matches!(refused, Err(PlayError::Script(ScriptError::Restoring))),
            "{refused:?}"
        );
        kit.heal().await;
        assert_whole(&kit, restores).await;
    }
}

async fn without_auto_restore_a_lost_jackpot_is_refused_and_never_created_anew(db: LedgerDb) {
    let kit = Kit::with(db, &json!({})).await;
    kit.bench.take("e", 0).await;
    kit.project().await;
    wipe(&kit).await;
    let started = kit.other_instance();
    let kinds = Kinds::new([jackpot::jackpot::ledger::kind(&started)]);
    kinds.teach(&kit.ledger).await.expect("taught");
    let is_behind = |error: &PlayError| matches!(error, PlayError::Script(ScriptError::Behind { .. }));
    for operate in [&kit.bench.operate, &started] {
        kit.projector_of(operate, false).finish().await;
        let view = operate.views.view(&kit.bench.id).await.map(|_| ());
        assert!(view.as_ref().is_err_and(is_behind), "{view:?}");
    }
    for wanted in [Wanted::Any, Wanted::Absent] {
        let created = put(&kit.bench, &json!({}), wanted).await;
        assert!(created.as_ref().is_err_and(is_behind), "{created:?}");
    }
    assert_eq!(kit.bench.dump().await.len(), 0);
    let done = kit.restore(Replace::Lost).await.expect("rebuilt");
    assert_eq!((done.mark, done.records), (Mark::new(1, 3).expect("a mark"), 1));
    // Any instance notices, also one whose projector does not read the stream.
    let mut reading = kit.projector_of(&started, false);
    reading.catch_up().await;
    let mut watching = kit.projector_of(&kit.bench.operate, false);
    watching.catch_up().await;
    for operate in [&kit.bench.operate, &started] {
        assert!(operate.views.view(&kit.bench.id).await.is_ok());
    }
    reading.finish().await;
    kit.assert_complete().await;
}

async fn what_is_not_lost_is_not_replaced(db: LedgerDb) {
    let kit = Kit::with(db, &json!({})).await;
    let unknown = jackpot::subject::ledger_mark(&kit.ledger.sql, JACKPOT, &kit.bench.id)
        .await
        .expect("an answer");
    assert_eq!(unknown, None);
    kit.bench.take("e", 0).await;
    kit.project().await;
    let before = kit.bench.dump().await;
    for replace in [
        Replace::Lost,
        Replace::Stopped,
        Replace::Seen(kit.bench.snapshot().await.mark),
    ] {
        let refused = kit.restore(replace).await;
        assert!(matches!(refused, Err(RestoreError::NotLost)), "{refused:?}");
    }
    kit.bench.status(Status::Paused).await;
    let ahead = kit.restore(Replace::Stopped).await;
    assert!(matches!(ahead, Err(RestoreError::Ahead { .. })), "{ahead:?}");
    assert_eq!(before.len(), kit.bench.dump().await.len());
    kit.project().await;
    let done = kit.restore(Replace::Stopped).await.expect("rebuilt");
    assert_eq!(done.mark, Mark::new(1, 4).expect("a mark"));
    kit.project().await;
    kit.assert_complete().await;
    assert_eq!(kit.bench.snapshot().await.status, Status::Paused);
}

async fn a_jackpot_that_no_script_can_read_is_rebuilt(db: LedgerDb) {
    let kit = Kit::with(db, &json!({})).await;
    kit.bench.take("e", 0).await;
    kit.project().await;
    let keys = &kit.bench.operate.views.registry.known(&kit.bench.id).keys;
    for damage in [
        redis::cmd("DEL").arg(&keys.meters).to_owned(),
        redis::cmd("HSET").arg(&keys.state).arg("seq").arg("rubbish").to_owned(),
    ] {
        kit.bench.raw::<()>(&mut damage.clone()).await;
        assert!(kit.bench.operate.views.snapshot(&kit.bench.id).await.is_err());
        kit.restore(Replace::Stopped).await.expect("rebuilt");
        kit.project().await;
        kit.assert_complete().await;
    }
}

/// Two definitions got the same version, before and after a loss that an instance has not noticed.
#[tokio::test]
async fn an_instance_that_slept_through_a_restore_pays_what_is_defined_now() {
    let kit = Kit::with(LedgerDb::sqlite(), &json!({})).await;
    let pays = |amount: u64| {
        json!({"odds": {"total": 2, "ranks": [
            {"rank": 1, "weight": 1, "prize": {"pool": {"tier": "grand", "take": "all"}}},
            {"rank": 3, "weight": 1, "prize": {"fixed": {"tier": "grand", "amount": amount}}}]}})
    };
    kit.project().await;
    kit.bench.define(&pays(9)).await;
    let slept = kit.other_instance();
    let (_, view) = slept.views.refresh(&kit.bench.id).await.expect("readable");
    assert_eq!(view.version, 2);
    wipe(&kit).await;
    kit.heal().await;
    kit.bench.define(&pays(5)).await;
    kit.bench.enter(&[entry("e", 1)]).await;
    kit.bench.fund("f", 50).await;
    let play = crate::support::given::play(
        &kit.bench.store,
        slept.views.clone(),
        PlayMetrics::new(kit.metrics.clone()),
        u64::MAX,
    );
    let id = Id::parse("e").expect("an id");
    let played = play
        .enter(&kit.bench.id, &id, entry("e", 1).sent, None)
        .await
        .expect("paid");
    let State::Paid { payout, .. } = &played.record.state else {
        panic!("{played:?}")
    };
    assert_eq!((payout.rank, payout.amount), (3, 5));
    assert_eq!(
        played.definition.document(),
        kit.bench.fresh().await.1.definition.document()
    );
}
