//! Targets that fail, hang or want no more; what an operator can do.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

use super::receiver::{Got, Receiver, Reply};
use super::{jackpot, play, posted, service, shown, stream, subscribe};
use crate::support::prelude::*;

#[tokio::test]
async fn a_target_that_hangs_holds_up_nobody_else() {
    let service = service().await;
    let (hangs, fine) = (Receiver::answering(|_| Reply::Hang).await, Receiver::start().await);
    jackpot(&service, "slow").await;
    subscribe(&service, "hangs", &hangs.url(), &["payout.created"], &["jackpot:slow"]).await;
    subscribe(&service, "fine", &fine.url(), &["payout.created"], &["jackpot:slow"]).await;
    for i in 0..30 {
        play(&service, "slow", &format!("e{i}")).await;
    }
    fine.until("payout.created", 30).await;
    assert!(hangs.got().len() <= 1, "it has its first request only");
    let failed = shown(&service, "hangs", "the try is given up", |shown| {
        shown["state"] == "retrying" && stream(shown, "jackpot:slow")["lag"] == 30
    })
    .await;
    let error = stream(&failed, "jackpot:slow")["last_error"].clone();
    assert_eq!(error, "no answer within 10 s");
    hangs.answer(|_| Reply::Status(200));
    assert_eq!(hangs.until("payout.created", 30).await.len(), 30);
}

#[tokio::test]
async fn one_event_is_skipped_by_its_id_and_no_other() {
    let service = service().await;
    let receiver = Receiver::answering(|got| Reply::Status(if got.order().0 == 4 { 422 } else { 200 })).await;
    jackpot(&service, "skipped").await;
    subscribe(&service, "skipped", &receiver.url(), &["*"], &["jackpot:skipped"]).await;
    play(&service, "skipped", "e0").await;
    play(&service, "skipped", "e1").await;
    let retrying = |shown: &serde_json::Value| shown["state"] == "retrying";
    shown(&service, "skipped", "an event is refused", retrying).await;
    let poison = receiver
        .got()
        .into_iter()
        .find(|got| !got.taken)
        .expect("a refused event")
        .id;
    let skip = |id: &str| json!({"subject": "jackpot:skipped", "id": id, "reason": "unreadable"});
    let path = "/v1/subscriptions/skipped/skip";
    let wrong = service.post(path, skip(&format!("{poison}7"))).await;
    wrong.refused(409, "not-next");
    wrong.says(&poison);
    receiver.answer({
        let poison = poison.clone();
        move |got| Reply::Status(if got.id == poison { 422 } else { 200 })
    });
    posted(&service, path, skip(&poison)).await;
    service.post(path, skip(&poison)).await.is(409); // once
    receiver.until("payout.created", 2).await;
    assert!(receiver.taken().iter().all(|got| got.id != poison));
    let audit = service.get("/v1/audit").await.body;
    let row = &audit["items"][0];
    assert_has!(row, {"action": "skip", "target": "subscription:skipped/jackpot:skipped", "reason": "unreadable"});
}

#[tokio::test]
async fn gone_disables_until_an_operator_resumes() {
    let mut service = service().await;
    let receiver = Receiver::answering(|_| Reply::Status(410)).await;
    jackpot(&service, "gone").await;
    play(&service, "gone", "e0").await;
    subscribe(
        &service,
        "gone",
        &receiver.url(),
        &["payout.created"],
        &["jackpot:gone"],
    )
    .await;
    shown(&service, "gone", "it is disabled", |shown| shown["state"] == "disabled").await;
    service.kill9();
    service.restart().await;
    play(&service, "gone", "e1").await;
    let seen = shown(&service, "gone", "its lag grows", |shown| {
        stream(shown, "jackpot:gone")["lag"] == 2
    })
    .await;
    assert_eq!((&seen["state"], receiver.got().len()), (&json!("disabled"), 1));
    receiver.answer(|_| Reply::Status(204));
    let resumed = service.call(Method::POST, "/v1/subscriptions/gone/resume", None).await;
    assert_eq!(resumed.body["state"], "running");
    let got = receiver.until("payout.created", 2).await;
    assert_eq!(got.len(), 2);
    let seen = shown(&service, "gone", "nothing fails", |shown| {
        stream(shown, "jackpot:gone")["lag"] == 0
    })
    .await;
    assert_eq!(stream(&seen, "jackpot:gone")["last_error"], json!(null));
}

