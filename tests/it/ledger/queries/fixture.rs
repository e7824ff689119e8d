//! A server of the ledger's routes alone, and rows to ask for.

use std::sync::Arc;

use jackpot::coupon::ledger::api as coupon_api;
use jackpot::http::Web;
use jackpot::http::health::Readiness;
use jackpot::http::routes::Routes;
use jackpot::http::server::{self, Running};
use jackpot::jackpot::ledger::api as jackpot_api;
use jackpot::jackpot::ledger::entry_index::{IndexRow, RowKey};
use jackpot::jackpot::ledger::queries::Queries;
use jackpot::jackpot::operate::Operate;
use jackpot::jackpot::view::Views;
use jackpot::keys::{KeyFile, KeyStore, Limits, Rights, Role, Subject};
use jackpot::ledger::Ledger;
use jackpot::ledger::api::{self, Api, ApiDoc};
use jackpot::ledger::emergency::Emergency;
use jackpot::ledger::kinds::Kinds;
use jackpot::proof::api as proof_api;
use jackpot::settings::Settings;
use jackpot::signing::SigningKeys;
use jackpot::sql::Sql;
use jackpot::store::Store;
use jackpot::telemetry::Metrics;
use jackpot::{coupon, room};
use jackpot_core::ids::Id;
use jackpot_core::mark::Mark;
use jackpot_core::secret::{MasterSecret, Secrets};
use reqwest::{Client, RequestBuilder};
use sqlx::AssertSqlSafe;
use utoipa::OpenApi;

use crate::support::given::standalone;
use crate::support::ledger_db::stream_row;
use crate::support::prelude::*;

/// 2025-11-21T00:00:00Z.
pub const T0: i64 = 1_763_683_200_000;

/// What the bound key may name.
pub const BOUND_TO: [&str; 4] = ["jackpot:spring", "jackpot:autumn", "jackpot:unborn", "coupon:coffee"];

/// A row of the index of entries: entry `e`, settled, nothing won.
pub fn entry(player_id: &'static str, at_ms: i64, jackpot_id: &'static str, sequence: i64) -> IndexRow<'static> {
    IndexRow {
        key: RowKey {
            player_id,
            at_ms,
            jackpot_id,
            sequence,
        },
        entry_id: "e",
        stake: 100,
        client_seed: "",
        source: None,
        n: sequence + 1,
        epoch: 1,
        version: 3,
        rank: 0,
        settled: true,
    }
}

pub struct Books {
    pub sql: Sql,
    base: String,
    key: String,
    pub bound_key: String,
    pub room_key: String,
    pub keys: KeyFile,
    follower: tokio::task::JoinHandle<()>,
    client: Client,
    _running: Running,
    _redis: TestRedis,
    _db: LedgerDb,
}

pub async fn books(db: LedgerDb) -> Books {
    books_with(db, 7).await
}

pub async fn books_with(db: LedgerDb, entry_index_days: u32) -> Books {
    let sql = db.open().await;
    let file = db.data_dir().join("settings.toml");
    let text = format!(
        "data_dir = {:?}\n[http]\nlisten = \"127.0.0.1:0\"\nworkers = 1\n",
        db.data_dir().to_str().unwrap()
    );
    std::fs::write(&file, text).unwrap();
    let settings = Settings::load(Some(&file)).unwrap();
    let keys = KeyFile::of(&settings);
    let add = |name: &str, rights: Rights| {
        let key = keys.add(name.parse().unwrap(), rights).unwrap();
        key.expose().to_owned()
    };
    let seeing = Rights {
        codes: true,
        ..Role::Read.into()
    };
    let key = add("auditor", seeing);
    let own: Vec<Subject> = BOUND_TO.iter().map(|text| text.parse().unwrap()).collect();
    let bound_key = add(
        "bound",
        Rights {
            only: Some(own.try_into().unwrap()),
            ..Role::Read.into()
        },
    );
    let room: Subject = "room:lobby".parse().unwrap();
    let room_key = add(
        "room",
        Rights {
            only: Some(vec![room].try_into().unwrap()),
            ..Role::Read.into()
        },
    );
    let no_limits = Limits {
        per_second: 0,
        burst: 0,
    };
    let store = Arc::new(KeyStore::open(keys.clone(), no_limits).unwrap());
    let follower = tokio::spawn(Arc::clone(&store).follow());
    let readiness = Arc::new(Readiness::default);
    let web = Web::new(&settings, store, Arc::new(Metrics::new()), readiness);
    let ledger = Ledger {
        sql: sql.clone(),
        signing: Arc::new(SigningKeys::load("", db.data_dir()).unwrap()),
        data_dir: db.data_dir().into(),
        news: Arc::default(),
    };
    let secrets = Secrets::from(MasterSecret::new(crate::support::given::SECRET));
    let redis = TestRedis::start().await;
    let store = Store::open(&standalone(redis.url()), db.data_dir()).await.unwrap();
    let operate = Operate::new(store.clone(), Arc::new(Views::new(store.clone(), secrets.clone())));
    // Five events are in the ledger, and this instance has seen eight.
    let spring = operate
        .views
        .registry
        .observe(&Id::parse("spring").unwrap(), Mark::new(0, 8).unwrap());
    spring.set_ledger_n(Some(5));
    let coupons = Arc::new(coupon::known::Registry::new(store.clone()));
    let rooms = Arc::new(room::known::Registry::new(store.clone()));
    let kinds = Kinds::new([
        jackpot::jackpot::ledger::kind(&operate),
        coupon::ledger::kind(&coupons, &store),
        room::ledger::kind(&rooms, &store, secrets.current().clone()),
    ]);
    let metrics = Arc::new(Metrics::new());
    let emergency = Emergency::new(sql.clone(), store.clone(), kinds.clone(), metrics);
    let api = Api::new(&ledger, kinds, emergency);
    let queries = Queries::new(sql.clone(), entry_index_days);
    let mut document = ApiDoc::openapi();
    document.merge(jackpot_api::ApiDoc::openapi());
    document.merge(coupon_api::ApiDoc::openapi());
    document.merge(proof_api::ApiDoc::openapi());
    let routes = Routes {
        mount: Arc::new(move |config| {
            api::routes(config, &api);
            jackpot_api::routes(config, &queries);
            coupon_api::routes(config);
            proof_api::routes(config, &secrets);
        }),
        document,
        pages: jackpot::http::routes::Pages::default(),
    };
    let running = server::start(&settings, &web, routes).unwrap();
    Books {
        sql,
        base: format!("http://{}", running.address()),
        key,
        bound_key,
        room_key,
        keys,
        follower,
        client: crate::support::http_client(),
        _running: running,
        _redis: redis,
        _db: db,
    }
}

