//! Receipts stay checkable with what `/v1/keys` serves, whatever happens to the keys that signed them.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jackpot::http::Web;
use jackpot::http::health::Readiness;
use jackpot::http::routes::Routes;
use jackpot::http::server::{self, Running};
use jackpot::keys::{KeyFile, KeyStore, Limits};
use jackpot::settings::Settings;
use jackpot::signing::{self, SigningFile, SigningKeys, all_published, publish, published};
use jackpot::sql::Sql;
use jackpot::telemetry::Metrics;
use jackpot_core::chain::ChainHash;
use jackpot_core::currency::Currency;
use jackpot_core::ids::Id;
use jackpot_core::receipt::{Head, Receipt, UnsignedReceipt};
use jackpot_core::signing::{Jwks, PublicKey};
use reqwest::Response;
use tempfile::TempDir;
use tokio::task::JoinHandle;
use utoipa::OpenApi;

use crate::support::given::person;
use crate::support::prelude::*;

/// Time within which a rotated key must sign.
const FOLLOWED: Duration = Duration::from_secs(2);

/// A server with only `/v1/keys`, which follows its keys.
struct Keys {
    directory: TempDir,
    settings: Settings,
    keys: Arc<SigningKeys>,
    sql: Sql,
    running: Running,
    follower: JoinHandle<()>,
}

impl Keys {
    async fn start() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let settings = settings_in(directory.path());
        let sql = Sql::open(&settings.ledger, directory.path()).await.expect("a ledger");
        let keys = Arc::new(SigningKeys::load("", directory.path()).expect("keys"));
        publish(&sql, &keys).await.expect("published");
        let follower = tokio::spawn(Arc::clone(&keys).follow(sql.clone()));
        let api = signing::api::Api::new(Arc::clone(&keys), sql.clone());
        let routes = Routes {
            mount: Arc::new(move |config| signing::api::routes(config, &api)),
            document: signing::api::ApiDoc::openapi(),
            pages: jackpot::http::routes::Pages::default(),
        };
        let running = server::start(&settings, &web(&settings), routes).expect("a server");
        Self {
            directory,
            settings,
            keys,
            sql,
            running,
            follower,
        }
    }

    async fn call(&self, method: Method) -> Response {
        let url = format!("http://{}/v1/keys", self.running.address());
        http_client().request(method, url).send().await.expect("an answer")
    }

    async fn served(&self) -> Jwks {
        self.call(Method::GET).await.json().await.expect("a JWK Set")
    }

    fn file(&self) -> SigningFile {
        SigningFile::of("", self.directory.path()).expect("no setting")
    }

    fn signing_id(&self) -> String {
        self.keys.current().public().id().to_owned()
    }

    async fn until_it_signs(&self, id: &str) {
        eventually(FOLLOWED, "the rotated key signs", async || {
            (self.signing_id() == id).then_some(())
        })
        .await;
    }

    /// Waits until the server answers with these ids, in this order. It keeps the ledger's keys for a second.
    async fn until_served(&self, ids: &[&str]) {
        eventually(Duration::from_secs(5), "the keys are served", async || {
            let served = self.served().await;
            let found: Vec<_> = served.keys().iter().map(PublicKey::id).collect();
            (found == ids).then_some(())
        })
        .await;
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        self.follower.abort();
    }
}

fn settings_in(directory: &Path) -> Settings {
    let file = directory.join("settings.toml");
    let data_dir = directory.to_str().expect("UTF-8");
    let text = format!("data_dir = {data_dir:?}\n[http]\nlisten = \"127.0.0.1:0\"\nworkers = 1\n");
    std::fs::write(&file, text).expect("settings");
    Settings::load(Some(&file)).expect("settings")
}

fn web(settings: &Settings) -> Web {
    let unlimited = Limits {
        per_second: 0,
        burst: 0,
    };
    let keys = KeyStore::open(KeyFile::of(settings), unlimited).expect("API keys");
    let readiness = Arc::new(Readiness::default);
    Web::new(settings, Arc::new(keys), Arc::new(Metrics::new()), readiness)
}

fn receipt(keys: &SigningKeys, claim_order: u64) -> Receipt {
    let id = |text: &str| Id::parse(text).expect("an id");
    let unsigned = UnsignedReceipt {
        payout_id: format!("spring:{claim_order}"),
        jackpot_id: id("spring"),
        entry_id: "b1:17".to_owned(),
        player_id: person("p7"),
        tier: id("grand"),
        amount: 18_811.try_into().expect("an amount"),
        currency: Currency::parse("KRW").expect("a code"),
        claim_order,
        pool_before: 18_811.try_into().expect("an amount"),
        pool_after: 0.try_into().expect("an amount"),
        paid_at_ms: 1_795_243_503_125,
        history: "9f1c0a44d2b7e633".to_owned(),
        n: 8812,
        i: 0,
    };
    unsigned.sign(&keys.current())
}

