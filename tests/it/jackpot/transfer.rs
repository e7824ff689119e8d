//! `lua/jackpot/transfer_expect.lua`, `transfer_give.lua` and `transfer_receive.lua` on a real Redis, compared with what
//! the events rebuild.

use std::sync::Arc;

use jackpot::jackpot::scripts::{
    Adjust, Expect, Expected, Give, Given, Holds, Incoming, Received, Released, ScriptError, transfer_expect,
    transfer_give, transfer_receive, transfer_release,
};
use jackpot::jackpot::view::Meter;
use jackpot::subject::emergency::{Decision, Obedience, Obeys as _};
use jackpot_api::jackpot::Status;
use jackpot_core::currency::Currency;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::transfer::{self, Part};
use jackpot_core::money::{MAX_MINOR, Minor};
use jackpot_core::wire::Field as _;
use sha2::{Digest as _, Sha256};

use crate::jackpot::fixture::{JackpotFixture, entry, funding, operator, tier};
use crate::jackpot::must_hit::{cycles, ruled};
use crate::support::prelude::*;

/// The tiers of most transfers.
const GRAND: [(&str, &str); 1] = [("grand", "grand")];

fn id(text: &str) -> Id {
    Id::parse(text).expect("an id")
}

/// The digest of the service.
fn digest_of(parts: &Vec<Part>) -> String {
    hex::encode(&Sha256::digest(parts.text())[..16])
}

/// Parts for which the target has made room, where no limit is set.
fn holding(parts: &[Part]) -> Holds {
    Holds {
        parts: parts.to_vec(),
        waits: false,
        limit: None,
        at_ms: i64::from(i32::MAX) * 1_000_000, // as if it looked only now
    }
}

/// All money of a tier, in millionths.
pub fn held(meter: &Meter) -> u64 {
    (meter.pool + meter.reserve + meter.overflow) * 1_000_000 + meter.remainder_micro
}

/// A jackpot that gives, and one on the same Redis that receives.
pub struct Pair {
    pub source: JackpotFixture,
    pub target: JackpotFixture,
}

impl Pair {
    pub async fn with(source: &Value, target: &Value) -> Self {
        let redis = Arc::new(TestRedis::start().await);
        Self {
            source: JackpotFixture::on(redis.clone(), source).await,
            target: JackpotFixture::on(redis, target).await,
        }
    }

    /// A paused source with this much in its pool.
    async fn funded(amount: u64, target: &Value) -> Self {
        let pair = Self::with(&json!({}), target).await;
        pair.source.fund("f", amount).await;
        pair.source.status(Status::Paused).await;
        pair
    }

    /// The source as the target of transfers back.
    fn back(self) -> Self {
        Self {
            source: self.target,
            target: self.source,
        }
    }

    async fn give(
        &self,
        transfer_id: &str,
        digest: &str,
        tiers: &[(&str, &str)],
        expected: Option<&Vec<Part>>,
    ) -> Given {
        self.give_what(transfer_id, digest, tiers, expected.map(|parts| holding(parts)))
            .await
    }

    async fn give_what(&self, transfer_id: &str, digest: &str, tiers: &[(&str, &str)], holds: Option<Holds>) -> Given {
        let (known, view) = self.source.fresh().await;
        let tiers: Vec<_> = tiers.iter().map(|(tier, to_tier)| (id(tier), id(to_tier))).collect();
        let wish = Give {
            transfer_id: &id(transfer_id),
            digest,
            to: &self.target.id,
            tiers: &tiers,
            expected: holds.as_ref(),
            is_approval: false,
            reason: "a test",
            by: &operator(),
        };
        let (fence, own) = (known.fence(&view), view.definition.tiers());
        let given = transfer_give(&self.source.store, &known.keys, &fence, own, &wish).await;
        given.expect("a reply").1
    }

    /// What the tiers hold.
    pub async fn look(&self, transfer_id: &str, tiers: &[(&str, &str)]) -> Vec<Part> {
        match self.give(transfer_id, "content", tiers, None).await {
            Given::Holds(holds) => holds.parts,
            other => panic!("{other:?}"),
        }
    }