/// Whether nothing is left of each of these subjects.
fn is_done(shown: &serde_json::Value, subjects: &[&str]) -> bool {
    subjects.iter().all(|subject| stream(shown, subject)["lag"] == 0)
}

const BOTH: [&str; 2] = ["jackpot:held", "jackpot:other"];

/// Subscribes to both, and waits until the target has the payout of the first one and holds its answer.
async fn on_its_way(service: &Service, name: &str, target: &Receiver) -> Got {
    for id in ["held", "other"] {
        jackpot(service, id).await;
    }
    play(service, "held", "e0").await;
    subscribe(service, name, &target.url(), &["payout.created"], &BOTH).await;
    eventually(Duration::from_secs(20), "the target has it", async || {
        target.got().pop()
    })
    .await
}

#[tokio::test]
async fn a_late_410_of_the_target_before_does_not_disable_the_subscription_with_the_new_one() {
    let service = service().await;
    let answered = Arc::new(Notify::new());
    let gone = Reply::Gone(Arc::clone(&answered));
    let (old, new) = (
        Receiver::answering(move |_| gone.clone()).await,
        Receiver::start().await,
    );
    let held = on_its_way(&service, "moved", &old).await;
    subscribe(&service, "moved", &new.url(), &["payout.created"], &BOTH).await;
    // Once this one came, the instance delivers as the new version.
    play(&service, "other", "e0").await;
    new.until("payout.created", 1).await;
    answered.notify_one();
    let got = new.until("payout.created", 2).await;
    assert_eq!(got[1].id, held.id);
    let seen = shown(&service, "moved", "nothing is left", |shown| is_done(shown, &BOTH)).await;
    assert_eq!(
        (&seen["state"], &stream(&seen, BOTH[0])["last_error"]),
        (&json!("running"), &json!(null))
    );
    assert_eq!(old.got().len(), 1);
}

#[tokio::test]
async fn a_late_410_from_before_a_resume_does_not_disable_again() {
    let service = service().await;
    let answered = Arc::new(Notify::new());
    let gone = Reply::Gone(Arc::clone(&answered));
    let receiver = Receiver::answering(move |got| {
        if got.subject() == "jackpot:held" {
            gone.clone()
        } else {
            Reply::Status(410)
        }
    })
    .await;
    let held = on_its_way(&service, "resumed", &receiver).await;
    play(&service, "other", "e0").await;
    shown(&service, "resumed", "it is disabled", |shown| {
        shown["state"] == "disabled"
    })
    .await;
    receiver.answer(|_| Reply::Status(200));
    let resumed = service
        .call(Method::POST, "/v1/subscriptions/resumed/resume", None)
        .await;
    assert_eq!(resumed.body["state"], "running");
    // Once this one was taken, the instance delivers as the resumed version.
    receiver.until("payout.created", 1).await;
    answered.notify_one();
    let got = receiver.until("payout.created", 2).await;
    assert_eq!(got[1].id, held.id);
    let seen = shown(&service, "resumed", "nothing is left", |shown| is_done(shown, &BOTH)).await;
    assert_eq!(seen["state"], "running");
}

