//! `lua/jackpot/define.lua`, and how long definitions are kept, on a real Redis.

use jackpot::jackpot::error::PlayError;
use jackpot::jackpot::scripts::{Define, Defined, Fence, NewJackpot, Rotated, ScriptError, Wanted};
use jackpot_api::jackpot::Status;
use jackpot_core::ids::Id;

use crate::jackpot::by_hand;
use crate::jackpot::fixture::{JackpotFixture, definition, document, operator, put, rule_of, tier};
use crate::support::prelude::*;

#[tokio::test]
async fn the_same_definition_again_changes_nothing() {
    let fixture = JackpotFixture::with(&json!({})).await;
    let before = fixture.dump().await;
    assert!(!put(&fixture, &json!({}), Wanted::Any).await.expect("done"));
    assert_eq!(fixture.dump().await, before);
}

#[tokio::test]
async fn a_definition_is_put_only_on_the_version_that_was_expected() {
    let fixture = JackpotFixture::with(&json!({})).await;
    let other = json!({"name": "other"});
    let before = fixture.dump().await;
    for wanted in [Wanted::Absent, Wanted::Versions(vec![7])] {
        assert!(matches!(
            put(&fixture, &other, wanted).await,
            Err(PlayError::PreconditionFailed)
        ));
    }
    assert_eq!(fixture.dump().await, before);
    for wanted in [Wanted::Versions(vec![9, 1]), Wanted::Present] {
        assert!(put(&fixture, &other, wanted).await.is_ok());
    }
    let nobody = Id::parse("nobody-at-all").expect("an id");
    let definition = definition(document("nobody-at-all", &json!({})));
    let put = fixture
        .operate
        .define(
            &nobody,
            &definition,
            Wanted::Versions(vec![1]),
            Status::Open,
            &operator(),
        )
        .await;
    assert!(matches!(put, Err(PlayError::PreconditionFailed)), "{put:?}");
}

/// A PUT as one instance sends it after it has read the jackpot as it is now.
async fn draft(fixture: &JackpotFixture) -> (Fence, Option<u64>) {
    let (known, view) = fixture.fresh().await;
    (known.fence(&view), Some(view.last_version))
}

async fn send(
    fixture: &JackpotFixture,
    drafted: &(Fence, Option<u64>),
    name: &str,
    wanted: Wanted,
    nonce: &str,
) -> Result<Defined, ScriptError> {
    let definition = definition(document(fixture.id.as_str(), &json!({"name": name})));
    let (fence, last_version) = drafted;
    let opening = fixture.operate.views.opening(&fixture.id, 1).expect("an opening");
    let wish = Define {
        definition: &definition,
        wanted,
        last_version: *last_version,
        nonce,
        history: "0123456789abcdef",
        by: &operator(),
    };
    let new = NewJackpot {
        status: Status::Open,
        opening,
        retention_s: 0,
    };
    let keys = &fixture.keys;
    jackpot::jackpot::scripts::define(&fixture.store, keys, fence, &wish, &new)
        .await
        .map(|(_, defined)| defined)
}

#[tokio::test]
async fn a_put_whose_reply_was_lost_answers_the_same_when_it_is_repeated() {
    let fixture = JackpotFixture::with(&json!({})).await;
    let first = draft(&fixture).await;
    let wanted = Wanted::Versions(vec![1]);
    assert_eq!(
        send(&fixture, &first, "two", wanted.clone(), "n1")
            .await
            .expect("a reply"),
        Defined::Changed(2)
    );
    let before = fixture.dump().await;
    assert_eq!(
        send(&fixture, &first, "two", wanted.clone(), "n1")
            .await
            .expect("a reply"),
        Defined::Changed(2)
    );
    assert_eq!(fixture.snapshot().await.last_version, 2);
    let after_reading = draft(&fixture).await;
    assert_eq!(
        send(&fixture, &after_reading, "two", wanted, "n1")
            .await
            .expect("a reply"),
        Defined::Changed(2)
    );
    assert_eq!(fixture.dump().await, before);
}

