//! The suite on each capability.

use std::path::{Path, PathBuf};

use jackpot::store::keys::{CouponKeys, JackpotKeys, RoomKeys};
use jackpot::subject::kinds::{COUPON, JACKPOT, KindName, ROOM};
use jackpot_core::ids::Id;
use redis::Cmd;

use super::suite::Case;
use super::{process, toy};
use crate::support::prelude::*;

/// The suite, with a capability in the role of the type parameter.
macro_rules! suite {
    ($folder:ident, $case:ty) => {
        mod $folder {
            use crate::subject::suite;
            use crate::support::ledger_db::{LedgerDb, on_both_databases};

            on_both_databases!(
                puts_keep_their_preconditions,
                heavy_a_kill_loses_nothing_acknowledged,
                a_lost_redis_is_rebuilt_and_a_changed_one_is_suspended,
                the_emergency_stop_holds_until_its_end,
            );

            async fn puts_keep_their_preconditions(db: LedgerDb) {
                suite::puts_keep_their_preconditions::<$case>(db).await;
            }

            async fn heavy_a_kill_loses_nothing_acknowledged(db: LedgerDb) {
                suite::a_kill_loses_nothing_acknowledged::<$case>(db).await;
            }

            async fn a_lost_redis_is_rebuilt_and_a_changed_one_is_suspended(db: LedgerDb) {
                suite::a_lost_redis_is_rebuilt_and_a_changed_one_is_suspended::<$case>(db).await;
            }

            async fn the_emergency_stop_holds_until_its_end(db: LedgerDb) {
                suite::the_emergency_stop_holds_until_its_end::<$case>(db).await;
            }
        }
    };
}

suite!(toys, crate::subject::cases::Toys);
suite!(jackpots, crate::subject::cases::Jackpots);
suite!(coupons, crate::subject::cases::Coupons);
suite!(rooms, crate::subject::cases::Rooms);

fn id(text: &str) -> Id {
    Id::parse(text).expect("an id")
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("a number, not {value}"))
}

/// Adds to a field of a hash.
fn add_to(key: &str, field: &str, by: i64) -> Cmd {
    let mut add = redis::cmd("HINCRBY");
    add.arg(key).arg(field).arg(by);
    add
}

pub struct Toys;

impl Case for Toys {
    const KIND: KindName = toy::TOY;

    fn program(data: &Path) -> Option<PathBuf> {
        Some(process::program(data))
    }

    fn definition(_: &str, change: u64) -> Value {
        json!({"limit": 100_000 + change})
    }

    fn event(id: &str, _: u64) -> (String, Value) {
        (format!("/v1/toys/{id}/count"), json!({}))
    }

    fn count(subject: &Value) -> u64 {
        number(&subject["count"])
    }

    fn tamper(id: &str, by: i64) -> Cmd {
        add_to(&format!("toy:{{{id}}}:state"), "limit", by)
    }
}

pub struct Jackpots;

impl Case for Jackpots {
    const KIND: KindName = JACKPOT;

    fn definition(id: &str, change: u64) -> Value {
        json!({
            "id": id, "name": format!("Change {change}"), "currency": "KRW", "status": "open",
            "contribution": {"fixed": 1},
            "tiers": [{"tier": "grand", "share_ppm": 1_000_000, "min_payout": 100, "seed": 0, "reserve_ppm": 0,
                       "cap": null, "must_hit_by": null}],
            "odds": {"total": 1000, "ranks": []},
        })
    }

    fn event(id: &str, number: u64) -> (String, Value) {
        let body = json!({"entry_id": format!("e{number}"), "player_id": "p", "stake": 100});
        (format!("/v1/jackpots/{id}/entries"), body)
    }

    /// Each entry contributes one unit.
    fn count(subject: &Value) -> u64 {
        number(&subject["meters"][0]["pool"])
    }

    fn tamper(jackpot: &str, by: i64) -> Cmd {
        let mut add = redis::cmd("INCRBY");
        add.arg(JackpotKeys::new(&id(jackpot)).pool(&id("grand"))).arg(by);
        add
    }

    fn resume(id: &str) -> Option<(String, Value)> {
        Some((format!("/v1/jackpots/{id}/resume"), json!({"reason": "compared"})))
    }
}

pub struct Coupons;

impl Case for Coupons {
    const KIND: KindName = COUPON;

    fn definition(_: &str, change: u64) -> Value {
        json!({"name": format!("Change {change}"), "stock": 100_000})
    }

    fn event(id: &str, number: u64) -> (String, Value) {
        let body = json!({"request_id": format!("r{number}"), "user_id": format!("u{number}")});
        (format!("/v1/coupons/{id}/issues"), body)
    }

    fn count(subject: &Value) -> u64 {
        number(&subject["issued"])
    }

    fn tamper(coupon: &str, by: i64) -> Cmd {
        add_to(&CouponKeys::new(&id(coupon)).state, "arrivals", by)
    }
}

pub struct Rooms;

impl Case for Rooms {
    const KIND: KindName = ROOM;

    fn definition(_: &str, change: u64) -> Value {
        json!({"capacity": 1_000 + change, "session_s": 600, "waiting_timeout_s": 600})
    }

    fn event(id: &str, number: u64) -> (String, Value) {
        let body = json!({"user_id": format!("u{number}")});
        (format!("/v1/rooms/{id}/tickets"), body)
    }

    fn count(subject: &Value) -> u64 {
        number(&subject["active"]) + number(&subject["waiting"])
    }

    /// Tickets are not in the ledger.
    fn lasting(subject: &Value) -> Value {
        ["id", "capacity", "session_s", "waiting_timeout_s", "status", "version"]
            .map(|field| subject[field].clone())
            .into()
    }

    fn tamper(room: &str, by: i64) -> Cmd {
        add_to(&RoomKeys::new(&id(room)).state, "capacity", by)
    }
}