/// What a winning entry tells: first `entry.taken`, then `payout.created`.
#[tokio::test]
async fn an_event_counts_as_delivered_once_all_that_is_wanted_of_it_is() {
    let service = service().await;
    let receiver = Receiver::answering(|got| Reply::Status(if got.kind == "payout.created" { 500 } else { 200 })).await;
    jackpot(&service, "parts").await;
    play(&service, "parts", "e0").await;
    let subject = "jackpot:parts";
    for (name, types) in [
        ("payouts", &["payout.created"][..]),
        ("both", &["entry.taken", "payout.created"][..]),
    ] {
        subscribe(&service, name, &receiver.url(), types, &[subject]).await;
        let failing = shown(&service, name, "its payout is refused", |shown| {
            shown["state"] == "retrying"
        })
        .await;
        let refused = receiver.got().pop().expect("a payout");
        let (n, i) = refused.order();
        assert!(i > 0 && !refused.taken, "{}", refused.id);
        let of = stream(&failing, subject);
        assert_has!(of, {"delivered_n": n - 1, "lag": 1}, "{name}");
        // Nothing moves meanwhile.
        let pause = format!("/v1/subscriptions/{name}/pause");
        service.call(Method::POST, &pause, None).await;
        let skip = json!({"subject": subject, "id": refused.id, "reason": "a test"});
        let passed = posted(&service, &format!("/v1/subscriptions/{name}/skip"), skip).await;
        let of = stream(&passed, subject);
        assert_has!(of, {"delivered_n": n, "lag": 0}, "{name}");
    }
    // A replay from it sends all of it again.
    receiver.answer(|_| Reply::Status(200));
    let n = receiver.got().pop().expect("a payout").order().0;
    let replay = json!({"subject": subject, "from_n": n});
    posted(&service, "/v1/subscriptions/both/replay", replay).await;
    service.call(Method::POST, "/v1/subscriptions/both/resume", None).await;
    let done = shown(&service, "both", "all of it came", |shown| is_done(shown, &[subject])).await;
    assert!(stream(&done, subject)["delivered_n"].as_u64() >= Some(n), "{done}");
    assert_eq!(receiver.until("payout.created", 1).await[0].order().0, n);
}

#[tokio::test]
async fn a_cursor_moves_back_only() {
    let service = service().await;
    let receiver = Receiver::start().await;
    jackpot(&service, "back").await;
    play(&service, "back", "e0").await;
    subscribe(
        &service,
        "back",
        &receiver.url(),
        &["payout.created"],
        &["jackpot:back"],
    )
    .await;
    receiver.until("payout.created", 1).await;
    let path = "/v1/subscriptions/back/replay";
    for (from_n, field) in [(json!(1_000), "from_n"), (json!(0), "from_n"), (json!("1"), "from_n")] {
        service
            .post(path, json!({"subject": "jackpot:back", "from_n": from_n}))
            .await
            .invalid(field);
    }
    service
        .post(path, json!({"subject": "jackpot:other", "from_n": 1}))
        .await
        .invalid("subject");
    posted(&service, path, json!({"subject": "jackpot:back", "from_n": 1})).await;
    eventually(Duration::from_secs(20), "it comes again", async || {
        (receiver.taken().len() == 2).then_some(())
    })
    .await;
}

/// A target has an event before the cursor in SQL says so.
#[tokio::test]
async fn a_replay_from_what_was_just_delivered_waits_for_the_cursor() {
    let service = service().await;
    let answered = Arc::new(Notify::new());
    let held = Reply::Held(Arc::clone(&answered));
    let receiver = Receiver::answering(move |_| held.clone()).await;
    jackpot(&service, "just").await;
    play(&service, "just", "e0").await;
    play(&service, "just", "e1").await;
    subscribe(
        &service,
        "just",
        &receiver.url(),
        &["payout.created"],
        &["jackpot:just"],
    )
    .await;
    shown(&service, "just", "both payouts wait", |shown| {
        stream(shown, "jackpot:just")["lag"] == 2
    })
    .await;
    let first = receiver.until("payout.created", 1).await.remove(0);
    let from_n = first.order().0 + 1;
    let replay = json!({"subject": "jackpot:just", "from_n": from_n});
    let replayed = posted(&service, "/v1/subscriptions/just/replay", replay);
    let answers = async {
        // The replay has begun by the time these are answered.
        for _ in 0..20 {
            service.get("/v1/subscriptions/just").await;
        }
        receiver.answer(|_| Reply::Status(200));
        answered.notify_one();
    };
    tokio::join!(replayed, answers);
    assert_eq!(receiver.until("payout.created", 2).await.len(), 2);
}

