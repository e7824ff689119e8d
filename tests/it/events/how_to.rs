//! The receiver of docs/how-to/receive-events.md, as it stands there.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use base64::Engine as _;
use reqwest::header::{HeaderMap, HeaderValue};
use serde_json::json;

use super::{jackpot, play, service, shown, stream, subscribe};
use crate::support::{eventually, http_client};

/// The receiver, running.
struct Python {
    process: Child,
    port: u16,
}

impl Python {
    fn start(folder: &Path, key: &str, port: u16) -> Self {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/how-to/receive-events.md");
        let page = std::fs::read_to_string(page).expect("the page");
        let (_, begin) = page.split_once("```python\n").expect("a program");
        let (program, _) = begin.split_once("```").expect("its end");
        let file = folder.join("receiver.py");
        std::fs::write(&file, program).expect("written");
        let mut process = Command::new("python3")
            .arg(&file)
            .envs([
                ("VERIFICATION_KEY", key),
                ("PORT", &port.to_string()),
                ("DATABASE", folder.join("events.sqlite").to_str().expect("a path")),
            ])
            .stdout(Stdio::piped())
            .spawn()
            .expect("apt-get install python3");
        let mut line = String::new();
        let output = process.stdout.take().expect("its output");
        BufReader::new(output).read_line(&mut line).expect("a line");
        let port = line.trim().parse().expect("pip install cryptography");
        Self { process, port }
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What the receiver keeps, by id.
async fn kept(folder: &Path) -> BTreeMap<String, String> {
    sqlx::any::install_default_drivers();
    let url = format!("sqlite://{}?mode=ro", folder.join("events.sqlite").display());
    let mut database = <sqlx::AnyConnection as sqlx::Connection>::connect(&url)
        .await
        .expect("its database");
    let rows: Vec<(String, String)> = sqlx::query_as("SELECT id, body FROM events")
        .fetch_all(&mut database)
        .await
        .expect("rows");
    rows.into_iter().collect()
}

#[tokio::test]
async fn the_receiver_in_python_keeps_each_event_once_and_refuses_what_nobody_signed() {
    let service = service().await;
    let folder = tempfile::tempdir().expect("a directory");
    jackpot(&service, "spring").await;
    let port = crate::support::free_port();
    let url = format!("http://127.0.0.1:{port}/");
    let subscribed = subscribe(&service, "python", &url, &["payout.*"], &["jackpot:spring"]).await;
    let key = subscribed["verification_key"].as_str().expect("a key").to_owned();
    let mut python = Python::start(folder.path(), &key, port);
    for i in 0..5 {
        play(&service, "spring", &format!("a{i}")).await;
    }
    let all = async |count: usize| {
        eventually(Duration::from_secs(30), "the receiver has them", async || {
            let kept = kept(folder.path()).await;
            (kept.len() == count).then_some(kept)
        })
        .await
    };
    let first = all(5).await;
    drop(python);
    for i in 0..5 {
        play(&service, "spring", &format!("b{i}")).await;
    }
    python = Python::start(folder.path(), &key, port);
    all(10).await;
    let replay = json!({"subject": "jackpot:spring", "from_n": 1});
    super::posted(&service, "/v1/subscriptions/python/replay", replay).await;
    shown(&service, "python", "all were delivered again", |shown| {
        stream(shown, "jackpot:spring")["lag"] == 0
    })
    .await;
    let last = kept(folder.path()).await;
    assert_eq!(last.len(), 10, "each once");
    assert!(first.iter().all(|(id, body)| last[id] == *body));
    // Nobody signed these.
    let body = first.values().next().expect("an event").clone();
    let forged = base64::engine::general_purpose::STANDARD.encode([7; 64]);
    for signature in ["", "v1a,", "v1,AAAA", &format!("v1a,{forged}")] {
        let mut headers = HeaderMap::new();
        let now = jiff::Timestamp::now().as_second().to_string();
        for (name, value) in [
            ("webhook-id", "x"),
            ("webhook-timestamp", &now),
            ("webhook-signature", signature),
        ] {
            headers.insert(name, HeaderValue::from_str(value).expect("a value"));
        }
        let url = format!("http://127.0.0.1:{}/", python.port);
        let sent = http_client().post(url).headers(headers).body(body.clone()).send();
        assert_eq!(sent.await.expect("an answer").status().as_u16(), 401, "{signature}");
    }
}
