//! The request bodies, as long as real ones.

use serde_json::{Value, json};

/// Money and odds of every jackpot here: one unit for each entry. One entry of a thousand wins a fixed prize, one of
/// 100,000 the pool. A round can be reversed for 60 s: no comparison remembers ids for a shorter time.
pub(crate) fn definition(id: &str) -> Value {
    json!({
        "id": id, "name": "Benchmark", "currency": "KRW", "status": "open", "contribution": {"fixed": 1},
        "reverse_within_s": 60,
        "tiers": [{"tier": "grand", "share_ppm": 1_000_000, "min_payout": 100, "seed": 0, "reserve_ppm": 0, "cap": null}],
        "odds": {"total": 1_000_000, "ranks": [
            {"rank": 1, "weight": 10, "prize": {"pool": {"tier": "grand", "take": "all"}}},
            {"rank": 3, "weight": 1_000, "prize": {"fixed": {"tier": "grand", "amount": 10}}}]},
    })
}

/// A coupon that is never sold out.
pub(crate) fn coupon() -> Value {
    json!({"name": "Benchmark", "stock": STOCK, "per_user": 1, "per_user_window_s": null, "starts_at": null, "ends_at": null})
}

/// A waiting room.
pub(crate) fn room() -> Value {
    json!({"capacity": 100, "session_s": 300, "waiting_timeout_s": 60})
}

/// Units of that coupon, more than any load takes.
pub(crate) const STOCK: u64 = 1_000_000_000;

/// Ids of the jackpots, by number from 0.
pub(crate) fn jackpot(number: usize) -> String {
    format!("bench-{number}")
}

/// An id of 36 bytes, like a UUID. `tag` must differ between loads. load.lua makes the same ids.
pub(crate) fn entry_id(tag: u64, number: u64) -> String {
    format!("7b0c3a52-{tag:04x}-9999-8000-{number:012}")
}

/// One entry.
pub(crate) fn entry(id: &str, player: u64) -> Vec<u8> {
    let player = player % 1_000_000;
    format!(r#"{{"entry_id":"{id}","player_id":"p{player:07}","stake":100,"client_seed":null}}"#).into_bytes()
}

/// A batch, and where in it the 20 digits of its id begin. All other bytes are the same in all batches.
pub(crate) fn batch(size: usize) -> (Vec<u8>, usize) {
    let head = r#"{"batch_id":""#;
    let entries: Vec<String> = (0..size)
        .map(|number| format!(r#"{{"player_id":"p{number:07}","stake":100}}"#))
        .collect();
    let body = format!(r#"{head}{:020}","entries":[{}]}}"#, 0, entries.join(","));
    (body.into_bytes(), head.len())
}