#[tokio::test]
async fn what_was_delivered_before_a_pause_is_not_repeated_after_a_kill() {
    let mut service = service().await;
    let answered = Arc::new(Notify::new());
    let held = Reply::Held(Arc::clone(&answered));
    let receiver = Receiver::answering(move |_| held.clone()).await;
    jackpot(&service, "paused").await;
    play(&service, "paused", "e0").await;
    subscribe(
        &service,
        "paused",
        &receiver.url(),
        &["payout.created"],
        &["jackpot:paused"],
    )
    .await;
    let first = receiver.until("payout.created", 1).await.remove(0);
    let paused = service.call(Method::POST, "/v1/subscriptions/paused/pause", None);
    let answers = async {
        // The pause has begun by the time these are answered.
        for _ in 0..20 {
            service.get("/v1/subscriptions/paused").await;
        }
        receiver.answer(|_| Reply::Status(200));
        answered.notify_one();
    };
    let (paused, ()) = tokio::join!(paused, answers);
    assert_eq!(paused.body["state"], "paused");
    service.kill9();
    service.restart().await;
    play(&service, "paused", "e1").await;
    service
        .call(Method::POST, "/v1/subscriptions/paused/resume", None)
        .await;
    receiver.until("payout.created", 2).await;
    let repeats = receiver.taken().iter().filter(|got| got.id == first.id).count();
    assert_eq!(repeats, 1);
}

#[tokio::test]
async fn another_target_gets_at_once_what_failed_before() {
    let mut service = service().await;
    let (old, new) = (
        Receiver::answering(|_| Reply::Status(500)).await,
        Receiver::start().await,
    );
    jackpot(&service, "put").await;
    subscribe(&service, "put", &old.url(), &["payout.created"], &["jackpot:put"]).await;
    play(&service, "put", "e0").await;
    shown(&service, "put", "it failed", |shown| shown["state"] == "retrying").await;
    while_stopped(
        &mut service,
        "UPDATE subscription_streams SET next_try_ms = next_try_ms + 86400000",
    )
    .await;
    let tried = old.got().len();
    // The same target again is no reason to try.
    subscribe(&service, "put", &old.url(), &["payout.*"], &["jackpot:put"]).await;
    subscribe(&service, "put", &new.url(), &["payout.created"], &["jackpot:put"]).await;
    new.until("payout.created", 1).await;
    assert_eq!(old.got().len(), tried);
}

/// Stops the service, changes its ledger, and starts it again.
async fn while_stopped(service: &mut Service, change: &'static str) {
    service.stop().await;
    let file = service.data_dir().join("ledger.sqlite");
    sqlx::any::install_default_drivers();
    let url = format!("sqlite://{}", file.display());
    let mut database = <sqlx::AnyConnection as sqlx::Connection>::connect(&url)
        .await
        .expect("the ledger");
    sqlx::query(change).execute(&mut database).await.expect("a row");
    sqlx::Connection::close(database).await.expect("closed");
    service.restart().await;
}

#[tokio::test]
async fn an_event_that_fails_for_a_day_is_an_alarm() {
    let mut service = service().await;
    let receiver = Receiver::answering(|_| Reply::Status(500)).await;
    jackpot(&service, "alarm").await;
    play(&service, "alarm", "e0").await;
    subscribe(
        &service,
        "alarm",
        &receiver.url(),
        &["payout.created"],
        &["jackpot:alarm"],
    )
    .await;
    let failing = shown(&service, "alarm", "it fails", |shown| shown["state"] == "retrying").await;
    assert_eq!(failing["alarm"], false);
    // A day passes.
    while_stopped(
        &mut service,
        "UPDATE subscription_streams SET failing_ms = failing_ms - 86400001",
    )
    .await;
    shown(&service, "alarm", "the alarm is on", |shown| shown["alarm"] == true).await;
    eventually(Duration::from_secs(20), "the metric shows it", async || {
        let metrics = service.get("/metrics").await.text;
        metrics
            .contains("subscription_alarm{subscription=\"alarm\"} 1")
            .then_some(())
    })
    .await;
    receiver.answer(|_| Reply::Status(200));
    service.call(Method::POST, "/v1/subscriptions/alarm/resume", None).await;
    shown(&service, "alarm", "the alarm is off", |shown| {
        shown["alarm"] == false && shown["state"] == "running" && stream(shown, "jackpot:alarm")["lag"] == 0
    })
    .await;
}

