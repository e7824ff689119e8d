//! Targets that are broken each in another way: what the service shows of them, and that nobody else waits for them.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use jiff::Timestamp;
use rustix::process::Pid;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

use super::receiver::{Receiver, Reply};
use super::{jackpot, play, service, shown, stream, subscribe};
use crate::support::prelude::*;

/// The subject of all subscriptions here.
const SUBJECT: &str = "jackpot:broken";
/// A server for the metadata of a cloud's machines.
const METADATA: &str = "http://169.254.169.254/latest/meta-data/";
/// Its address and port, as `/proc/net/tcp` writes them.
const METADATA_IN_PROC: &str = "FEA9FEA9:0050";

/// A server whose certificate nobody trusts. Counts the connections on which a request came.
async fn untrusted() -> (u16, Arc<AtomicU32>) {
    let signed = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let key = PrivateKeyDer::try_from(signed.signing_key.serialize_der()).expect("a key");
    let config = ServerConfig::builder_with_provider(Arc::new(tokio_rustls::rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![signed.cert.der().clone()], key)
        .expect("a certificate and its key");
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let trusted = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&trusted);
    tokio::spawn(async move {
        while let Ok((connection, _)) = listener.accept().await {
            let is_trusted = acceptor.accept(connection).await.is_ok();
            count.fetch_add(u32::from(is_trusted), Ordering::Relaxed);
        }
    });
    (port, trusted)
}

/// How long after now the next try is.
fn until_next(stream: &Value) -> Option<Duration> {
    let at: Timestamp = stream["next_try_at"].as_str()?.parse().expect("a time");
    Some(Duration::try_from(at.duration_since(Timestamp::now())).unwrap_or_default())
}

fn print(name: &str, shown: &Value) {
    let of = stream(shown, SUBJECT);
    let wait = until_next(of).map_or_else(|| "now".to_owned(), |wait| format!("in {:.1} s", wait.as_secs_f64()));
    println!(
        "{name}: {}, delivered_n {}, lag {}, next try {wait}, last_error {}",
        shown["state"].as_str().expect("a state"),
        of["delivered_n"],
        of["lag"],
        of["last_error"],
    );
}

/// Lines of `/proc/net/tcp` with the sockets of a process.
fn connections(pid: Pid) -> Vec<String> {
    let files = std::fs::read_dir(format!("/proc/{}/fd", pid.as_raw_nonzero())).expect("a process of this test");
    let links = files.flatten().filter_map(|file| std::fs::read_link(file.path()).ok());
    let inode = |link: PathBuf| Some(link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned());
    let sockets: BTreeSet<String> = links.filter_map(inode).collect();
    let all = std::fs::read_to_string("/proc/net/tcp").expect("the connections of this machine");
    let is_ours = |line: &&str| {
        line.split_whitespace()
            .nth(9)
            .is_some_and(|inode| sockets.contains(inode))
    };
    all.lines().filter(is_ours).map(str::to_owned).collect()
}

