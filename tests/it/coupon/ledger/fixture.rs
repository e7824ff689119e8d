//! A coupon in the ledger.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jackpot::coupon::known::Registry;
use jackpot::coupon::ledger::books::Books;
use jackpot::coupon::ledger::event::Event;
use jackpot::coupon::ledger::projector::Coupons;
use jackpot_api::coupon::Status;
use jackpot_core::mark::Mark;

use crate::coupon::fixture::{Coupon, CouponFixture};
use crate::support::fixture::Fields;
use crate::support::ledger_fixture::{InLedger, LedgerFixture};
use crate::support::prelude::*;

pub type CouponLedger = LedgerFixture<Coupon>;

impl InLedger for Coupon {
    type Kind = Coupons;
    const TABLES: &'static [(&'static str, &'static str)] = &[
        ("events", "id n stream_id at_ms type last_sequence hash moved body"),
        (
            "coupon_issues",
            "coupon_id sequence request_id user_id code issued_at_ms n voided_at_ms voided_n",
        ),
        (
            "coupon_redemptions",
            "coupon_id sequence n at_ms redemption_id reference",
        ),
        ("coupon_metadata", "coupon_id sequence json"),
        ("definitions", "id version n at_ms json"),
        (
            "audit",
            "subject n at_ms who action target before after reason request_id",
        ),
        ("streams", "id n hash stream_id restores books stopped"),
    ];

    fn started(fixture: &CouponFixture) -> Coupons {
        Coupons {
            registry: Arc::new(Registry::new(fixture.store.clone())),
            store: fixture.store.clone(),
        }
    }

    async fn assert_follows(fixture: &CouponLedger, events: &[Fields], held: Books) {
        let mut books = Books::default();
        for fields in events {
            books
                .apply(&Event::parse(&fields.into()).expect("readable"))
                .expect("follows");
        }
        assert_eq!(held, books);
        let sequences = fixture.own_rows("coupon_issues", "sequence", "n sequence").await;
        let dense: Vec<_> = (1..=books.sequence).map(|n| vec![n.to_string()]).collect();
        assert_eq!(sequences, dense, "in the order in which they were issued");
        let redeemed = fixture.own_rows("coupon_redemptions", "sequence", "n").await;
        assert_eq!(redeemed.len() as u64, books.redeemed);
        let redis = fixture.snapshot().await;
        assert_eq!(redis.mark, Mark::new(books.restores, books.n).expect("a mark"));
        assert_eq!(
            (
                redis.issued,
                redis.voided,
                redis.queued,
                redis.dead,
                redis.arrivals,
                redis.stock
            ),
            (
                books.sequence,
                books.voided,
                books.queued,
                books.dead,
                books.arrivals,
                books.stock
            )
        );
    }
}

impl CouponLedger {
    /// All that Redis holds of the coupon, without the stream and without what belongs to one Redis only.
    pub async fn contents(&self) -> Vec<BTreeMap<String, String>> {
        let keys = &self.keys;
        let mut all = Vec::new();
        for key in [&keys.state, &keys.requests, &keys.users] {
            all.push(self.hash(key).await);
        }
        all[0].retain(|field, _| !["n", "restores", "restore_token", "history", "consumer"].contains(&field.as_str()));
        for key in [&keys.queue, &keys.dead] {
            let members = self.sorted::<u64>(key).await.into_iter();
            all.push(members.map(|(id, arrival)| (id, arrival.to_string())).collect());
        }
        all
    }
}

/// Everything that can happen to a coupon, except its end and a restore. At the end one request is in the queue behind
/// a dead letter that went back, and one is dead.
pub async fn live(fixture: &CouponFixture) {
    let far = json!({"stock": 4, "per_user": 2, "starts_at": "2100-01-01T00:00:00Z"});
    let two = json!({"stock": 4, "per_user": 2});
    fixture.define(&two).await;
    for (request, user) in [("a", "u1"), ("b", "u1"), ("c", "u1"), ("d", "u2"), ("a", "u1")] {
        fixture.now(request, user).await;
    }
    fixture.void("a").await;
    for (request, user) in [("e", "u1"), ("f", "u3"), ("g", "u4"), ("h", "u5")] {
        fixture.now(request, user).await;
    }
    fixture.define(&far).await;
    fixture.now("early", "u6").await;
    fixture
        .define(&json!({"stock": 6, "per_user": 1, "per_user_window_s": 1}))
        .await;
    let mut tries = 0;
    eventually(
        Duration::from_secs(20),
        "the window lets go of the last issue",
        async || {
            tries += 1;
            let answer = fixture.now(&format!("w{tries}"), "u3").await;
            answer.first.is_none().then_some(())
        },
    )
    .await;
    for (request, user) in [("q1", "u7"), ("q2", "u8"), ("q3", "u9"), ("q4", "u1")] {
        let asked = crate::coupon::fixture::ask_queue(request, user);
        let with_metadata = crate::coupon::fixture::with_metadata(asked, &[("order", request)]);
        fixture.answers(&[with_metadata]).await;
    }
    fixture.served("consumer", "1", &[], 1).await;
    let codes = crate::coupon::fixture::with_codes(["q1"]);
    fixture.served("consumer", "2", &codes, 0).await;
    fixture
        .raw::<()>(redis::cmd("HDEL").arg(&fixture.keys.state).arg("consumer"))
        .await;
    fixture.wear_out().await;
    fixture.redeem("b", "till-1", "receipt 1").await;
    fixture.redeem("q1", "till-1", "receipt 1").await;
    fixture.redrive("q2").await;
    fixture.redrive("q4").await;
    fixture.now("behind", "u10").await;
    fixture.status(Status::Suspended).await;
    fixture.status(Status::Open).await;
    let checkpoint = jackpot::coupon::scripts::checkpoint(&fixture.store, &fixture.keys, Mark::ZERO).await;
    checkpoint.expect("done");
}
