//! Redis beside the ledger: agreement is clean under load, and a difference of one unit is found.

use jackpot::jackpot::ledger::books::Meters;
use jackpot::jackpot::scripts::Refusal;
use jackpot::ledger::reconcile::now::NotClean;
use jackpot::ledger::reconcile::report::Report;
use jackpot_api::jackpot::Status;
use jackpot_core::mark::Mark;

use crate::jackpot::by_hand;
use crate::jackpot::fixture::{entry, operator};
use crate::jackpot::ledger::fixture::JackpotLedger;
use crate::jackpot::ledger::projector::live;
use crate::support::prelude::*;

on_both_databases!(
    under_load_it_is_clean,
    one_unit_by_hand_is_found_on_an_idle_jackpot,
    one_unit_by_hand_is_found_on_a_busy_jackpot,
    a_status_by_hand_is_found,
    all_that_decides_is_compared,
    a_suspended_jackpot_is_resumed_when_it_is_clean_again,
    a_stream_that_is_stopped_says_so,
    a_pool_that_is_gone_is_found,
    all_have_their_turn_and_not_at_once,
    a_comparison_without_news_stores_its_time_at_each_fifth,
);

/// Adds to a meter by hand.
async fn tamper(fixture: &JackpotLedger, meter: &str, by: i64) {
    let keys = &fixture.operate.views.registry.known(&fixture.id).keys;
    let tier = fixture.snapshot().await.meters[0].tier.clone();
    let command = if meter == "pool" {
        redis::cmd("INCRBY").arg(keys.pool(&tier)).arg(by).to_owned()
    } else {
        by_hand::add(&keys.state, &format!("{tier}:{meter}"), by)
    };
    fixture.raw::<redis::Value>(&mut command.clone()).await;
}

async fn last_report(fixture: &JackpotLedger) -> (bool, Report) {
    let row = fixture.table("reconciliations", "clean report").await.remove(0);
    (row[0] == "1", serde_json::from_str(&row[1]).expect("a report"))
}

async fn under_load_it_is_clean(db: LedgerDb) {
    let mut fixture = JackpotLedger::with(db, &json!({})).await;
    fixture.settings.reconcile_interval_s = 0;
    let mut projector = fixture.projector();
    let play = async {
        live(&fixture).await;
        for n in 0..150 {
            fixture
                .enter(&[entry(&format!("a{n}"), n % 4), entry(&format!("b{n}"), 0)])
                .await;
            if n % 10 == 0 {
                fixture.operate.checkpoint(&fixture.id).await.expect("done");
            }
        }
    };
    let read = async {
        for _ in 0..60 {
            projector.catch_up().await;
            tokio::task::yield_now().await;
        }
    };
    tokio::join!(play, read);
    projector.finish().await;
    fixture.assert_complete().await;
    let (clean, report) = last_report(&fixture).await;
    assert!(clean && report.clean, "{report:?}");
    assert_eq!(fixture.snapshot().await.status, Status::Open);
    assert_eq!(fixture.metric("reconciliation_mismatches_total"), "");
}

/// Changes each meter in turn: the report names it with both values, and play stops.
async fn assert_found(db: LedgerDb, busy: bool) {
    let mut fixture = JackpotLedger::with(db, &json!({})).await;
    fixture.settings.reconcile_interval_s = 0;
    live(&fixture).await;
    fixture.project().await;
    let id = &fixture.id;
    for (found, meter) in Meters::NAMES.iter().enumerate() {
        tamper(&fixture, meter, 1).await;
        if busy {
            fixture.operate.checkpoint(id).await.expect("done");
        }
        let mut projector = fixture.projector();
        if busy {
            projector.catch_up().await;
        } else {
            projector.round().await.expect("SQL answers");
        }
        let (clean, report) = last_report(&fixture).await;
        assert!(!clean);
        let faults = report.faults().join("; ");
        assert!(
            faults.contains(&format!("tier 'grand': {meter} is ")),
            "{meter}: {faults}"
        );
        let refused = fixture.enter(&[entry("another", 0)]).await.refusal;
        assert_eq!(refused, Some(Refusal::Suspended), "{meter}");
        let mismatches: usize = fixture
            .metric("reconciliation_mismatches_total")
            .parse()
            .expect("a number");
        assert!(mismatches > found, "{meter}");
        projector.finish().await;
        let reasons = fixture.table("audit", "action reason").await;
        let said = |row: &Vec<String>| row[0] == "suspend" && row[1].contains(&format!("{meter} is "));
        assert!(reasons.iter().any(said), "{reasons:?}");

        tamper(&fixture, meter, -1).await;
        let by = operator();
        fixture
            .operate
            .resume_suspended(id, "repaired".to_owned(), &by)
            .await
            .expect("resumed");
        fixture.project().await;
        assert!(last_report(&fixture).await.0, "{meter}");
    }
    fixture.assert_complete().await;
}