#[tokio::test]
async fn a_repeat_is_known_also_after_other_puts() {
    let fixture = JackpotFixture::with(&json!({})).await;
    for (name, nonce, version) in [("a", "aa", 2), ("b", "bb", 3), ("c", "cc", 4)] {
        let drafted = draft(&fixture).await;
        assert_eq!(
            send(&fixture, &drafted, name, Wanted::Any, nonce)
                .await
                .expect("a reply"),
            Defined::Changed(version)
        );
    }
    let before = fixture.dump().await;
    let drafted = draft(&fixture).await;
    assert_eq!(
        send(&fixture, &drafted, "a", Wanted::Versions(vec![1]), "aa")
            .await
            .expect("a reply"),
        Defined::Changed(2)
    );
    assert_eq!(fixture.dump().await, before, "what was put later stays");
    for i in 0..40 {
        let (drafted, name) = (draft(&fixture).await, format!("n{i}"));
        send(&fixture, &drafted, &name, Wanted::Any, &format!("{i:02}ff"))
            .await
            .expect("a reply");
    }
    let key = &fixture.keys.state;
    let puts: String = fixture.raw(redis::cmd("HGET").arg(key).arg("puts")).await;
    assert_eq!(puts.matches(';').count(), 16, "the list does not grow: {puts}");
}

#[tokio::test]
async fn a_put_that_was_held_up_does_not_replace_a_later_one() {
    let fixture = JackpotFixture::with(&json!({})).await;
    let (held_up, later) = (draft(&fixture).await, draft(&fixture).await);
    assert_eq!(
        send(&fixture, &later, "later", Wanted::Any, "b")
            .await
            .expect("a reply"),
        Defined::Changed(2)
    );
    let before = fixture.dump().await;
    assert!(matches!(
        send(&fixture, &held_up, "held up", Wanted::Any, "a").await,
        Err(ScriptError::Stale)
    ));
    assert_eq!(fixture.dump().await, before);
}

#[tokio::test]
async fn a_jackpot_is_created_open_or_paused() {
    let fixture = JackpotFixture::with(&json!({})).await;
    for status in [Status::Closed, Status::Suspended] {
        let id = Id::parse(&crate::support::redis::TestRedis::id("c")).expect("an id");
        let definition = definition(document(id.as_str(), &json!({})));
        let put = fixture
            .operate
            .define(&id, &definition, Wanted::Any, status, &operator())
            .await;
        assert_eq!(rule_of(put), "status");
        let put = fixture
            .operate
            .define(&id, &definition, Wanted::Any, Status::Paused, &operator())
            .await;
        assert!(put.expect("done").created);
        assert_eq!(
            fixture.operate.views.snapshot(&id).await.expect("readable").status,
            Status::Paused
        );
    }
}

