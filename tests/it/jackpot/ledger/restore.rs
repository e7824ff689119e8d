//! Redis rebuilt from the ledger, after it lost all or some of a jackpot.

use jackpot::jackpot::play::By;
use std::collections::{BTreeMap, BTreeSet};

use jackpot::jackpot::error::PlayError;
use jackpot::jackpot::metrics::PlayMetrics;
use jackpot::jackpot::scripts::{self, EntryReply, Part, RestoreBegun, ScriptError, Wanted};
use jackpot::ledger::kinds::Kinds;
use jackpot::ledger::restore::{Replace, RestoreError};
use jackpot::subject::Subject;
use jackpot::subject::kinds::JACKPOT;
use jackpot_api::jackpot::Status;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::record::State;
use jackpot_core::mark::Mark;

use crate::jackpot::by_hand;
use crate::jackpot::fixture::{entry, put};
use crate::jackpot::ledger::fixture::JackpotLedger;
use crate::jackpot::ledger::projector::live;
use crate::support::prelude::*;

on_both_databases!(
    a_redis_that_lost_all_is_rebuilt,
    an_older_copy_is_brought_up_to_date,
    events_that_only_redis_had_are_given_up_and_play_goes_on,
    a_restore_that_died_at_any_step_is_ended_by_the_next,
    without_auto_restore_a_lost_jackpot_is_refused_and_never_created_anew,
    what_is_not_lost_is_not_replaced,
    a_jackpot_that_no_script_can_read_is_rebuilt,
);

type Copy = BTreeMap<String, Vec<u8>>;

/// Copies all of Redis, as a backup does.
async fn copy(fixture: &JackpotLedger) -> Copy {
    let mut copy = BTreeMap::new();
    for key in fixture.raw::<Vec<String>>(redis::cmd("KEYS").arg("*")).await {
        let bytes = fixture.raw(redis::cmd("DUMP").arg(&key)).await;
        copy.insert(key, bytes);
    }
    copy
}

/// What Redis holds of the jackpot itself, without what a restore changes.
async fn state(fixture: &JackpotLedger) -> BTreeMap<String, String> {
    let mut state = fixture.state().await;
    let new = "n restores restore_token history epoch commitment nonce secret gen_age gen_looked";
    state.retain(|field, _| !new.split(' ').any(|new| new == field));
    state
}

/// The jackpot was restored `restores` times, and everything works as if nothing had happened.
async fn assert_whole(fixture: &JackpotLedger, restores: u64) {
    fixture.assert_complete().await;
    assert_eq!(fixture.snapshot().await.mark.restores(), restores);
    assert_eq!(fixture.place("restores").await, restores.to_string());
    assert_eq!(fixture.metric("ledger_restores_total"), restores.to_string());
    let audited = fixture.table("audit", "action").await;
    assert_eq!(
        audited.iter().filter(|row| row[0] == "restore").count() as u64,
        restores
    );
    let again = fixture.enter(&[entry("new", 0)]).await;
    assert!(
        matches!(again.replies[0], EntryReply::Taken(_) | EntryReply::Seen(_)),
        "{again:?}"
    );
}

async fn a_redis_that_lost_all_is_rebuilt(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &json!({})).await;
    live(&fixture).await;
    fixture.project().await;
    let (pending, before) = (fixture.enter(&[entry("pending", 1)]).await, fixture.snapshot().await);
    let other = fixture.other_instance().operate;
    other.views.refresh(&fixture.id).await.expect("readable");
    for restores in 1..=2 {
        fixture.project().await;
        let state = state(&fixture).await;
        fixture.wipe().await;
        assert!(other.views.snapshot(&fixture.id).await.is_err(), "it has seen more");
        fixture.heal().await;
        assert_eq!(self::state(&fixture).await, state);
        assert_whole(&fixture, restores).await;
        assert!(other.views.view(&fixture.id).await.is_err());
        assert!(
            other.views.registry.recheck(&fixture.id).await.expect("readable"),
            "and plays again"
        );
        assert!(other.views.view(&fixture.id).await.is_ok());
    }
    let after = fixture.snapshot().await;
    assert_eq!(
        (after.pending, after.waiting, after.claim_order),
        (before.pending, before.waiting, before.claim_order)
    );
    assert_eq!(after.sequence, before.sequence + 1);
    let again = fixture.enter(&[entry("pending", 1)]).await;
    assert_eq!(again.replies, pending.replies, "the same record, with its refusal");
    let ended = fixture.finish("pending", 1).await;
    assert!(ended.done_now);
    fixture.project().await;
    fixture.assert_complete().await;
}

