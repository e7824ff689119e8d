//! The receivers of docs/how-to/receive-events.md, as they stand there: each passes the same cases.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use jackpot_core::signing::KeyPair;
use reqwest::header::{HeaderMap, HeaderValue};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use super::{jackpot, play, posted, service, shown, stream, subscribe};
use crate::support::free_port;
use crate::support::prelude::*;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Language {
    Python,
    TypeScript,
}

impl Language {
    /// The program of the page, in a file.
    fn written(self, folder: &Path) -> PathBuf {
        let (fence, name) = match self {
            Self::Python => ("```python\n", "receiver.py"),
            Self::TypeScript => ("```typescript\n", "receiver.mts"),
        };
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/how-to/receive-events.md");
        let page = std::fs::read_to_string(page).expect("the page");
        let (_, begin) = page.split_once(fence).expect("a program");
        let (program, _) = begin.split_once("```").expect("its end");
        let file = folder.join(name);
        std::fs::write(&file, program).expect("written");
        file
    }

    /// What runs it.
    fn command(self, folder: &Path) -> Command {
        let file = self.written(folder);
        let (program, file) = match self {
            Self::Python => ("python3", file),
            Self::TypeScript => ("node", compiled(&file)),
        };
        let mut command = Command::new(program);
        command.arg(file);
        command
    }

    /// What it keeps, by id.
    async fn kept(self, folder: &Path) -> BTreeMap<String, String> {
        match self {
            Self::Python => in_database(&folder.join("events.sqlite")).await,
            Self::TypeScript => in_file(&folder.join("events.ndjson")),
        }
    }
}

/// Checks the types of a program and compiles it, unless that was done.
fn compiled(file: &Path) -> PathBuf {
    let made = file.with_extension("mjs");
    if made.exists() {
        return made;
    }
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/tools/receivers/node_modules");
    let output = Command::new("node")
        .arg(tools.join("typescript/bin/tsc"))
        .args(["--strict", "--noUnusedLocals", "--noUncheckedIndexedAccess"])
        .args([
            "--target",
            "ES2022",
            "--module",
            "NodeNext",
            "--types",
            "node",
            "--typeRoots",
        ])
        .arg(tools.join("@types"))
        .arg(file)
        .output()
        .expect("apt-get install nodejs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "run scripts/install.sh test; tsc: {said}");
    made
}

async fn in_database(file: &Path) -> BTreeMap<String, String> {
    sqlx::any::install_default_drivers();
    let url = format!("sqlite://{}?mode=ro", file.display());
    let mut database = <sqlx::AnyConnection as sqlx::Connection>::connect(&url)
        .await
        .expect("its database");
    let rows: Vec<(String, String)> = sqlx::query_as("SELECT id, body FROM events")
        .fetch_all(&mut database)
        .await
        .expect("rows");
    rows.into_iter().collect()
}

/// Each id is there once.
fn in_file(file: &Path) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(file).expect("its file");
    let mut kept = BTreeMap::new();
    for line in text.lines() {
        let event: Value = serde_json::from_str(line).expect("a whole line");
        let id = event["id"].as_str().expect("an id").to_owned();
        assert!(kept.insert(id, line.to_owned()).is_none(), "twice: {line}");
    }
    kept
}

/// A receiver, running.
struct Running {
    process: Child,
    port: u16,
}

impl Running {
    fn start(language: Language, folder: &Path, key: &str, port: u16) -> Self {
        let path = |name: &str| folder.join(name).to_str().expect("a path").to_owned();
        let mut process = language
            .command(folder)
            .envs([
                ("VERIFICATION_KEY", key.to_owned()),
                ("PORT", port.to_string()),
                ("DATABASE", path("events.sqlite")),
                ("EVENTS", path("events.ndjson")),
            ])
            .stdout(Stdio::piped())
            .spawn()
            .expect("scripts/install.sh test");
        let mut line = String::new();
        let output = process.stdout.take().expect("its output");
        BufReader::new(output).read_line(&mut line).expect("a line");
        let port = line.trim().parse().expect("a port; pip install cryptography");
        Self { process, port }
    }

    /// The status of the answer to a delivery.
    async fn status(&self, delivery: &Delivery) -> u16 {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("webhook-id", &delivery.id),
            ("webhook-timestamp", &delivery.at),
            ("webhook-signature", &delivery.signature),
        ] {
            headers.insert(name, HeaderValue::from_str(value).expect("a value"));
        }
        let url = format!("http://127.0.0.1:{}/", self.port);
        let sent = http_client()
            .post(url)
            .headers(headers)
            .body(delivery.body.clone())
            .send();
        sent.await.expect("an answer").status().as_u16()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What a webhook gets.
#[derive(Clone)]
struct Delivery {
    id: String,
    at: String,
    signature: String,
    body: String,
}

impl Delivery {
    /// An event that this key signed so many seconds ago.
    fn signed(key: &KeyPair, event_id: &str, seconds_ago: i64) -> Self {
        let body = json!({"id": event_id, "data": {}}).to_string();
        let id = hex::encode(Sha256::digest(event_id));
        Self::of(key, id, body, seconds_ago)
    }