    async fn try_expect(&self, transfer_id: &str, parts: &Vec<Part>, currency: &str) -> Result<Expected, ScriptError> {
        let (known, view) = self.target.fresh().await;
        let wish = Expect {
            source: &self.source.id,
            transfer_id: &id(transfer_id),
            digest: &digest_of(parts),
            parts,
            currency: Currency::parse(currency).expect("a code"),
            limit: None,
            looks: false,
            reason: "a test",
            by: &operator(),
        };
        let (fence, own) = (known.fence(&view), view.definition.tiers());
        let expected = transfer_expect(&self.target.store, &known.keys, &fence, own, &wish).await;
        expected.map(|(_, expected)| expected)
    }

    pub async fn expect(&self, transfer_id: &str, parts: &Vec<Part>) -> Expected {
        self.try_expect(transfer_id, parts, "KRW").await.expect("a reply")
    }

    async fn try_receive(&self, transfer_id: &str, digest: &str, parts: &str) -> Result<Received, ScriptError> {
        let (known, view) = self.target.fresh().await;
        let (fence, own) = (known.fence(&view), view.definition.tiers());
        let transfer_id = id(transfer_id);
        let incoming = Incoming {
            source: &self.source.id,
            transfer_id: &transfer_id,
            digest,
            parts,
        };
        let received = transfer_receive(&self.target.store, &known.keys, &fence, own, incoming).await;
        received.map(|(_, received)| received)
    }

    async fn receive(&self, transfer_id: &str, parts: &Vec<Part>) -> Received {
        let received = self.try_receive(transfer_id, &digest_of(parts), &parts.text()).await;
        received.expect("a reply")
    }

    /// Makes room and gives.
    async fn send(&self, transfer_id: &str, tiers: &[(&str, &str)]) -> Vec<Part> {
        let parts = self.look(transfer_id, tiers).await;
        assert_eq!(self.expect(transfer_id, &parts).await, Expected::Made);
        let given = self.give(transfer_id, "content", tiers, Some(&parts)).await;
        assert!(matches!(given, Given::Done { now: true, .. }), "{given:?}");
        parts
    }

    /// The whole transfer.
    pub async fn transfer(&self, transfer_id: &str, tiers: &[(&str, &str)]) -> Vec<Part> {
        let parts = self.send(transfer_id, tiers).await;
        assert_eq!(self.receive(transfer_id, &parts).await, Received::Done(true));
        parts
    }

    /// Both follow from their events, and their money balances.
    async fn assert_rebuilds(&self) {
        self.source.assert_rebuilds().await;
        self.target.assert_rebuilds().await;
    }
}

/// What a transfer sees of a tier.
async fn meter(fixture: &JackpotFixture, tier: &str) -> Meter {
    let meters = fixture.snapshot().await.meters;
    meters
        .into_iter()
        .find(|meter| meter.tier.as_str() == tier)
        .expect("a tier")
}

/// A part with nothing but this in its pool.
fn pool_part(pool: u64) -> Vec<Part> {
    vec![Part {
        tier: id("grand"),
        to_tier: id("grand"),
        pool,
        pool_micro: 0,
        reserve: 0,
        reserve_micro: 0,
        overflow: 0,
    }]
}