async fn one_unit_by_hand_is_found_on_an_idle_jackpot(db: LedgerDb) {
    assert_found(db, false).await;
}

async fn one_unit_by_hand_is_found_on_a_busy_jackpot(db: LedgerDb) {
    assert_found(db, true).await;
}

async fn a_status_by_hand_is_found(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &json!({})).await;
    fixture.status(Status::Paused).await;
    fixture.project().await;
    let keys = &fixture.operate.views.registry.known(&fixture.id).keys;
    fixture
        .raw::<()>(redis::cmd("HSET").arg(&keys.state).arg("status").arg("open"))
        .await;
    fixture.project().await;
    let (_, report) = last_report(&fixture).await;
    assert_eq!(report.faults(), ["status is open in Redis and paused in the ledger"]);
    assert_eq!(fixture.snapshot().await.status, Status::Suspended);
}

/// What a report says of a change by hand, the change, and how to take it back.
type ByHand = (&'static str, redis::Cmd, redis::Cmd);

async fn changes_by_hand(fixture: &JackpotLedger) -> Vec<ByHand> {
    let keys = &fixture.operate.views.registry.known(&fixture.id).keys;
    let state = fixture.state().await;
    let set = |field: &str, value: &str| by_hand::set(&keys.state, field, value);
    let mut all = Vec::new();
    // Versions, epoch and commitment are in the fence of every call: with another value nothing is played.
    for (field, value) in [
        ("tiers", "grand 0 777777;"),
        ("next", "9"),
        ("next_tiers", "grand 1 2;"),
        ("next_money", "0"),
        ("last_version", "77"),
        ("currency", "EUR"),
        ("order", "7777"),
        ("gen", if state["gen"] == "a" { "b" } else { "a" }),
        ("gen_start", "7777"),
        ("gen_opened", "1"),
        ("gen_version", "7"),
        ("retention", "7777"),
    ] {
        let name = if field == "order" { "claim_order" } else { field };
        all.push((name, set(field, value), set(field, &state[field])));
    }
    let aside = |key: &str| {
        let to = format!("{key}:aside");
        let rename = |from: &str, to: &str| redis::cmd("RENAME").arg(from).arg(to).to_owned();
        (rename(key, &to), rename(&to, key))
    };
    for (name, key) in [
        ("seen_a", &keys.seen_a),
        ("seen_b", &keys.seen_b),
        ("adjustments", &keys.adjustments),
        ("pending", &keys.pending),
    ] {
        let (away, back) = aside(key);
        all.push((name, away, back));
    }
    // The change is in one record of many.
    let record: Vec<String> = fixture.raw(redis::cmd("HRANDFIELD").arg(&keys.seen_a)).await;
    let text: String = fixture.raw(redis::cmd("HGET").arg(&keys.seen_a).arg(&record[0])).await;
    let drop = redis::cmd("HDEL").arg(&keys.seen_a).arg(&record[0]).to_owned();
    let keep = redis::cmd("HSET")
        .arg(&keys.seen_a)
        .arg(&record[0])
        .arg(text)
        .to_owned();
    all.push(("seen_a", drop, keep));
    let written = |by: i64| by_hand::add(&keys.state, "grand:pool", by);
    all.push(("pool_written", written(1), written(-1)));
    all
}

/// Makes each change alone, idle and busy: the report names it, and play stops.
async fn all_that_decides_is_compared(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &json!({})).await;
    live(&fixture).await;
    fixture.take("pending-for-good", 3).await;
    let runs: Vec<_> = (0..20).map(|n| entry(&format!("run-{n}"), 0)).collect();
    fixture.enter(&runs).await;
    fixture.project().await;
    let (clean, report) = last_report(&fixture).await;
    assert!(clean, "{:?}", report.faults());
    for (name, change, back) in changes_by_hand(&fixture).await {
        for busy in [false, true] {
            fixture.raw::<redis::Value>(&mut change.clone()).await;
            if busy {
                fixture.operate.checkpoint(&fixture.id).await.expect("done");
            }
            fixture.projector().finish().await;
            let (clean, report) = last_report(&fixture).await;
            let faults = report.faults().join("; ");
            assert!(
                !clean && faults.contains(&format!("{name} is ")),
                "{name}, busy {busy}: {faults}"
            );
            assert_eq!(fixture.snapshot().await.status, Status::Suspended, "{name}");
            fixture.raw::<redis::Value>(&mut back.clone()).await;
            let (operate, by) = (&fixture.operate, operator());
            let resumed = operate.resume_suspended(&fixture.id, "right".to_owned(), &by);
            resumed.await.expect("resumed");
            fixture.project().await;
            let (clean, report) = last_report(&fixture).await;
            assert!(clean, "{name}: {:?}", report.faults());
        }
    }
    fixture.assert_complete().await;
}

