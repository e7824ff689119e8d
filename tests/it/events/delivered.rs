//! What was committed is delivered, in order, also when a service or a receiver is killed.

use std::time::Duration;

use super::receiver::{Got, Receiver, Reply};
use super::{jackpot, play, service, shown, stream, subscribe};
use crate::support::postgres_local::PrivatePostgres;
use crate::support::prelude::*;

/// Checks that each of the payouts came once after deduplication, in the order of its claim.
fn assert_in_order(got: &[Got], count: usize) {
    let orders: Vec<_> = got
        .iter()
        .map(|one| one.json()["data"]["claim_order"].as_u64())
        .collect();
    let wanted: Vec<_> = (1..=count as u64).map(Some).collect();
    assert_eq!(orders, wanted);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kills_of_service_and_receiver_lose_and_reorder_nothing() {
    let mut service = service().await;
    let mut receiver = Receiver::start().await;
    jackpot(&service, "killed").await;
    subscribe(
        &service,
        "killed",
        &receiver.url(),
        &["payout.created"],
        &["jackpot:killed"],
    )
    .await;
    let mut played = 0;
    let (kills, turn) = (8, 12);
    for kill in 0..kills {
        for _ in 0..turn {
            play(&service, "killed", &format!("e{played}")).await;
            played += 1;
        }
        // In the middle of the deliveries: some of these payouts have come, perhaps not all.
        receiver.until("payout.created", played - 8).await;
        if kill % 2 == 0 {
            service.kill9();
            service.restart().await;
        } else {
            receiver.crash().await;
        }
    }
    let got = receiver.until("payout.created", played).await;
    assert_in_order(&got, played);
    let all = receiver.taken();
    let mut bodies = std::collections::BTreeMap::new();
    for one in &all {
        let first = bodies.entry(one.id.clone()).or_insert_with(|| one.body.clone());
        assert_eq!(*first, one.body, "a repeat is the same");
    }
    // At most what was played since the kill before, which may all have come within the last 20 ms, and what was on its way.
    assert!(
        all.len() - bodies.len() <= kills / 2 * turn + kills,
        "a kill repeats a few: {} of {}",
        all.len(),
        bodies.len()
    );
    shown(&service, "killed", "nothing is left", |shown| {
        stream(shown, "jackpot:killed")["lag"] == 0 && shown["state"] == "running"
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_instance_goes_on_for_one_that_died() {
    let postgres = PrivatePostgres::start().await.expect("apt-get install postgresql");
    let redis = own_redis(&[]).await;
    let url = postgres.url();
    let more = [
        super::ALLOWED,
        ("JACKPOT__LEDGER__URL", url.as_str()),
        ("JACKPOT__LEDGER__LEASE_MS", "2000"),
    ];
    let mut one = service_on(redis.url(), &more).await;
    let other = service_on(redis.url(), &more).await;
    let receiver = Receiver::start().await;
    jackpot(&one, "two").await;
    subscribe(&one, "two", &receiver.url(), &["payout.created"], &["jackpot:two"]).await;
    for i in 0..20 {
        play(&one, "two", &format!("e{i}")).await;
    }
    receiver.until("payout.created", 20).await;
    one.kill9();
    for i in 20..40 {
        play(&other, "two", &format!("e{i}")).await;
    }
    let got = receiver.until("payout.created", 40).await;
    assert_in_order(&got, 40);
    // A change on one instance reaches the other one.
    one.restart().await;
    let paused = one.call(Method::POST, "/v1/subscriptions/two/pause", None).await;
    assert_eq!(paused.body["state"], "paused");
    let seen = other.get("/v1/subscriptions/two").await;
    assert_has!(seen.body, {"state": "paused", "verification_key": paused.body["verification_key"]});
    one.call(Method::POST, "/v1/subscriptions/two/resume", None).await;
    for i in 40..50 {
        play(&one, "two", &format!("e{i}")).await;
    }
    assert_in_order(&receiver.until("payout.created", 50).await, 50);
}

#[tokio::test]
async fn a_deleted_subscription_is_forgotten_and_one_of_its_name_is_another() {
    let service = service().await;
    let receiver = Receiver::start().await;
    jackpot(&service, "named").await;
    play(&service, "named", "e0").await;
    let first = subscribe(
        &service,
        "named",
        &receiver.url(),
        &["payout.created"],
        &["jackpot:named"],
    )
    .await;
    receiver.until("payout.created", 1).await;
    service
        .call(Method::DELETE, "/v1/subscriptions/named", None)
        .await
        .is(204);
    assert_eq!(
        service.get("/v1/subscriptions/named").await.body["code"],
        "subscription-not-found"
    );
    let second = subscribe(
        &service,
        "named",
        &receiver.url(),
        &["payout.created"],
        &["jackpot:named"],
    )
    .await;
    assert_ne!(first["verification_key"], second["verification_key"]);
    eventually(Duration::from_secs(20), "the payout comes again", async || {
        (receiver.taken().len() == 2).then_some(())
    })
    .await;
    let (one, other) = (&receiver.taken()[0], &receiver.taken()[1]);
    assert_eq!(one.body, other.body);
    assert_ne!(one.headers["webhook-signature"], other.headers["webhook-signature"]);
}

#[tokio::test]
async fn a_subject_that_a_change_takes_away_is_forgotten() {
    let service = service().await;
    let receiver = Receiver::start().await;
    for id in ["kept", "gone"] {
        jackpot(&service, id).await;
        play(&service, id, "e0").await;
    }
    let both = ["jackpot:kept", "jackpot:gone"];
    subscribe(&service, "changed", &receiver.url(), &["payout.created"], &both).await;
    receiver.until("payout.created", 2).await;
    let shown = subscribe(&service, "changed", &receiver.url(), &["payout.created"], &both[..1]).await;
    assert_eq!(
        (stream(&shown, both[0]).is_null(), stream(&shown, both[1]).is_null()),
        (false, true)
    );
    play(&service, "gone", "e1").await;
    play(&service, "kept", "e1").await;
    eventually(
        Duration::from_secs(20),
        "the payout of the other one comes",
        async || (receiver.taken().len() == 3).then_some(()),
    )
    .await;
    assert_eq!(receiver.taken()[2].subject(), "jackpot:kept");
    receiver.answer(|_| Reply::Status(200));
}

#[tokio::test]
async fn a_restore_says_which_history_counts_and_the_numbers_go_on() {
    let mut service = service().await;
    let receiver = Receiver::start().await;
    jackpot(&service, "lost").await;
    play(&service, "lost", "e0").await;
    subscribe(&service, "lost", &receiver.url(), &["*"], &["jackpot:lost"]).await;
    receiver.until("payout.created", 1).await;
    service.stop().await;
    std::fs::remove_dir_all(service.data_dir().join("redis")).expect("Redis loses everything");
    service.restart().await;
    let restored = receiver.until("jackpot.restored", 1).await.remove(0);
    let history = |id: &str| id.split(':').nth(2).expect("a history").to_owned();
    let data = restored.json()["data"].clone();
    let before = receiver
        .taken()
        .into_iter()
        .filter(|got| got.order().0 < restored.order().0);
    let before = before.max_by_key(Got::order).expect("an event before the restore");
    assert_has!(data["before"], {"history": history(&before.id), "last_n": restored.order().0 - 1});
    assert_ne!(history(&before.id), history(&restored.id));
    assert_eq!(before.order().0, restored.order().0 - 1, "the numbers go on");
    let opened = receiver.until("epoch.opened", 2).await.remove(1);
    let closed = receiver.until("epoch.closed", 1).await.remove(0);
    assert_eq!(
        [closed.order(), opened.order()],
        [1, 2].map(|i| (restored.order().0, i))
    );
}
