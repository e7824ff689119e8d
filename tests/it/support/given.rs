//! Fixtures of the tests of jackpots: settings, definitions, entries, adjustments.

use std::sync::Arc;

use jackpot::coupon::coupons::Coupons;
use jackpot::coupon::known::Registry;
use jackpot::jackpot::metrics::PlayMetrics;
use jackpot::jackpot::play::Play;
use jackpot::jackpot::scripts::{self, EnterEntry};
use jackpot::jackpot::view::Views;
use jackpot::operator::Operator;
use jackpot::settings::{CheckConfig, Durability, Redis, RedisMode, Settings};
use jackpot::store::Store;
use jackpot::telemetry::Metrics;
use jackpot_core::ids::{Id, PersonId};
use jackpot_core::jackpot::definition::Definition;
use jackpot_core::jackpot::record::Sent;
use jackpot_core::money::Minor;
use serde_json::{Value, json};

/// The secret of the published test vectors.
pub const SECRET: [u8; 32] = [0x5f; 32];

/// Settings for a store on one server.
pub fn standalone(url: &str) -> Redis {
    Redis {
        mode: RedisMode::Standalone,
        urls: vec![url.to_owned()],
        primary_url: String::new(),
        durability: Durability::Local,
        check_config: CheckConfig::Required,
        tls_ca_file: String::new(),
        connect_timeout_ms: 2_000,
        response_timeout_ms: 5_000,
        total_timeout_ms: 10_000,
        server_program: String::new(),
        max_memory_mib: 0,
        refuse_entries_above_memory_pct: 80,
    }
}

/// A tier as JSON, changed by `change`.
pub fn tier(name: &str, share_ppm: u32, change: &Value) -> Value {
    let mut tier =
        json!({"tier": name, "share_ppm": share_ppm, "min_payout": 1, "seed": 0, "reserve_ppm": 0, "cap": null});
    merge(&mut tier, change);
    tier
}

/// A rank as JSON.
pub fn rank(rank: u32, prize: &Value) -> Value {
    json!({"rank": rank, "weight": 1, "prize": prize})
}

/// A definition with one tier, `grand`: rank 1 takes all, rank 2 half, rank 3 seven units.
pub fn document(id: &str, change: &Value) -> Value {
    let mut document = json!({"id": id, "name": "a test", "currency": "KRW", "contribution": {"fixed": 1},
        "tiers": [tier("grand", 1_000_000, &json!({"min_payout": 100}))],
        "odds": {"total": 1000, "ranks": [
            rank(1, &json!({"pool": {"tier": "grand", "take": "all"}})),
            rank(2, &json!({"pool": {"tier": "grand", "take": {"share_ppm": 500_000}}})),
            rank(3, &json!({"fixed": {"tier": "grand", "amount": 7}}))]}});
    merge(&mut document, change);
    document
}

fn merge(into: &mut Value, change: &Value) {
    for (field, value) in change.as_object().expect("an object") {
        into[field] = value.clone();
    }
}

/// A definition as the scripts may meet it, also one from before definitions that cannot work were refused.
pub fn definition(document: Value) -> Definition {
    Definition::stored(serde_json::from_value(document).expect("well formed")).expect("valid")
}

/// A player or user.
pub fn person(text: &str) -> PersonId {
    PersonId::parse(text).expect("an id")
}

/// What a player sends.
pub fn sent(player: &str, stake: u64) -> Sent {
    Sent::of(person(player), Minor::try_from(stake).expect("in range"))
}

/// An entry of player `p` with stake 100 that drew `rank`.
pub fn entry(entry_id: &str, rank: u32) -> EnterEntry {
    EnterEntry {
        entry_id: entry_id.to_owned(),
        sent: sent("p", 100),
        rank,
    }
}

pub fn operator() -> Operator {
    Operator {
        who: "tester".to_owned(),
        owner: "tester".to_owned(),
        request_id: "r".to_owned(),
    }
}

/// Money put into the pool of `grand`.
pub fn funding(adjustment_id: &str, amount: u64) -> scripts::Adjust {
    scripts::Adjust {
        adjustment_id: Id::parse(adjustment_id).expect("an id"),
        digest: format!("fund-{amount}"),
        tier: Id::parse("grand").expect("an id"),
        from: None,
        to: Some("pool"),
        amount: Minor::try_from(amount).expect("in range"),
        reason: "a test".to_owned(),
        by: operator(),
    }
}

/// Plays on this store; coupons that entries draw are in it too.
pub fn play(store: &Store, views: Arc<Views>, metrics: PlayMetrics, max_backlog_events: u64) -> Play {
    Play::new(store.clone(), views, coupons(store), metrics, max_backlog_events)
}

/// Coupons on this store, by the default settings.
pub fn coupons(store: &Store) -> Coupons {
    let settings = Settings::load(None).expect("the defaults are valid").coupons;
    let registry = Arc::new(Registry::new(store.clone()));
    Coupons::new(store.clone(), registry, Arc::new(Metrics::new()), settings, u64::MAX)
}