async fn a_suspended_jackpot_is_resumed_when_it_is_clean_again(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &json!({})).await;
    fixture.take("e", 0).await;
    let mut projector = fixture.projector();
    projector.catch_up().await;
    let clean = fixture.reconcile(&mut projector).await;
    assert!(clean.clean().is_ok());
    tamper(&fixture, "pool", 1).await;
    for _ in 0..2 {
        let mismatch = fixture.reconcile(&mut projector).await.clean();
        let Err(NotClean::Mismatch(_, faults)) = mismatch else {
            panic!("{mismatch:?}")
        };
        assert!(
            faults.starts_with("tier 'grand': pool is 2 in Redis and 1 in the ledger"),
            "{faults}"
        );
        assert_eq!(fixture.snapshot().await.status, Status::Suspended);
    }
    let by = operator();
    let refused = fixture
        .operate
        .set_status(&fixture.id, Status::Open, String::new(), &by)
        .await;
    assert!(refused.is_err(), "not without a reconciliation");
    tamper(&fixture, "pool", -1).await;
    assert!(fixture.reconcile(&mut projector).await.clean().is_ok());
    fixture
        .operate
        .resume_suspended(&fixture.id, String::new(), &by)
        .await
        .expect("resumed");
    fixture.take("again", 0).await;
    projector.finish().await;
    fixture.assert_complete().await;
}

async fn a_stream_that_is_stopped_says_so(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &json!({})).await;
    fixture.take("e", 0).await;
    let keys = &fixture.operate.views.registry.known(&fixture.id).keys;
    fixture
        .raw::<u64>(redis::cmd("XDEL").arg(&keys.events).arg("0-1"))
        .await;
    let mut projector = fixture.projector();
    let stopped = fixture.reconcile(&mut projector).await.clean();
    let Err(NotClean::Stopped(why)) = stopped else {
        panic!("{stopped:?}")
    };
    why.says("event 2 comes after event 0");
    assert_eq!(fixture.n().await, 0);
    assert!(fixture.snapshot().await.mark > Mark::ZERO);
}

async fn a_pool_that_is_gone_is_found(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &json!({})).await;
    fixture.take("e", 0).await;
    fixture.project().await;
    let keys = &fixture.operate.views.registry.known(&fixture.id).keys;
    let tier = fixture.snapshot().await.meters[0].tier.clone();
    fixture.raw::<()>(redis::cmd("DEL").arg(keys.pool(&tier))).await;
    let mut projector = fixture.own_projector();
    projector.round().await.expect("SQL answers");
    let (clean, report) = last_report(&fixture).await;
    assert!(
        !clean && report.faults()[0].starts_with("readable is "),
        "{:?}",
        report.faults()
    );
    assert_eq!(fixture.metric("reconciliation_mismatches_total"), "1");
    let status: String = fixture.raw(redis::cmd("HGET").arg(&keys.state).arg("status")).await;
    assert_eq!(status, "suspended");
}

async fn all_have_their_turn_and_not_at_once(db: LedgerDb) {
    let mut fixture = JackpotLedger::with(db, &json!({})).await;
    for _ in 0..2 {
        crate::jackpot::fixture::JackpotFixture::on(fixture.redis.clone(), &json!({})).await;
    }
    fixture.project().await;
    fixture.settings.reconcile_interval_s = 3;
    let delete = sqlx::query("DELETE FROM reconciliations");
    fixture.ledger.sql.execute(delete).await.expect("done");
    let mut projector = fixture.projector();
    for compared in 1..=3 {
        projector.catch_up().await;
        assert_eq!(fixture.table("reconciliations", "n").await.len(), compared);
    }
}

async fn a_comparison_without_news_stores_its_time_at_each_fifth(db: LedgerDb) {
    let mut fixture = JackpotLedger::with(db, &json!({})).await;
    fixture.settings.reconcile_interval_s = 0;
    fixture.take("e", 0).await;
    let mut projector = fixture.own_projector();
    projector.catch_up().await;
    let mut stored = Vec::new();
    for compared in 0..=22 {
        fixture.change("UPDATE reconciliations SET at_ms = 1").await;
        projector.catch_up().await;
        let row = fixture.table("reconciliations", "clean at_ms").await.remove(0);
        assert_eq!(row[0], "1");
        if row[1] != "1" {
            stored.push(compared);
        }
    }
    let gaps: Vec<_> = stored.windows(2).map(|pair| pair[1] - pair[0]).collect();
    // After 20 of them one looks at the rows of the ledger again.
    assert_eq!(gaps, [5, 5, 5, 1], "{stored:?}");
}
