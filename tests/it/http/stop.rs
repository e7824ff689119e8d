//! A stop answers what was accepted.

use std::time::{Duration, Instant};

use super::support::{eventually, server};

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_waits_for_the_request_in_flight() {
    let mut server = server().await;
    // An idle connection that is kept alive must not hold the stop up.
    assert_eq!(server.get("/healthz").send().await.unwrap().status(), 200);
    let request = server.get("/test/slow");
    let answer = tokio::spawn(async move { request.send().await.unwrap().text().await.unwrap() });
    server.slow.reached.notified().await;

    let running = server.running.take().unwrap();
    let address = running.address();
    let stop = tokio::spawn(running.stop());
    let closed = async || tokio::net::TcpStream::connect(address).await.is_err();
    eventually("the port to close", closed).await;
    assert!(!answer.is_finished() && !stop.is_finished());

    server.slow.release.notify_one();
    assert_eq!(answer.await.unwrap(), "at last");
    tokio::time::timeout(Duration::from_secs(5), stop)
        .await
        .expect("the stop ends soon after")
        .unwrap()
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_with_idle_connections_is_quick() {
    let mut server = server().await;
    assert_eq!(server.get("/healthz").send().await.unwrap().status(), 200);
    let begun = Instant::now();
    server.running.take().unwrap().stop().await.unwrap();
    assert!(begun.elapsed() < Duration::from_secs(4), "took {:?}", begun.elapsed());
}