/// Waits until the ledger has all events of the instance.
async fn ledger_has_all(service: &Service) {
    eventually(Duration::from_secs(20), "the ledger has all events", async || {
        let ready = service.get("/readyz").await.body;
        (ready["ledger"]["lag_events"] == 0).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_broken_target_is_shown_as_it_is_and_nobody_waits_for_it() {
    let service = service().await;
    jackpot(&service, "broken").await;
    let (inside, fine) = (Receiver::start().await, Receiver::start().await);
    let elsewhere = inside.url();
    let hangs = Receiver::answering(|_| Reply::Hang).await;
    let fails = Receiver::answering(|_| Reply::Status(500)).await;
    let to_metadata = Receiver::answering(|_| Reply::Redirect(METADATA.to_owned())).await;
    let to_inside = Receiver::answering(move |_| Reply::Redirect(elsewhere.clone())).await;
    let (port, trusted) = untrusted().await;
    let untrusted = format!("https://localhost:{port}/");
    let targets = [
        ("hangs", hangs.url(), "no answer within 10 s"),
        ("fails", fails.url(), "the target answered 500 Internal Server Error"),
        (
            "to-metadata",
            to_metadata.url(),
            "the target answered 307 Temporary Redirect",
        ),
        (
            "to-inside",
            to_inside.url(),
            "the target answered 307 Temporary Redirect",
        ),
        ("untrusted", untrusted, "certificate"),
    ];
    for (name, url, _) in &targets {
        subscribe(&service, name, url, &["payout.created"], &[SUBJECT]).await;
    }
    subscribe(&service, "fine", &fine.url(), &["payout.created"], &[SUBJECT]).await;
    for i in 0..40 {
        play(&service, "broken", &format!("e{i}")).await;
    }
    // While all of them fail, and one hangs: neither the projector nor the other subscriber waits.
    fine.until("payout.created", 40).await;
    ledger_has_all(&service).await;
    for (name, _, error) in &targets {
        let failed = shown(&service, name, "its first try failed", |shown| {
            let of = stream(shown, SUBJECT);
            shown["state"] == "retrying" && of["lag"] == 40 && of["next_try_at"].is_string()
        })
        .await;
        print(name, &failed);
        let said = stream(&failed, SUBJECT)["last_error"].as_str().expect("an error");
        assert!(said.contains(error), "{name}: {said}");
        assert_eq!(failed["alarm"], false, "not before a day");
    }
    let fine_now = shown(&service, "fine", "nothing is left", |shown| {
        stream(shown, SUBJECT)["lag"] == 0
    })
    .await;
    print("fine", &fine_now);
    assert!(inside.got().is_empty(), "nobody follows a redirect");
    assert_eq!(
        trusted.load(Ordering::Relaxed),
        0,
        "no request on a connection that nobody trusts"
    );
    // The events of all are the same one, the first: nothing was passed.
    for receiver in [&hangs, &fails, &to_metadata, &to_inside] {
        let first = &fine.once()[0].id;
        assert!(receiver.got().iter().all(|got| got.id == *first));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redirect_to_the_metadata_server_makes_no_connection() {
    let service = service().await;
    jackpot(&service, "broken").await;
    let receiver = Receiver::answering(|_| Reply::Redirect(METADATA.to_owned())).await;
    subscribe(&service, "metadata", &receiver.url(), &["payout.created"], &[SUBJECT]).await;
    play(&service, "broken", "e0").await;
    assert!(!connections(service.pid()).is_empty(), "its listener at least");
    // Where nobody answers, a connection would stay half open for many seconds.
    eventually(Duration::from_secs(20), "three tries", async || {
        let open = connections(service.pid());
        assert!(!open.iter().any(|line| line.contains(METADATA_IN_PROC)), "{open:?}");
        (receiver.got().len() >= 3).then_some(())
    })
    .await;
    let failed = shown(&service, "metadata", "it waits", |shown| shown["state"] == "retrying").await;
    print("metadata", &failed);
    // As a target it is refused at once, by a service with the default setting.
    let default = Service::start().await;
    let body = json!({"target": {"webhook": {"url": METADATA}}, "types": ["*"], "subjects": ["*"], "from": "now"});
    default.put("/v1/subscriptions/metadata", body).await.is(422);
}

/// Each wait is twice the one before, 20 % more or less; then one answer is enough.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waits_double_while_a_target_answers_500_and_then_all_comes_in_order() {
    let service = service().await;
    jackpot(&service, "broken").await;
    let receiver = Receiver::answering(|_| Reply::Status(500)).await;
    subscribe(&service, "fails", &receiver.url(), &["payout.created"], &[SUBJECT]).await;
    for i in 0..20 {
        play(&service, "broken", &format!("e{i}")).await;
    }
    let mut printed = 0;
    eventually(Duration::from_mins(2), "the last try", async || {
        let answer = service.get("/v1/subscriptions/fails").await.body;
        let wait = until_next(stream(&answer, SUBJECT))?.as_secs_f64();
        let count = receiver.got().len();
        if count > printed {
            printed = count;
            print(&format!("fails, try {count}"), &answer);
        }
        // The answer may be that of the try before, whose wait was shorter.
        let exact = 2_f64.powi(i32::try_from(count).expect("few tries") - 1);
        assert!(wait <= exact * 1.2, "{wait} s after try {count}");
        (count >= 3 && wait > exact * 0.4).then_some(())
    })
    .await;
    receiver.answer(|_| Reply::Status(200));
    let got = receiver.until("payout.created", 20).await;
    let orders: Vec<_> = got
        .iter()
        .map(|one| one.json()["data"]["claim_order"].as_u64())
        .collect();
    assert_eq!(orders, (1..=20).map(Some).collect::<Vec<_>>());
    let after = shown(&service, "fails", "it runs", |shown| {
        shown["state"] == "running" && stream(shown, SUBJECT)["lag"] == 0
    })
    .await;
    print("fails, then 200", &after);
    assert_eq!(stream(&after, SUBJECT)["last_error"], json!(null));
}

/// Answers without an end, each with what is said of it; `None`: its status has come, and it counts.
const ENDLESS: [(&str, Reply, Option<&str>); 6] = [
    (
        "continue",
        Reply::Endless("", "HTTP/1.1 100 Continue\r\n\r\n"),
        Some(TOO_LONG),
    ),
    (
        "hints",
        Reply::Endless("", "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n"),
        Some(TOO_LONG),
    ),
    (
        "header",
        Reply::Endless("HTTP/1.1 200 OK\r\nX-Long: ", "a"),
        Some(TOO_LONG),
    ),
    (
        "fields",
        Reply::Endless("HTTP/1.1 200 OK\r\n", "X-One: 1\r\n"),
        Some("message"),
    ),
    ("body", Reply::Endless("HTTP/1.1 200 OK\r\n\r\n", "a"), None),
    (
        "drip",
        Reply::Drip("HTTP/1.1 200 OK\r\nX-Slow: "),
        Some("no answer within 10 s"),
    ),
];
const TOO_LONG: &str = "longer than 64 KiB";

/// None of them takes the threads of the others: all other events come, a test of each ends, and play goes on meanwhile.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_without_end_hold_up_neither_others_nor_play() {
    let service = service().await;
    jackpot(&service, "broken").await;
    let fine = Receiver::start().await;
    let mut hostile = Vec::new();
    for (name, reply, _) in ENDLESS {
        let receiver = Receiver::answering(move |_| reply.clone()).await;
        subscribe(&service, name, &receiver.url(), &["payout.created"], &[SUBJECT]).await;
        hostile.push(receiver);
    }
    subscribe(&service, "fine", &fine.url(), &["payout.created"], &[SUBJECT]).await;
    let tests = join_all(ENDLESS.map(|(name, ..)| {
        let (service, path) = (&service, format!("/v1/subscriptions/{name}/test"));
        async move {
            let began = Instant::now();
            let answer = service.call(Method::POST, &path, None).await;
            (began.elapsed(), answer.body)
        }
    }));
    let playing = async {
        let mut longest = Duration::ZERO;
        for i in 0..60 {
            let began = Instant::now();
            play(&service, "broken", &format!("e{i}")).await;
            longest = longest.max(began.elapsed());
        }
        fine.until("payout.created", 60).await;
        longest
    };
    let (tests, longest) = tokio::join!(tests, playing);
    assert!(longest < Duration::from_secs(2), "an entry took {longest:?}");
    for ((name, _, error), (took, answer)) in ENDLESS.iter().zip(tests) {
        println!("{name}: {took:?}, {answer}");
        assert!(took < Duration::from_secs(13), "{name}: {took:?}");
        let said = answer["error"].as_str();
        match error {
            Some(error) => assert!(said.is_some_and(|said| said.contains(error)), "{name}: {answer}"),
            None => assert_eq!(answer["delivered"], true, "{name}: {answer}"),
        }
    }
}
