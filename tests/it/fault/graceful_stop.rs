//! A stop under load: what was accepted is answered.

use tokio::task::JoinSet;

use crate::fault::load::{Load, assert_each_counted_once};
use crate::fault::support::{balanced, create, embedded, entry, lively};
use crate::support::prelude::*;
use crate::support::proxy::ChaosProxy;
use crate::support::service::PATIENT;

const JACKPOT: &str = "last-orders";

#[tokio::test]
async fn every_request_that_was_accepted_before_a_stop_is_answered() {
    const ENTRIES: u64 = 64;
    const EARLIER: u64 = 10;
    let own = own_redis(&[]).await;
    let proxy = ChaosProxy::in_front_of(own.url()).await;
    let server = [
        ("JACKPOT__REDIS__MODE", "standalone"),
        ("JACKPOT__REDIS__URLS", proxy.url()),
        ("JACKPOT__HTTP__SHUTDOWN_TIMEOUT_S", "60"),
    ];
    // A call that the service itself repeats would be reported as a replay.
    let mut service = Service::start_with(&[&PATIENT[..], &server].concat()).await;
    create(&service, lively(JACKPOT)).await;
    // Redis has the functions that take entries: a call that finds one missing goes out twice.
    for n in 0..EARLIER {
        let path = format!("/v1/jackpots/{JACKPOT}/entries");
        service.post(&path, entry(&format!("earlier{n}"))).await.is(201);
    }

    // From here on Redis executes commands, and its answers are held back. Some entries are sent; the others wait for
    // them.
    proxy.stall();
    let mut entries = JoinSet::new();
    for n in 0..ENTRIES {
        let (caller, path) = (service.caller(), format!("/v1/jackpots/{JACKPOT}/entries"));
        entries.spawn(async move { caller.post(&path, &entry(&format!("e{n}"))).await });
    }
    let count = ENTRIES + 1; // with the one that asks
    let all = format!("jackpot_http_in_flight {count}");
    eventually(PATIENCE, "all requests are in the service", async || {
        let metrics = service.get("/metrics").await.text;
        metrics.lines().any(|line| line == all).then_some(())
    })
    .await;
    // A request counts as soon as it is in the service; the first call comes a little later. Redis may hold another state
    // than that call expects: then it changes nothing, and the next one waits for the answer. So what is sent counts.
    let sent = eventually(PATIENCE, "the first call is sent", async || {
        Some(in_calls(&service).await).filter(|sent| *sent > EARLIER)
    })
    .await;
    assert!(sent < EARLIER + ENTRIES, "{sent}: some were sent and some wait");

    let outsider = service.caller();
    let release = async {
        eventually(PATIENCE, "the service takes no connection any more", async || {
            outsider.get_alone("/healthz").await.is_err().then_some(())
        })
        .await;
        assert_eq!(entries.len() as u64, ENTRIES);
        proxy.pass();
    };
    let (status, ()) = tokio::join!(service.stop(), release);
    assert!(status.success(), "{status}\n{}", service.log());
    while let Some(answer) = entries.join_next().await {
        let answer = answer.expect("the task ran").expect("an accepted request is answered");
        answer.is(201);
    }
    service.restart().await;
    assert_eq!(balanced(&service, JACKPOT).await["contributed"], EARLIER + ENTRIES);
}

/// Entries in calls that were sent.
async fn in_calls(service: &Service) -> u64 {
    let metrics = service.get("/metrics").await.text;
    let sum = metrics
        .lines()
        .find_map(|line| line.strip_prefix("jackpot_combined_entries_sum "));
    let sum = sum
        .and_then(|sum| sum.strip_suffix(".0"))
        .expect("a metric of whole entries");
    sum.parse().expect("a number")
}

#[tokio::test]
async fn heavy_a_stop_and_a_start_under_load_lose_no_acknowledged_entry() {
    const STOPS: usize = 2;
    let (mut service, url) = embedded(&PATIENT).await;
    create(&service, lively(JACKPOT)).await;
    let load = Load::start(&service, JACKPOT, 12);
    for _ in 0..STOPS {
        load.until_answered(100).await;
        assert!(service.stop().await.success(), "{}", service.log());
        assert_eq!(service.redis_pids(), [], "its Redis ends with it");
        assert!(service.try_call(Method::GET, "/healthz", None).await.is_err());
        service.restart().await;
    }
    load.until_answered(100).await;
    let played = load.finish().await;
    // A request that met the end of its connection was not begun, or it would have been answered. Its repeat after the
    // restart is the first that counts.
    let unanswered: Vec<_> = played.iter().filter(|one| one.replayed).map(|one| &one.entry).collect();
    assert!(
        unanswered.is_empty(),
        "taken before the stop and not answered: {unanswered:?}"
    );
    assert_each_counted_once(&service, &url, JACKPOT, &played).await;
}

/// A closed terminal and Ctrl-\ end the service in order too. A private Redis that stays would surprise.
#[tokio::test]
async fn heavy_every_signal_that_ends_it_ends_its_redis_too() {
    use rustix::process::Signal;
    for signal in [Signal::HUP, Signal::QUIT, Signal::INT] {
        let mut service = crate::support::service::Service::start().await;
        assert_eq!(service.redis_pids().len(), 1);
        let status = service.stop_by(signal).await;
        assert!(status.success(), "{signal:?}: {status}");
        assert_eq!(service.redis_pids(), []);
    }
}