impl Drop for Books {
    fn drop(&mut self) {
        self.follower.abort();
    }
}

impl Books {
    /// Asks with this key from now on; returns the previous key.
    pub fn ask_with(&mut self, key: &str) -> String {
        std::mem::replace(&mut self.key, key.to_owned())
    }

    pub fn request(&self, path: &str) -> RequestBuilder {
        self.client.get(format!("{}{path}", self.base)).bearer_auth(&self.key)
    }

    /// Status and JSON body.
    pub async fn get(&self, path: &str) -> (u16, Value) {
        let answer = self.request(path).send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    }

    /// The items of an answer.
    pub async fn items(&self, path: &str) -> Vec<Value> {
        let (status, body) = self.get(path).await;
        assert_eq!(status, 200, "{path}: {body}");
        body["items"].as_array().unwrap().clone()
    }

    /// One column of the items.
    pub async fn column(&self, path: &str, name: &str) -> Vec<Value> {
        let items = self.items(path).await;
        items.into_iter().map(|item| item[name].clone()).collect()
    }

    /// All items, page by page; `between` is called after each page.
    pub async fn walk(&self, path: &str, between: impl AsyncFn(usize)) -> Vec<Value> {
        let (mut all, mut cursor) = (Vec::new(), String::new());
        for page in 0.. {
            assert!(page < 1000, "pages without end");
            let (status, body) = self.get(&format!("{path}{cursor}")).await;
            assert_eq!(status, 200, "{body}");
            all.extend(body["items"].as_array().unwrap().iter().cloned());
            let Some(next) = body["next_cursor"].as_str() else {
                break;
            };
            cursor = format!("&cursor={next}");
            between(page).await;
        }
        all
    }

    /// The field and rule of a 422.
    pub async fn refusal(&self, path: &str) -> String {
        let (status, body) = self.get(path).await;
        assert_eq!(status, 422, "{path}: {body}");
        body["errors"][0]["field"].as_str().unwrap_or_default().to_owned()
    }

    pub async fn run(&self, text: &str) {
        self.sql
            .execute(sqlx::query(AssertSqlSafe(text.to_owned())))
            .await
            .unwrap_or_else(|error| panic!("{text}: {error}"));
    }

    pub async fn jackpot(&self, id: &str) {
        self.stream("jackpot", id).await;
    }

    /// A stream of seven events that nobody reads.
    pub async fn stream(&self, kind: &str, id: &str) {
        self.run(&stream_row(kind, id, 7, &"ab".repeat(32))).await;
    }

    /// Payouts 1 to `count` of a jackpot: one each second from `from_ms`, of tiers and players by the given SQL over i.
    pub async fn payouts(&self, jackpot: &str, first: u32, last: u32, from_ms: i64) {
        self.run(&format!(
            "INSERT INTO payouts (payout_id, jackpot_id, claim_order, n, sequence, entry_id, player_id, rank, tier, \
             amount, currency, pool_before, pool_after, paid_at_ms, history, event_id, key_id, signature) \
             WITH RECURSIVE c(i) AS (SELECT {first} UNION ALL SELECT i + 1 FROM c WHERE i < {last}) \
             SELECT '{jackpot}-' || i, '{jackpot}', i, i, i, 'e' || i, 'p' || (i % 7), 1, \
             CASE WHEN i % 3 = 0 THEN 'mini' ELSE 'grand' END, i % 100, 'KRW', 500, 500 - i % 100, \
             {from_ms} + i * 1000, '00000000000000aa', 'jackpot:{jackpot}:00000000000000aa:' || i || ':0', 'k', 's' FROM c"
        ))
        .await;
    }
}
