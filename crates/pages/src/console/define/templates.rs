//! Definitions to begin with. They work as they are; an operator gives them an id and a name.

use jackpot_core::jackpot::document::Document;
use serde_json::{Value, json};

/// Their names, for the address of the form.
#[cfg(test)]
pub const NAMES: [&str; 3] = ["single", "tiers", "queue"];

/// The template of this name, or the simplest one.
pub fn document(name: &str) -> Document {
    let value = match name {
        "tiers" => tiers(),
        "queue" => queue("first-come"),
        _ => single(),
    };
    serde_json::from_value(value).expect("a template is a definition")
}

/// One pool, which a rare rank takes whole.
fn single() -> Value {
    json!({
        "id": "spring", "name": "Spring wheel", "currency": "EUR", "contribution": { "fixed": 1 },
        "tiers": [{ "tier": "grand", "share_ppm": 1_000_000, "min_payout": 10_000 }],
        "odds": { "total": 1_000_000, "ranks": [
            { "rank": 1, "weight": 1, "prize": { "pool": { "tier": "grand", "take": "all" } } },
            { "rank": 2, "weight": 2_000, "prize": { "fixed": { "tier": "grand", "amount": 100 } } },
        ] },
        "public_meter": true,
    })
}

/// The four tiers that slot floors have.
fn tiers() -> Value {
    let tier = |tier: &str, share_ppm: u32, min_payout: u32, seed: u32| json!({ "tier": tier, "share_ppm": share_ppm, "min_payout": min_payout, "seed": seed, "reserve_ppm": 100_000 });
    let all = |rank: u32, weight: u32, tier: &str| json!({ "rank": rank, "weight": weight, "prize": { "pool": { "tier": tier, "take": "all" } } });
    json!({
        "id": "slots", "name": "Four tiers", "currency": "EUR", "contribution": { "rate_ppm": 15_000 },
        "tiers": [
            tier("grand", 400_000, 1_000_000, 500_000), tier("major", 300_000, 50_000, 20_000),
            tier("minor", 200_000, 5_000, 2_000), tier("mini", 100_000, 500, 200),
        ],
        "odds": { "total": 50_000_000, "ranks": [
            all(1, 1, "grand"), all(2, 50, "major"), all(3, 2_500, "minor"), all(4, 50_000, "mini"),
        ] },
        "public_meter": true,
    })
}

/// A coupon for everybody who comes through a waiting room, until the stock ends. Room and coupon have the same id.
pub fn queue(id: &str) -> Value {
    json!({
        "id": id, "name": "First come, first served", "currency": "EUR", "contribution": { "fixed": 1 },
        "tiers": [{ "tier": "grand", "share_ppm": 1_000_000, "min_payout": 1 }],
        "odds": { "total": 1, "ranks": [{ "rank": 1, "weight": 1, "prize": { "coupon": { "coupon_id": id } } }] },
        "room": id,
    })
}