#[tokio::test]
async fn what_touches_no_money_applies_to_a_live_pool_and_what_does_waits() {
    let fixture = JackpotFixture::with(&json!({})).await;
    fixture.take("e", 0).await;
    put(&fixture, &json!({"name": "renamed", "max_stake": 5}), Wanted::Any)
        .await
        .expect("done");
    let snapshot = fixture.snapshot().await;
    assert_eq!((snapshot.version, snapshot.waiting), (2, None));
    put(&fixture, &json!({"contribution": {"fixed": 2}}), Wanted::Any)
        .await
        .expect("done");
    put(&fixture, &json!({"contribution": {"fixed": 3}}), Wanted::Any)
        .await
        .expect("done");
    let snapshot = fixture.snapshot().await;
    assert_eq!(
        (snapshot.version, snapshot.last_version),
        (2, 4),
        "the last PUT replaces the one that waited"
    );
    snapshot.waiting.expect("waits").says("\"fixed\":3");
    fixture.fund("f", 100).await;
    fixture.take("w", 1).await;
    assert_eq!(fixture.snapshot().await.version, 4);
    assert_eq!(fixture.take("next", 0).await.contributions[0].amount, 3);
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn a_share_or_a_fixed_prize_lets_nothing_in() {
    let fixture = JackpotFixture::with(&json!({})).await;
    fixture.fund("f", 1_000).await;
    put(&fixture, &json!({"contribution": {"fixed": 2}}), Wanted::Any)
        .await
        .expect("done");
    fixture.take("half", 2).await;
    fixture.take("seven", 3).await;
    assert_eq!(fixture.snapshot().await.version, 1);
    fixture.take("all", 1).await;
    assert_eq!(fixture.snapshot().await.version, 2);
}

#[tokio::test]
async fn putting_the_definition_in_force_again_takes_the_waiting_one_back() {
    let fixture = JackpotFixture::with(&json!({})).await;
    fixture.take("e", 0).await;
    put(&fixture, &json!({"contribution": {"fixed": 2}}), Wanted::Any)
        .await
        .expect("done");
    put(&fixture, &json!({}), Wanted::Any).await.expect("done");
    let snapshot = fixture.snapshot().await;
    assert_eq!((snapshot.waiting, snapshot.version), (None, 3));
    snapshot.definition.says("\"fixed\":1");
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn tiers_are_added_but_not_removed_and_the_currency_stays() {
    let fixture = JackpotFixture::with(&json!({})).await;
    let two = json!([tier("mini", 400_000, &json!({})), tier("grand", 600_000, &json!({}))]);
    put(&fixture, &json!({"currency": "EUR"}), Wanted::Any)
        .await
        .expect("no money has been there");
    put(&fixture, &json!({"currency": "EUR", "tiers": two}), Wanted::Any)
        .await
        .expect("done");
    fixture.take("e", 0).await;
    let meters = fixture.snapshot().await.meters;
    assert_eq!(
        meters.iter().map(|m| m.tier.to_string()).collect::<Vec<_>>(),
        ["mini", "grand"]
    );
    let before = fixture.dump().await;
    assert_eq!(
        rule_of(put(&fixture, &json!({"currency": "EUR"}), Wanted::Any).await),
        "tiers"
    );
    assert_eq!(
        rule_of(put(&fixture, &json!({"tiers": two}), Wanted::Any).await),
        "currency"
    );
    assert_eq!(fixture.dump().await, before);
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn a_tier_that_waits_is_empty_until_its_definition_is_in_force() {
    let fixture = JackpotFixture::with(&json!({})).await;
    fixture.fund("f", 200).await;
    let two = json!({"tiers": [tier("mini", 500_000, &json!({})), tier("grand", 500_000, &json!({}))]});
    put(&fixture, &two, Wanted::Any).await.expect("done");
    assert_eq!(fixture.snapshot().await.meters.len(), 1);
    fixture.take("w", 1).await;
    let record = fixture.take("e", 0).await;
    assert_eq!(record.contributions.len(), 2);
    fixture.take("e2", 0).await;
    let pools = fixture
        .snapshot()
        .await
        .meters
        .iter()
        .map(|m| m.pool)
        .collect::<Vec<_>>();
    assert_eq!(pools, [1, 1], "two entries of one unit, half each");
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn a_rotation_drops_many_definitions_in_steps() {
    let fixture = JackpotFixture::with(&json!({})).await;
    let keys = fixture.operate.views.registry.known(&fixture.id).keys.clone();
    fixture.take("e", 0).await;
    let mut many = redis::cmd("HSET");
    many.arg(&keys.definitions);
    for version in 2..9_000 {
        many.arg(version).arg("{}");
    }
    fixture.raw::<()>(&mut many).await;
    // As if so many definitions had been put: the next one is 9,000 and in force when the generation is opened.
    fixture
        .raw::<()>(&mut by_hand::set(&keys.state, "last_version", "8999"))
        .await;
    put(&fixture, &json!({"name": "nine thousand"}), Wanted::Any)
        .await
        .expect("done");
    let left = async || fixture.raw::<u64>(redis::cmd("HLEN").arg(&keys.definitions)).await;
    let mut counts = Vec::new();
    for i in 0..3 {
        fixture.take(&format!("e{i}"), 0).await;
        fixture.operate.views.refresh(&fixture.id).await.expect("readable");
        let rotated = fixture.operate.rotate_by_retention(&fixture.id, 0).await.expect("done");
        assert!(matches!(rotated, Some(Rotated::Opened(_))), "{rotated:?}");
        counts.push(left().await);
    }
    assert_eq!(counts, [9_000, 8_000, 7_000]);
}

#[tokio::test]
async fn a_rotation_that_finds_a_damaged_epoch_writes_nothing() {
    let fixture = JackpotFixture::with(&json!({})).await;
    fixture.take("e", 0).await;
    fixture
        .raw::<()>(redis::cmd("HDEL").arg(&fixture.keys.epochs).arg(1))
        .await;
    // The age of the generation would grow at a call that rotates nothing.
    fixture
        .raw::<()>(&mut by_hand::set(&fixture.keys.state, "gen_looked", "0"))
        .await;
    let before = fixture.state().await;
    let refused = fixture.operate.rotate_by_retention(&fixture.id, 0).await;
    let refused = refused.expect_err("its epoch is gone").to_string();
    refused.says("JP_DAMAGED epoch");
    assert_eq!(fixture.state().await, before);
}

#[tokio::test]
async fn a_cap_that_is_no_number_is_refused_and_is_not_read_as_none() {
    let fixture = JackpotFixture::with(&json!({})).await;
    let state = &fixture.keys.state;
    let tiers: String = fixture.field("tiers").await;
    let name = tiers.split(' ').next().expect("a tier");
    let damaged = by_hand::set(state, "tiers", &format!("{name} 0 many;"));
    let refused: redis::RedisResult<()> = damaged.query_async(&mut fixture.connection()).await;
    let refused = refused.expect_err("no number").to_string();
    refused.says("JP_ARGUMENT");
    assert_eq!(fixture.field::<String>("tiers").await, tiers);
}

#[tokio::test]
async fn definitions_are_kept_as_long_as_an_entry_is_remembered_under_them() {
    let fixture = JackpotFixture::with(&json!({})).await;
    let versions = async || {
        let key = &fixture.keys.definitions;
        let mut versions: Vec<u64> = fixture.raw(redis::cmd("HKEYS").arg(key)).await;
        versions.sort_unstable();
        versions
    };
    let rotate = async || {
        fixture.operate.views.refresh(&fixture.id).await.expect("readable");
        fixture.operate.rotate_by_retention(&fixture.id, 0).await.expect("done")
    };
    fixture.take("under-1", 0).await;
    put(&fixture, &json!({"name": "two"}), Wanted::Any).await.expect("done");
    fixture.take("under-2", 0).await;
    assert_eq!(rotate().await, Some(Rotated::Opened(2)));
    assert_eq!(versions().await, [1, 2]);
    put(&fixture, &json!({"name": "three"}), Wanted::Any)
        .await
        .expect("done");
    assert_eq!(rotate().await, Some(Rotated::Opened(3)));
    assert_eq!(
        versions().await,
        [2, 3],
        "the entries under 1 are forgotten, and so is it"
    );
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn the_puts_whose_repeats_are_known_follow_from_the_events_when_old_ones_leave() {
    let fixture = JackpotFixture::with(&json!({})).await;
    for n in 0..18 {
        fixture.define(&json!({"name": format!("version {n}")})).await;
        fixture.assert_rebuilds().await;
    }
    let keys = &fixture.keys;
    let puts: String = fixture.raw(redis::cmd("HGET").arg(&keys.state).arg("puts")).await;
    assert_eq!(puts.matches(';').count(), 16);
}