#[tokio::test]
async fn everything_of_a_tier_moves_once_to_the_millionth() {
    let tiers = [
        tier("mini", 400_000, &json!({})),
        tier("grand", 600_000, &json!({"reserve_ppm": 333_333, "cap": 20})),
    ];
    let no_ranks = json!({"total": 1, "ranks": []});
    let source = json!({"contribution": {"rate_ppm": 15_001}, "tiers": tiers, "odds": no_ranks});
    let big = [tier("big", 1_000_000, &json!({"reserve_ppm": 123_456}))];
    let target = json!({"contribution": {"rate_ppm": 77_777}, "tiers": big, "odds": no_ranks});
    let pair = Pair::with(&source, &target).await;
    for i in 0..101 {
        pair.source.take(&format!("e{i}"), 0).await;
    }
    pair.target.take("e", 0).await;
    pair.source.status(Status::Paused).await;
    let (gives, mini) = (meter(&pair.source, "grand").await, meter(&pair.source, "mini").await);
    let had = meter(&pair.target, "big").await;
    assert!(gives.pool == 20 && gives.reserve > 0 && gives.overflow > 0 && gives.remainder_micro > 0);

    let parts = pair.send("t", &[("grand", "big")]).await;
    let (source, target) = (pair.source.dump().await, pair.target.dump().await);
    let again = pair.give("t", "content", &[("grand", "big")], None).await;
    let done = Given::Done {
        now: false,
        parts: parts.clone(),
    };
    assert_eq!(again, done);
    let other = pair.give("t", "other", &[("mini", "big")], None).await;
    assert_eq!(other, Given::Reused);
    assert_eq!(pair.expect("t", &parts).await, Expected::Made);
    assert_eq!((pair.source.dump().await, pair.target.dump().await), (source, target));
    let in_transit = meter(&pair.target, "big").await;
    assert_eq!((held(&in_transit), in_transit.funded), (held(&had), 0));
    assert_eq!(in_transit.expected, held(&gives).div_ceil(1_000_000));
    pair.assert_rebuilds().await;

    assert_eq!(pair.receive("t", &parts).await, Received::Done(true));
    let target = pair.target.dump().await;
    assert_eq!(pair.receive("t", &parts).await, Received::Done(false));
    assert_eq!(pair.expect("t", &parts).await, Expected::Made, "no room for what is in");
    assert_eq!(pair.target.dump().await, target);
    let (gave, got) = (meter(&pair.source, "grand").await, meter(&pair.target, "big").await);
    assert_eq!((held(&gave), held(&got)), (0, held(&had) + held(&gives)));
    let moved = |units: u64, micro: u64| units * 1_000_000 + micro;
    assert_eq!(moved(gave.transferred_out, gave.transferred_out_micro), held(&gives));
    assert_eq!(moved(got.transferred_in, got.transferred_in_micro), held(&gives));
    assert_eq!(
        (got.expected, got.funded, gave.contributed),
        (0, 0, gives.contributed),
        "a transfer is no funding"
    );
    assert_eq!(held(&meter(&pair.source, "mini").await), held(&mini));
    pair.assert_rebuilds().await;
}

#[tokio::test]
async fn an_open_or_suspended_source_one_with_pending_entries_and_another_tier_give_nothing() {
    let pair = Pair::with(&json!({}), &json!({})).await;
    pair.source.fund("f", 50).await;
    pair.source.enter(&[entry("pending", 1)]).await;
    let refused = async |tiers: &[(&str, &str)], expected: Given| {
        let before = pair.source.dump().await;
        for parts in [None, Some(&pool_part(51))] {
            assert_eq!(pair.give("t", "content", tiers, parts).await, expected);
        }
        assert_eq!(pair.source.dump().await, before);
    };
    refused(&GRAND, Given::Status(Status::Open)).await;
    pair.source.status(Status::Suspended).await;
    refused(&GRAND, Given::Status(Status::Suspended)).await;
    let by = operator();
    let resumed = pair
        .source
        .operate
        .resume_suspended(&pair.source.id, "a test".to_owned(), &by);
    resumed.await.expect("open again");
    pair.source.status(Status::Paused).await;
    refused(&GRAND, Given::Pending).await;
    assert!(pair.source.finish("pending", 1).await.done_now);
    refused(&[("mini", "grand")], Given::NoTier).await;
    refused(&[("grand", "grand"), ("mini", "grand")], Given::NoTier).await;
    assert_eq!(pair.look("t", &GRAND).await, pool_part(51));
    pair.source.assert_rebuilds().await;
}

#[tokio::test]
async fn a_closed_target_another_currency_another_tier_or_a_full_one_make_no_room() {
    let pair = Pair::funded(20, &json!({})).await;
    let parts = pair.look("t", &GRAND).await;
    let most = Adjust {
        amount: Minor::try_from(MAX_MINOR - 21).expect("in range"),
        ..funding("most", 1)
    };
    pair.target.operate.adjust(&pair.target.id, &most).await.expect("done");
    let before = pair.target.dump().await;
    let other = vec![Part {
        to_tier: id("mini"),
        ..parts[0].clone()
    }];
    assert_eq!(pair.expect("t", &other).await, Expected::NoTier);
    let currency = pair.try_expect("t", &parts, "EUR").await.expect("a reply");
    assert_eq!(currency, Expected::Currency);
    assert_eq!(pair.expect("t", &parts).await, Expected::TooLarge);
    for damaged in [
        "grand",
        "grand,grand,1,0,0,0;",
        "grand,grand,9007199254740992,0,0,0,0;",
        "grand,mini,1,0,0,0,0;",
    ] {
        let received = pair.try_receive("t", "d", damaged).await;
        assert!(received.is_err(), "{damaged}: {received:?}");
        assert_eq!(pair.target.dump().await, before, "{damaged}");
    }
    pair.target.status(Status::Closed).await;
    let before = pair.target.dump().await;
    assert_eq!(pair.expect("t", &parts).await, Expected::Closed);
    assert_eq!(pair.target.dump().await, before);
}