#[tokio::test]
async fn a_receipt_stays_checkable_after_rotation_and_without_its_seed() {
    let keys = Keys::start().await;
    let first = keys.signing_id();
    let old = receipt(&keys.keys, 1);
    let second = keys.file().rotate().expect("rotated");
    keys.until_it_signs(second.id()).await;
    let new = receipt(&keys.keys, 2);
    assert_eq!(
        (old.key_id.as_str(), new.key_id.as_str()),
        (first.as_str(), second.id())
    );
    keys.until_served(&[second.id(), &first]).await;
    let served = keys.served().await;
    assert_eq!((old.verify(&served), new.verify(&served)), (Ok(()), Ok(())));

    // Only a third key is left: the seeds of the two others are gone, and another instance starts with what is left.
    std::fs::remove_file(keys.file().path()).expect("removed");
    let third = keys.file().rotate().expect("rotated");
    keys.until_it_signs(third.id()).await;
    assert_eq!(keys.keys.public().len(), 1);
    for one in all_published(&keys.sql).await.expect("read") {
        let signs = one.key == third;
        assert_eq!(
            one.retired_ms.is_none(),
            signs,
            "the one before is retired, though its line is gone: {one:?}"
        );
    }
    let in_sql = published(&keys.sql).await.expect("read");
    assert_eq!(in_sql.len(), 3, "the ledger keeps them all");
    eventually(Duration::from_secs(5), "all three are served", async || {
        let served = keys.served().await;
        (served.keys().len() == 3).then_some(())
    })
    .await;
    let served = keys.served().await;
    assert_eq!(served.keys()[0], third);
    assert_eq!((old.verify(&served), new.verify(&served)), (Ok(()), Ok(())));
    let spring = Id::parse("spring").expect("an id");
    let first = ChainHash::first(&spring);
    let head = Head::sign(spring, keys.sql.ledger_id(), 0, first, 0, &keys.keys.current());
    assert_eq!(head.verify(&served), Ok(()));
}

#[tokio::test]
async fn publishing_again_changes_nothing() {
    let keys = Keys::start().await;
    let rows = || async {
        let rows = sqlx::query_as::<_, (String, i64)>("SELECT key_id, first_seen_ms FROM signing_keys");
        rows.fetch_all(keys.sql.reader()).await.expect("read")
    };
    let before = rows().await;
    assert_eq!(before.len(), 1);
    assert!(
        before[0].1 > 1_700_000_000_000,
        "ms of the database's clock: {before:?}"
    );
    publish(&keys.sql, &keys.keys).await.expect("published");
    assert_eq!(rows().await, before);
}

#[tokio::test]
async fn a_row_that_is_not_the_key_it_says_is_not_served() {
    let keys = Keys::start().await;
    let other = SigningKeys::load(&"5e".repeat(32), Path::new("none")).expect("a seed");
    let public = other.public();
    let insert = sqlx::query("INSERT INTO signing_keys (key_id, public_key, first_seen_ms) VALUES ('mine', $1, 0)");
    keys.sql.execute(insert.bind(public[0].x())).await.expect("written");
    let error = published(&keys.sql).await.expect_err("refused").to_string();
    error.says("mine is not the thumbprint");
    keys.until_served(&[&keys.signing_id()]).await;
}

#[tokio::test]
async fn a_damaged_or_open_file_keeps_the_keys_that_were() {
    let keys = Keys::start().await;
    let (path, first) = (keys.file().path().to_owned(), keys.signing_id());
    let good = std::fs::read_to_string(&path).expect("read");
    for damaged in [format!("{good}damaged\n"), String::new()] {
        std::fs::write(&path, damaged).expect("written");
        let more = Arc::clone(&keys.keys).follow(keys.sql.clone());
        assert!(
            tokio::time::timeout(Duration::from_secs(1), more).await.is_err(),
            "it goes on looking"
        );
        assert_eq!(keys.signing_id(), first);
    }
    std::fs::write(&path, good).expect("written");
    let second = keys.file().rotate().expect("rotated");
    keys.until_it_signs(second.id()).await;
}

#[tokio::test]
async fn without_the_ledger_its_own_keys_are_served_and_no_unpublished_one_signs() {
    let keys = Keys::start().await;
    let first = keys.signing_id();
    keys.sql.close().await;
    keys.until_served(&[&first]).await;
    keys.file().rotate().expect("rotated");
    let more = Arc::clone(&keys.keys).follow(keys.sql.clone());
    let ended = tokio::time::timeout(Duration::from_millis(1_500), more).await;
    assert!(ended.is_err(), "it goes on trying");
    assert_eq!(keys.signing_id(), first, "nobody could check what the new key signs");
    keys.until_served(&[&first]).await;
    // The ledger is back: the key that waited signs.
    let sql = Sql::open(&keys.settings.ledger, keys.directory.path())
        .await
        .expect("a ledger");
    let more = tokio::spawn(Arc::clone(&keys.keys).follow(sql.clone()));
    let waited = SigningKeys::load("", keys.directory.path()).expect("keys").current();
    keys.until_it_signs(waited.public().id()).await;
    more.abort();
    assert_eq!(published(&sql).await.expect("read").len(), 2);
}

#[tokio::test]
async fn anybody_may_ask_and_keep_the_answer_for_a_minute() {
    let keys = Keys::start().await;
    for method in [Method::GET, Method::HEAD] {
        let answer = keys.call(method).await;
        assert_eq!(answer.status(), 200);
        assert_eq!(answer.headers()["cache-control"], "public, max-age=60");
        assert_eq!(answer.headers()["content-type"], "application/json");
    }
    let refused = keys.call(Method::POST).await;
    assert_eq!(refused.status(), 405);
    assert_eq!(refused.headers()["allow"], "GET, HEAD");
}
