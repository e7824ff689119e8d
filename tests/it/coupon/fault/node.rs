//! A jackpot and the coupon that it gives are on two nodes of a cluster, and the coupon's node freezes. Entries that
//! drew the coupon wait for it, and money is paid meanwhile. In the end each of them has its unit once.

use std::time::Instant;

use crate::fault::frozen_node::{cluster, service_on};
use crate::fault::support::{
    ANSWERED_WITHIN, assert_unavailable, balanced, create, enter, entry_drawing, key, redrawing,
    until_nothing_is_pending,
};
use crate::support::prelude::*;

const JACKPOT: &str = "prizes";
const COUPONS: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];
/// Entries that draw the coupon while its node is frozen.
const WAITING: usize = 4;
/// Entries that draw money meanwhile.
const PAID: usize = 10;

async fn ids(service: &Service, stem: &str, count: usize, rank: u32) -> Vec<String> {
    let mut ids = Vec::with_capacity(count);
    for i in 0..count {
        ids.push(entry_drawing(service, JACKPOT, &format!("{stem}{i}-"), &[rank]).await);
    }
    ids
}

#[tokio::test]
async fn a_frozen_coupon_holds_up_only_those_that_drew_it_and_each_gets_its_unit_once() {
    let mut cluster = cluster().await;
    let service = service_on(&cluster).await;
    let home = cluster.node_of(&key(JACKPOT, "state")).await.url().to_owned();
    let mut elsewhere = None;
    for coupon in COUPONS {
        let state = format!("cp:{{{coupon}}}:state");
        let url = cluster.node_of(&state).await.url().to_owned();
        if url != home {
            elsewhere = Some((coupon, url));
        }
    }
    let (coupon, node) = elsewhere.expect("one of eight is on another node");
    let body = json!({"name": coupon, "stock": 100, "per_user": 100, "per_user_window_s": null,
        "starts_at": null, "ends_at": null});
    service.put(&format!("/v1/coupons/{coupon}"), body).await.is(201);
    let mut definition = redrawing(JACKPOT);
    definition["odds"]["ranks"][0]["prize"] = json!({"coupon": {"coupon_id": coupon}});
    create(&service, definition).await;
    let before = enter(&service, JACKPOT, &ids(&service, "before", 1, 1).await[0]).await;
    assert_eq!(before.body["outcome"]["coupon"]["sequence"], 1, "{:?}", before.body);

    let paying = ids(&service, "p", PAID, 2).await;
    let waiting = ids(&service, "w", WAITING, 1).await;
    cluster.node_at(&node).freeze();
    for id in &waiting {
        let began_at = Instant::now();
        assert_unavailable(&enter(&service, JACKPOT, id).await, began_at.elapsed());
    }
    for id in paying {
        let began_at = Instant::now();
        let answer = enter(&service, JACKPOT, &id).await;
        assert_eq!(answer.body["outcome"]["prize"], "fixed", "{:?}", answer.body);
        assert!(began_at.elapsed() < ANSWERED_WITHIN);
    }
    cluster.node_at(&node).thaw();

    // No client repeats these requests: recovery finishes them.
    let mut redis = cluster.connection_to(&key(JACKPOT, "state")).await;
    until_nothing_is_pending(&mut redis, JACKPOT).await;
    let mut sequences = Vec::new();
    for id in &waiting {
        let found = enter(&service, JACKPOT, id).await;
        found.is(200);
        sequences.push(found.body["outcome"]["coupon"]["sequence"].as_u64().expect("a unit"));
    }
    sequences.sort_unstable();
    assert_eq!(sequences, (2..=1 + WAITING as u64).collect::<Vec<_>>());
    let meter = balanced(&service, JACKPOT).await;
    assert_has!(meter, {"contributed": 1 + WAITING + PAID, "paid": PAID});
    service
        .until(&format!("/v1/coupons/{coupon}"), "the coupon answers", |shown| {
            shown["issued"] == 1 + WAITING
        })
        .await;
}