#[tokio::test]
async fn room_is_kept_free_until_the_money_comes() {
    let pair = Pair::funded(20, &json!({})).await;
    let most = |adjustment_id: &str, amount: u64| Adjust {
        amount: Minor::try_from(amount).expect("in range"),
        ..funding(adjustment_id, 1)
    };
    let fund = async |wish: Adjust| pair.target.operate.adjust(&pair.target.id, &wish).await;
    fund(most("a", MAX_MINOR - 30)).await.expect("done");
    let parts = pair.send("t", &GRAND).await;
    assert!(fund(most("b", 11)).await.is_err(), "it would take the room");
    assert_eq!(pair.target.money().await.0, MAX_MINOR - 30);
    fund(most("c", 10)).await.expect("done");
    assert_eq!(pair.receive("t", &parts).await, Received::Done(true));
    let full = meter(&pair.target, "grand").await;
    assert_eq!((full.pool, full.transferred_in, full.expected), (MAX_MINOR, 20, 0));
    pair.assert_rebuilds().await;
}

#[tokio::test]
async fn the_source_gives_exactly_what_the_target_expects() {
    let pair = Pair::funded(20, &json!({})).await;
    let first = pair.look("t", &GRAND).await;
    assert_eq!(pair.expect("t", &first).await, Expected::Made);
    pair.source.fund("more", 5).await;
    let before = pair.source.dump().await;
    let then = pool_part(25);
    let holds = pair.give("t", "content", &GRAND, Some(&first)).await;
    assert!(
        matches!(&holds, Given::Holds(holds) if holds.parts == then),
        "{holds:?}"
    );
    assert_eq!(pair.source.dump().await, before);
    assert_eq!(pair.transfer("t", &GRAND).await, then);
    // The room for the parts that were never given ends later.
    let got = meter(&pair.target, "grand").await;
    assert_eq!((got.pool, got.expected, got.funded), (25, 20, 0));
    pair.assert_rebuilds().await;
}

#[tokio::test]
async fn a_pool_takes_up_to_its_cap_and_the_overflow_the_rest() {
    let capped = json!({"tiers": [tier("grand", 1_000_000, &json!({"cap": 30}))]});
    let pair = Pair::funded(70, &capped).await;
    pair.target.fund("f", 10).await;
    pair.transfer("t", &GRAND).await;
    assert_eq!(pair.target.money().await, (30, 0, 50));
    pair.target.status(Status::Closed).await;
    let back = pair.back();
    back.transfer("t", &GRAND).await;
    assert_eq!(back.target.money().await, (30, 0, 50), "the overflow stays one");
    assert_eq!(back.source.money().await, (0, 0, 0));
    back.assert_rebuilds().await;
}

#[tokio::test]
async fn two_remainders_make_a_unit_in_pool_and_reserve() {
    let rules = json!({
        "contribution": {"rate_ppm": 15_000},
        "tiers": [tier("grand", 1_000_000, &json!({"reserve_ppm": 500_000}))],
        "odds": {"total": 1, "ranks": []},
    });
    let pair = Pair::with(&rules, &rules).await;
    for fixture in [&pair.source, &pair.target] {
        // 1.5 units: 0.75 for each of the two.
        fixture.take("e", 0).await;
        fixture.status(Status::Paused).await;
    }
    pair.transfer("t", &GRAND).await;
    let got = meter(&pair.target, "grand").await;
    assert_eq!((got.pool, got.reserve, got.remainder_micro), (1, 1, 1_000_000));
    assert_eq!((got.transferred_in, got.transferred_in_micro), (1, 500_000));
    pair.assert_rebuilds().await;
}

