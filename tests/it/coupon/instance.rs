//! An instance without HTTP, with one coupon.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use jackpot::coupon::coupons::Coupons;
use jackpot::coupon::definition::Definition;
use jackpot::coupon::known::Registry;
use jackpot::coupon::scripts::Wanted;
use jackpot::settings;
use jackpot::store::Store;
use jackpot::telemetry::Metrics;
use jackpot_core::ids::Id;

use crate::coupon::http::support::definition;
use crate::support::given::{operator, standalone};
use crate::support::local::LocalServer;
use crate::support::prelude::*;

/// An instance without HTTP.
pub struct Instance {
    pub coupons: Coupons,
    pub redis: LocalServer,
    pub id: Id,
    pub settings: settings::Coupons,
    calls: Arc<Mutex<BTreeMap<&'static str, usize>>>,
    _directory: tempfile::TempDir,
}

pub fn id(text: &str) -> Id {
    Id::parse(text).expect("an id")
}

impl Instance {
    /// An instance with a coupon `prize` of this stock.
    pub async fn with(stock: u64, change: &Value, draw_wait_ms: u64) -> Self {
        Self::limited(stock, change, draw_wait_ms, u64::MAX).await
    }

    /// The same, which refuses new requests while the ledger is further behind than `max_backlog_events`.
    pub async fn limited(stock: u64, change: &Value, draw_wait_ms: u64, max_backlog_events: u64) -> Self {
        let redis = own_redis(&[]).await;
        let directory = tempfile::tempdir().expect("a directory");
        let store = Store::open(&standalone(redis.url()), directory.path())
            .await
            .expect("the store opens");
        let calls = Arc::<Mutex<BTreeMap<_, _>>>::default();
        let counted = Arc::clone(&calls);
        store.observe(Arc::new(move |script, _, _| {
            *counted.lock().expect("no panic before").entry(script).or_default() += 1;
        }));
        let settings = settings::Coupons {
            consumer_lease_ms: 3_000,
            turn_wait_ms: 5_000,
            draw_wait_ms,
            retention_s: 7_200,
            max_bulk_bytes: 1_024,
        };
        let registry = Arc::new(Registry::new(store.clone()));
        let coupons = Coupons::new(
            store,
            registry,
            Arc::new(Metrics::new()),
            settings.clone(),
            max_backlog_events,
        );
        let document = serde_json::from_value(definition(stock, change)).expect("well formed");
        let definition = Definition::check(document).expect("valid");
        let id = id("prize");
        coupons
            .define(&id, &definition, Wanted::Any, &operator())
            .await
            .expect("defined");
        Self {
            coupons,
            redis,
            id,
            settings,
            calls,
            _directory: directory,
        }
    }

    /// How often a script was called so far.
    pub fn calls(&self, script: &str) -> usize {
        let calls = self.calls.lock().expect("no panic before");
        calls.get(script).copied().unwrap_or_default()
    }

    /// One raw command.
    pub async fn raw(&self, command: &[&str]) {
        redis::cmd(command[0])
            .arg(&command[1..])
            .exec_async(&mut self.redis.connection().await)
            .await
            .expect("the command is done");
    }
}