async fn an_older_copy_is_brought_up_to_date(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &json!({})).await;
    fixture.fund("early", 1_000).await;
    fixture.take("win", 1).await;
    fixture.project().await;
    let older = copy(&fixture).await;
    live_on(&fixture).await;
    fixture.project().await;
    let epochs = fixture.operate.epochs(&fixture.id).await.expect("readable");
    fixture.put_back(&older).await;
    fixture.heal().await;
    assert_whole(&fixture, 1).await;
    // A seed may be public by now: no epoch is opened again, and the next has a number that none had.
    let after = fixture.operate.epochs(&fixture.id).await.expect("readable");
    assert_eq!((after.len(), &after[0]), (3, &epochs[0]));
    assert_eq!((epochs[1].closed_ms, &after[1].opening), (None, &epochs[1].opening));
    assert!(after[1].closed_ms.is_some() && after[2].closed_ms.is_none());
    assert_eq!(fixture.snapshot().await.epoch, after[2].epoch);
    assert!(after[2].epoch > 1_700_000_000, "{}", after[2].epoch);
    // A copy from before the restore is older than everything that came with it, however many events it has.
    fixture.put_back(&older).await;
    fixture.heal().await;
    assert_whole(&fixture, 2).await;
}

async fn live_on(fixture: &JackpotLedger) {
    fixture.take("pending", 1).await;
    let by = crate::jackpot::fixture::operator();
    let end = fixture.operate.end_epoch(&fixture.id, "a test".to_owned(), &by);
    end.await.expect("done");
    fixture.fund("late", 200).await;
    fixture.take("later", 3).await;
}

async fn events_that_only_redis_had_are_given_up_and_play_goes_on(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &json!({})).await;
    fixture.take("kept", 0).await;
    fixture.project().await;
    let older = copy(&fixture).await;
    fixture.take("lost", 0).await;
    fixture.take("lost-too", 0).await;
    fixture.put_back(&older).await;
    assert!(
        fixture.operate.views.snapshot(&fixture.id).await.is_err(),
        "seen and gone"
    );
    fixture.heal().await;
    assert_whole(&fixture, 1).await;
    // Redis is lost again before the ledger has the restore's event, which this instance has seen.
    fixture.project().await;
    let older = copy(&fixture).await;
    fixture.wipe().await;
    fixture.restore(Replace::Lost).await.expect("rebuilt");
    fixture
        .operate
        .views
        .registry
        .recheck(&fixture.id)
        .await
        .expect("readable");
    let known = fixture.operate.views.registry.known(&fixture.id);
    known.observe(fixture.snapshot().await.mark);
    assert_eq!(known.mark().restores(), 2);
    fixture.put_back(&older).await;
    fixture.heal().await;
    assert!(!known.is_lost(), "it plays again");
    assert_eq!(fixture.snapshot().await.mark.restores(), 3);
    fixture.assert_complete().await;
}

async fn a_restore_that_died_at_any_step_is_ended_by_the_next(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &json!({})).await;
    live(&fixture).await;
    fixture.project().await;
    let known = fixture.operate.views.registry.known(&fixture.id);
    for (steps, restores) in (0..3).zip(1..) {
        fixture.wipe().await;
        let all = scripts::restored_keys(&known.keys, &BTreeSet::new());
        let begun = scripts::restore_begin(&fixture.store, all.iter().map(String::as_str), "dead", None, None).await;
        assert!(matches!(begun.expect("a reply"), RestoreBegun::Begun { .. }));
        for (part, name) in [(Part::SeenA, "win"), (Part::Definitions, "1")].into_iter().take(steps) {
            let half = [(name.to_owned(), "half".to_owned())];
            let written = scripts::restore_records(&fixture.store, &known.keys, "dead", part, &half).await;
            assert!(written.expect("a reply"));
        }
        let refused = fixture.operate.views.snapshot(&fixture.id).await;
        assert!(
            matches!(refused, Err(PlayError::Script(ScriptError::Restoring))),
            "{refused:?}"
        );
        fixture.heal().await;
        assert_whole(&fixture, restores).await;
    }
}