    fn of(key: &KeyPair, id: String, body: String, seconds_ago: i64) -> Self {
        let at = (jiff::Timestamp::now().as_second() - seconds_ago).to_string();
        let signature = key.sign(&format!("{id}.{at}.{body}")).signature;
        let signature = format!("v1a,{}", STANDARD.encode(bytes(&signature)));
        Self {
            id,
            at,
            signature,
            body,
        }
    }
}

/// A second after.
fn later(at: &str) -> String {
    (at.parse::<i64>().expect("seconds") + 1).to_string()
}

fn bytes(url_safe: &str) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode(url_safe).expect("base64url")
}

/// The receiver of a service: it is ended and started again, and all is delivered twice.
async fn keeps_each_event_once(language: Language) {
    let service = service().await;
    let folder = TempDir::new().expect("a directory");
    jackpot(&service, "spring").await;
    let port = free_port();
    let url = format!("http://127.0.0.1:{port}/");
    let subscribed = subscribe(&service, "told", &url, &["payout.*"], &["jackpot:spring"]).await;
    let key = subscribed["verification_key"].as_str().expect("a key").to_owned();
    let running = Running::start(language, folder.path(), &key, port);
    for i in 0..5 {
        play(&service, "spring", &format!("a{i}")).await;
    }
    let all = async |count: usize| {
        eventually(Duration::from_secs(30), "the receiver has them", async || {
            let kept = language.kept(folder.path()).await;
            (kept.len() == count).then_some(kept)
        })
        .await
    };
    let first = all(5).await;
    drop(running);
    for i in 0..5 {
        play(&service, "spring", &format!("b{i}")).await;
    }
    let _running = Running::start(language, folder.path(), &key, port);
    all(10).await;
    let replay = json!({"subject": "jackpot:spring", "from_n": 1});
    posted(&service, "/v1/subscriptions/told/replay", replay).await;
    shown(&service, "told", "all were delivered again", |shown| {
        stream(shown, "jackpot:spring")["lag"] == 0
    })
    .await;
    let last = language.kept(folder.path()).await;
    assert_eq!(last.len(), 10, "each once");
    assert!(first.iter().all(|(id, body)| last[id] == *body));
}

/// The cases that a receiver distinguishes.
async fn refuses_what_the_key_did_not_sign_now(language: Language) {
    let folder = TempDir::new().expect("a directory");
    let (ours, other) = (KeyPair::of(&[7; 32].into()), KeyPair::of(&[8; 32].into()));
    let key = format!("whpk_{}", STANDARD.encode(bytes(&ours.public().x())));
    let running = Running::start(language, folder.path(), &key, 0);
    let right = Delivery::signed(&ours, "jackpot:a:1:1:0", 0);
    let with = |change: fn(&mut Delivery)| {
        let mut changed = right.clone();
        change(&mut changed);
        changed
    };
    for (what, delivery, status) in [
        ("right", right.clone(), 204),
        ("a repeat", right.clone(), 204),
        (
            "a repeat with a new signature",
            Delivery::signed(&ours, "jackpot:a:1:1:0", 5),
            204,
        ),
        ("almost too old", Delivery::signed(&ours, "jackpot:a:1:2:0", 290), 204),
        ("old", Delivery::signed(&ours, "jackpot:a:1:3:0", 310), 401),
        ("from the future", Delivery::signed(&ours, "jackpot:a:1:3:0", -310), 401),
        ("another key", Delivery::signed(&other, "jackpot:a:1:3:0", 0), 401),
        (
            "another body",
            with(|one| one.body = one.body.replace("1:1:0", "1:3:0")),
            401,
        ),
        ("another id", with(|one| "x".clone_into(&mut one.id)), 401),
        (
            "another id, signed",
            Delivery::of(&ours, "x".to_owned(), right.body.clone(), 0),
            401,
        ),
        ("another time", with(|one| one.at = later(&one.at)), 401),
        ("no time", with(|one| one.at.clear()), 401),
        ("no signature", with(|one| one.signature.clear()), 401),
        (
            "an empty signature",
            with(|one| "v1a,".clone_into(&mut one.signature)),
            401,
        ),
        (
            "another scheme",
            with(|one| one.signature = one.signature.replace("v1a", "v1")),
            401,
        ),
        (
            "one of two signatures",
            with(|one| one.signature.insert_str(0, "v1a,AAAA ")),
            204,
        ),
    ] {
        assert_eq!(running.status(&delivery).await, status, "{language:?}: {what}");
    }
    let kept: Vec<_> = language.kept(folder.path()).await.into_keys().collect();
    assert_eq!(kept, ["jackpot:a:1:1:0", "jackpot:a:1:2:0"]);
}

#[tokio::test]
async fn the_receiver_in_python_keeps_each_event_once() {
    keeps_each_event_once(Language::Python).await;
}

#[tokio::test]
async fn the_receiver_in_typescript_keeps_each_event_once() {
    keeps_each_event_once(Language::TypeScript).await;
}

#[tokio::test]
async fn the_receiver_in_python_refuses_what_the_key_did_not_sign_now() {
    refuses_what_the_key_did_not_sign_now(Language::Python).await;
}

#[tokio::test]
async fn the_receiver_in_typescript_refuses_what_the_key_did_not_sign_now() {
    refuses_what_the_key_did_not_sign_now(Language::TypeScript).await;
}