#[tokio::test]
async fn a_restored_copy_sends_nothing_until_an_operator_resumes() {
    let mut service = service().await;
    let receiver = Receiver::start().await;
    jackpot(&service, "copied").await;
    play(&service, "copied", "e0").await;
    let first = subscribe(&service, "copied", &receiver.url(), &["*"], &["jackpot:copied"]).await;
    receiver.until("payout.created", 1).await;
    shown(&service, "copied", "nothing is left", |shown| {
        stream(shown, "jackpot:copied")["lag"] == 0
    })
    .await;
    let folder = tempfile::tempdir().expect("a directory");
    let backup = folder.path().join("backup");
    let path = backup.to_str().expect("a path");
    let done = service.command_beside(&["backup", path]).await;
    done.done();
    service.stop().await;
    let before = receiver.got().len();
    let data = Service::directory();
    let restored = Service::command_in(data.path(), &[], &["restore", "--from", path]);
    restored.done();
    let copy = Service::start_in(data, &[super::ALLOWED]).await;
    play(&copy, "copied", "e1").await;
    let lags = |shown: &serde_json::Value| stream(shown, "jackpot:copied")["lag"].as_u64() >= Some(3);
    let paused = shown(&copy, "copied", "the restore and the play wait", lags).await;
    assert_has!(paused, {"state": "paused", "verification_key": first["verification_key"]});
    assert_eq!(receiver.got().len(), before);
    copy.call(Method::POST, "/v1/subscriptions/copied/resume", None).await;
    receiver.until("payout.created", 2).await;
    receiver.until("jackpot.restored", 1).await;
}

/// Name and nice value of each thread of the service.
fn threads(service: &Service) -> Vec<(String, String)> {
    let of = format!("/proc/{}/task", service.pid().as_raw_nonzero());
    let all = std::fs::read_dir(of).expect("a process of this test").flatten();
    let read = |thread: std::fs::DirEntry| {
        let stat = std::fs::read_to_string(thread.path().join("stat")).ok()?;
        let (name, rest) = stat.split_once('(')?.1.rsplit_once(") ")?;
        Some((name.to_owned(), rest.split(' ').nth(16)?.to_owned()))
    };
    all.filter_map(read).collect()
}

/// What a slow target leaves of a processor is as little as what a busy machine would leave.
#[tokio::test]
async fn a_stream_whose_thread_gets_little_for_long_goes_on_with_the_priority_of_others() {
    let service = service().await;
    let answered = Arc::new(Notify::new());
    let held = Reply::Held(Arc::clone(&answered));
    let receiver = Receiver::answering(move |_| held.clone()).await;
    jackpot(&service, "starved").await;
    // One event of the ledger, so that all that it tells is read at once.
    let entries: Vec<_> = (0..600).map(|_| json!({"player_id": "p1", "stake": 100})).collect();
    let payouts = entries.len();
    let batch = json!({"batch_id": "b", "entries": entries});
    posted(&service, "/v1/jackpots/starved/entry-batches", batch).await;
    let before = threads(&service);
    let (_, usual) = before
        .iter()
        .find(|(name, _)| name == "jackpot")
        .expect("the first thread");
    let urgent = ("events-urgent".to_owned(), usual.clone());
    assert!(!before.contains(&urgent));
    subscribe(&service, "starved", &receiver.url(), &["*"], &["jackpot:starved"]).await;
    let mut looks = 0;
    eventually(Duration::from_mins(1), "the stream goes on elsewhere", async || {
        // One event for some looks, so that all of them would take longer than this waits.
        looks += 1;
        if looks % 5 == 0 {
            answered.notify_one();
        }
        threads(&service).contains(&urgent).then_some(())
    })
    .await;
    assert!(
        receiver.taken().len() < payouts,
        "it did not wait for the end of what was read"
    );
    receiver.answer(|_| Reply::Status(200));
    answered.notify_one();
    receiver.until("payout.created", payouts).await;
    let orders: Vec<_> = receiver.taken().iter().map(Got::order).collect();
    assert!(
        orders.is_sorted_by(|one, next| one < next),
        "in order, each once: {orders:?}"
    );
    let threads = threads(&service);
    assert!(threads.contains(&("events".to_owned(), "19".to_owned())));
    let of_sql = threads.iter().filter(|(name, _)| name.starts_with("sqlx"));
    assert!(of_sql.clone().count() > 0);
    assert!(
        of_sql.clone().all(|(_, nice)| nice == usual),
        "SQL is not asked from a thread that waits: {threads:?}"
    );
}