#[tokio::test]
async fn two_tiers_go_into_one_and_an_empty_one_is_a_transfer_too() {
    let two = json!({"tiers": [tier("mini", 400_000, &json!({})), tier("grand", 600_000, &json!({}))],
        "contribution": {"fixed": 10}, "odds": {"total": 1, "ranks": []}});
    let pair = Pair::with(&two, &json!({})).await;
    for entry_id in ["a", "b"] {
        pair.source.take(entry_id, 0).await;
    }
    pair.source.status(Status::Paused).await;
    let both = [("grand", "grand"), ("mini", "grand")];
    let parts = pair.transfer("t", &both).await;
    assert_eq!((parts[0].pool, parts[1].pool), (12, 8));
    let got = meter(&pair.target, "grand").await;
    assert_eq!((got.pool, got.transferred_in), (20, 20));
    let empty = pair.transfer("empty", &both).await;
    assert_eq!((empty[0].pool, empty[1].pool), (0, 0));
    assert_eq!(pair.target.money().await.0, 20);
    pair.assert_rebuilds().await;
}

/// Their sum would be written as an amount, for owners and approvals, and nothing could read it.
#[tokio::test]
async fn tiers_that_together_hold_more_than_an_amount_can_be_give_apart() {
    let tiers = [tier("grand", 600_000, &json!({})), tier("mini", 400_000, &json!({}))];
    let both = json!({"tiers": tiers, "odds": {"total": 1, "ranks": []}});
    let pair = Pair::with(&both, &both).await;
    pair.source.fund("f", MAX_MINOR - 9).await;
    let mini = Adjust {
        tier: id("mini"),
        ..funding("g", 10)
    };
    pair.source
        .operate
        .adjust(&pair.source.id, &mini)
        .await
        .expect("funded");
    pair.source.status(Status::Paused).await;
    let before = pair.source.dump().await;
    let [grand, mini] = [("grand", "grand"), ("mini", "mini")];
    assert_eq!(pair.give("t", "content", &[grand, mini], None).await, Given::TooLarge);
    assert_eq!(pair.source.dump().await, before);

    pair.transfer("t", &[mini]).await;
    pair.transfer("u", &[grand, mini]).await;
    pair.assert_rebuilds().await;
}

#[tokio::test]
async fn a_target_that_is_closed_or_has_lost_its_room_receives_once() {
    let pair = Pair::funded(20, &json!({})).await;
    let parts = pair.send("t", &GRAND).await;
    pair.target.status(Status::Closed).await;
    assert_eq!(pair.receive("t", &parts).await, Received::Done(true));
    let before = pair.target.dump().await;
    let other = pair.try_receive("t", "d", &pool_part(21).text()).await;
    assert!(
        matches!(&other, Err(error) if error.to_string().contains("JP_DAMAGED")),
        "{other:?}"
    );
    assert_eq!(pair.target.dump().await, before);
    pair.assert_rebuilds().await;

    // Another target, which never made room: a restore knew nothing of it.
    let pair = Pair::funded(20, &json!({})).await;
    assert_eq!(pair.receive("t", &pool_part(20)).await, Received::Done(true));
    let got = meter(&pair.target, "grand").await;
    assert_eq!((got.pool, got.transferred_in, got.expected), (20, 20, 0));
    pair.target.assert_rebuilds().await;
    let nearly = Adjust {
        amount: Minor::try_from(MAX_MINOR - 25).expect("in range"),
        ..funding("nearly", 1)
    };
    pair.target
        .operate
        .adjust(&pair.target.id, &nearly)
        .await
        .expect("done");
    let before = pair.target.dump().await;
    assert_eq!(pair.receive("u", &pool_part(20)).await, Received::TooLarge);
    assert_eq!(pair.target.dump().await, before);
}