async fn without_auto_restore_a_lost_jackpot_is_refused_and_never_created_anew(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &json!({})).await;
    fixture.take("e", 0).await;
    fixture.project().await;
    fixture.wipe().await;
    let started = fixture.other_instance();
    let kinds = Kinds::new([jackpot::jackpot::ledger::kind(&started.operate)]);
    kinds.teach(&fixture.ledger).await.expect("taught");
    let is_behind = |error: &PlayError| matches!(error, PlayError::Script(ScriptError::Behind { .. }));
    for jackpots in [&fixture.kind, &started] {
        let operate = &jackpots.operate;
        fixture.projector_of(jackpots.clone(), false).finish().await;
        let view = operate.views.view(&fixture.id).await.map(|_| ());
        assert!(view.as_ref().is_err_and(is_behind), "{view:?}");
    }
    for wanted in [Wanted::Any, Wanted::Absent] {
        let created = put(&fixture, &json!({}), wanted).await;
        assert!(created.as_ref().is_err_and(is_behind), "{created:?}");
    }
    assert_eq!(fixture.dump().await.len(), 0);
    let done = fixture.restore(Replace::Lost).await.expect("rebuilt");
    assert_eq!((done.mark, done.records), (Mark::new(1, 3).expect("a mark"), 1));
    // Any instance notices, also one whose projector does not read the stream.
    let mut reading = fixture.projector_of(started.clone(), false);
    reading.catch_up().await;
    let mut watching = fixture.own_projector();
    watching.catch_up().await;
    for operate in [&fixture.operate, &started.operate] {
        assert!(operate.views.view(&fixture.id).await.is_ok());
    }
    reading.finish().await;
    fixture.assert_complete().await;
}

async fn what_is_not_lost_is_not_replaced(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &json!({})).await;
    let unknown = jackpot::subject::ledger_mark(&fixture.ledger.sql, JACKPOT, &fixture.id)
        .await
        .expect("an answer");
    assert_eq!(unknown, None);
    fixture.take("e", 0).await;
    fixture.project().await;
    let before = fixture.dump().await;
    for replace in [
        Replace::Lost,
        Replace::Stopped,
        Replace::Seen(fixture.snapshot().await.mark),
    ] {
        let refused = fixture.restore(replace).await;
        assert!(matches!(refused, Err(RestoreError::NotLost)), "{refused:?}");
    }
    fixture.status(Status::Paused).await;
    let ahead = fixture.restore(Replace::Stopped).await;
    assert!(matches!(ahead, Err(RestoreError::Ahead { .. })), "{ahead:?}");
    assert_eq!(before.len(), fixture.dump().await.len());
    fixture.project().await;
    let done = fixture.restore(Replace::Stopped).await.expect("rebuilt");
    assert_eq!(done.mark, Mark::new(1, 4).expect("a mark"));
    fixture.project().await;
    fixture.assert_complete().await;
    assert_eq!(fixture.snapshot().await.status, Status::Paused);
}

async fn a_jackpot_that_no_script_can_read_is_rebuilt(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &json!({})).await;
    fixture.take("e", 0).await;
    fixture.project().await;
    let keys = &fixture.operate.views.registry.known(&fixture.id).keys;
    for damage in [
        redis::cmd("HDEL").arg(&keys.state).arg("meters").to_owned(),
        by_hand::set(&keys.state, "seq", "rubbish"),
    ] {
        fixture.raw::<()>(&mut damage.clone()).await;
        assert!(fixture.operate.views.snapshot(&fixture.id).await.is_err());
        fixture.restore(Replace::Stopped).await.expect("rebuilt");
        fixture.project().await;
        fixture.assert_complete().await;
    }
}

/// Two definitions got the same version, before and after a loss that an instance has not noticed.
#[tokio::test]
async fn an_instance_that_slept_through_a_restore_pays_what_is_defined_now() {
    let fixture = JackpotLedger::with(LedgerDb::sqlite(), &json!({})).await;
    let pays = |amount: u64| {
        json!({"odds": {"total": 2, "ranks": [
            {"rank": 1, "weight": 1, "prize": {"pool": {"tier": "grand", "take": "all"}}},
            {"rank": 3, "weight": 1, "prize": {"fixed": {"tier": "grand", "amount": amount}}}]}})
    };
    fixture.project().await;
    fixture.define(&pays(9)).await;
    let slept = fixture.other_instance().operate;
    let (_, view) = slept.views.refresh(&fixture.id).await.expect("readable");
    assert_eq!(view.version, 2);
    fixture.wipe().await;
    fixture.heal().await;
    fixture.define(&pays(5)).await;
    fixture.enter(&[entry("e", 1)]).await;
    fixture.fund("f", 50).await;
    let play = crate::support::given::play(
        &fixture.store,
        slept.views.clone(),
        PlayMetrics::new(fixture.metrics.clone()),
        u64::MAX,
    );
    let id = Id::parse("e").expect("an id");
    let played = play
        .enter(&fixture.id, &id, entry("e", 1).sent, By::default())
        .await
        .expect("paid");
    let State::Paid { payout, .. } = &played.record.state else {
        panic!("{played:?}")
    };
    assert_eq!((payout.rank, payout.amount), (3, 5));
    assert_eq!(
        played.definition.document(),
        fixture.fresh().await.1.definition.document()
    );
}