#[tokio::test]
async fn transfers_go_on_during_the_emergency_stop() {
    let pair = Pair::funded(20, &json!({})).await;
    let stop = Decision {
        order: 1,
        reason: "a test".to_owned(),
        at_ms: 1_000,
        who: "tester".to_owned(),
        request_id: "r".to_owned(),
    };
    for fixture in [&pair.source, &pair.target] {
        let obeyed = fixture.operate.views.registry.obey(&fixture.id, &stop).await;
        assert_eq!(obeyed.expect("a reply"), Obedience::Obeys);
    }
    pair.transfer("t", &GRAND).await;
    for (fixture, status) in [(&pair.source, "stopped paused"), (&pair.target, "stopped open")] {
        assert_eq!(fixture.field::<String>("status").await, status);
    }
    assert_eq!(pair.target.money().await.0, 20);
    pair.assert_rebuilds().await;
}

#[tokio::test]
async fn the_records_are_named_as_the_ledger_names_them() {
    let pair = Pair::funded(20, &json!({})).await;
    let parts = pair.transfer("t", &GRAND).await;
    let names = async |fixture: &JackpotFixture| {
        let records = fixture.hash(&fixture.keys.adjustments).await;
        records
            .into_keys()
            .filter(|name| name.starts_with('!'))
            .collect::<Vec<_>>()
    };
    let (source, transfer_id) = (&pair.source.id, id("t"));
    assert_eq!(names(&pair.source).await, [transfer::out(&transfer_id)]);
    let came_in = transfer::came_in(source, &transfer_id);
    let room = transfer::room(source, &transfer_id, &digest_of(&parts));
    let freed = transfer::freed(source, &transfer_id, &digest_of(&parts));
    assert_eq!(names(&pair.target).await, [freed, came_in, room]);
}

#[tokio::test]
async fn a_source_begins_its_next_cycle_only_where_entries_can_end_it() {
    let rule = ruled(&json!({"time": {"after_s": 0, "within_s": 60}}));
    for (status, next) in [(Status::Paused, Some(1)), (Status::Closed, None)] {
        let pair = Pair::with(&rule, &json!({})).await;
        pair.source.fund("f", 20).await;
        pair.source.status(status).await;
        pair.transfer("t", &GRAND).await;
        let after = cycles(&pair.source).await;
        assert_eq!(after.open(&id("grand")).map(|row| row.cycle), next, "{status:?}");
        let again = pair.give("t", "content", &GRAND, None).await;
        assert!(matches!(again, Given::Done { now: false, .. }), "{again:?}");
        assert_eq!(cycles(&pair.source).await, after, "a repeat ends nothing");
        assert_eq!(pair.look("u", &GRAND).await, pool_part(0));
        assert_eq!(cycles(&pair.source).await, after, "a look ends nothing");
        pair.assert_rebuilds().await;
    }
}

/// An earlier version kept no record that a transfer had used its room.
#[tokio::test]
async fn the_room_of_what_came_in_is_not_ended_again() {
    let pair = Pair::funded(100, &json!({})).await;
    let parts = pair.send("t", &GRAND).await;
    assert_eq!(pair.receive("t", &parts).await, Received::Done(true));
    let (target, digest) = (&pair.target, digest_of(&parts));
    let mut forget = redis::cmd("HDEL");
    forget
        .arg(&target.keys.adjustments)
        .arg(format!("!free!{}!t!{digest}", pair.source.id));
    assert_eq!(target.raw::<u64>(&mut forget).await, 1);
    let before = target.dump().await;
    let (known, view) = target.fresh().await;
    let (fence, own) = (known.fence(&view), view.definition.tiers());
    let (source, transfer_id) = (&pair.source.id, id("t"));
    let released = transfer_release(&target.store, &known.keys, &fence, own, source, &transfer_id, &digest).await;
    assert!(matches!(released, Ok((_, Released::Before))), "{released:?}");
    assert_eq!(target.dump().await, before);
}

/// As where the limit that it waited for is gone: the other jackpot made no room for it.
#[tokio::test]
async fn what_needed_a_second_owner_at_the_look_is_not_given_without_room() {
    let pair = Pair::funded(100, &json!({})).await;
    let parts = pair.look("t", &GRAND).await;
    let before = pair.source.dump().await;
    let waited = Holds {
        waits: true,
        ..holding(&parts)
    };
    let given = pair.give_what("t", "content", &GRAND, Some(waited)).await;
    assert!(
        matches!(&given, Given::Holds(holds) if !holds.waits && holds.parts == parts),
        "{given:?}"
    );
    assert_eq!(pair.source.dump().await, before);
}
