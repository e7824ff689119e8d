//! Reversals of cancelled rounds on a real Redis, compared with what the events rebuild.

use jackpot::jackpot::error::PlayError;
use jackpot::jackpot::reverse::Round;
use jackpot::jackpot::scripts::{EnterEntry, lookup};
use jackpot::jackpot::view::Status;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::record::Sent;
use jackpot_core::jackpot::reversal::ReversalRecord;
use jackpot_core::mark::Mark;
use serde_json::json;

use crate::jackpot::fixture::{JackpotFixture, operator, sent, tier};

impl JackpotFixture {
    /// Reverses an entry as the API does.
    pub async fn reverse(&self, entry_id: &str, reversal_id: &str) -> Result<(bool, ReversalRecord), PlayError> {
        self.reverse_taken_at(entry_id, reversal_id, None).await
    }

    async fn reverse_taken_at(
        &self,
        entry_id: &str,
        reversal_id: &str,
        entered_ms: Option<i64>,
    ) -> Result<(bool, ReversalRecord), PlayError> {
        let found = lookup(&self.store, &self.keys, Mark::ZERO, entry_id).await;
        let found = found.expect("a reply").expect("it was taken");
        let record = found.record.expect("in the stream");
        let sent = found.sent.expect("in the stream");
        let round = Round {
            entry_id,
            sequence: record.sequence,
            entered_ms: entered_ms.or(found.at_ms).expect("in the stream"),
            stake: sent.stake,
            source: sent.source.as_ref(),
            version: record.version,
        };
        let reversal_id = Id::parse(reversal_id).expect("an id");
        self.operate
            .reverse(&self.id, &round, &reversal_id, "a test", &operator())
            .await
    }

    /// What the one tier gave back and what it did not hold, in millionths.
    async fn reversed(&self, entry_id: &str) -> (u64, u64) {
        let (now, record) = self
            .reverse(entry_id, &format!("r-{entry_id}"))
            .await
            .expect("reversed");
        assert!(now);
        let part = &record.tiers[0];
        (
            part.amount * 1_000_000 + part.amount_micro,
            part.uncovered * 1_000_000 + part.uncovered_micro,
        )
    }
}

#[tokio::test]
async fn all_entries_give_everything_back_to_the_millionth() {
    let fixture = JackpotFixture::with(&json!({
        "contribution": {"rate_ppm": 15_001},
        "tiers": [tier("mini", 333_333, &json!({"reserve_ppm": 250_000, "cap": 3})), tier("grand", 666_667, &json!({}))],
        "odds": {"total": 1, "ranks": []},
    }))
    .await;
    let ids = (0..40).map(|i| format!("e{i}")).collect::<Vec<_>>();
    for id in &ids {
        fixture.take(id, 0).await;
    }
    for id in ids.iter().rev() {
        assert_eq!(fixture.reversed(id).await.1, 0);
    }
    for meter in fixture.snapshot().await.meters {
        let held = (meter.pool, meter.reserve, meter.overflow, meter.remainder_micro);
        assert_eq!((held, meter.funded), ((0, 0, 0, 0), 0));
        assert_eq!(
            (meter.reversed, meter.reversed_micro),
            (meter.contributed, meter.contributed_micro)
        );
    }
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn the_pool_gives_first_then_the_overflow_and_the_reserve_its_own() {
    let fixture = JackpotFixture::with(&json!({
        "contribution": {"fixed": 10},
        "tiers": [tier("grand", 1_000_000, &json!({"reserve_ppm": 400_000, "cap": 10}))],
        "odds": {"total": 1, "ranks": []},
    }))
    .await;
    for id in ["a", "b", "c"] {
        fixture.take(id, 0).await;
    }
    fixture.status(Status::Closed).await;
    for (id, left) in [("a", (4, 8, 8)), ("b", (0, 4, 6)), ("c", (0, 0, 0))] {
        assert_eq!(fixture.reversed(id).await, (10_000_000, 0));
        assert_eq!(fixture.money().await, left, "{id}");
    }
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn what_a_take_of_all_won_is_funded_and_later_money_stays() {
    let fixture = JackpotFixture::with(&json!({
        "contribution": {"fixed": 10},
        "tiers": [tier("grand", 1_000_000, &json!({"reserve_ppm": 400_000}))],
    }))
    .await;
    for (id, rank) in [("before", 0), ("won", 1), ("after", 0)] {
        fixture.take(id, rank).await;
    }
    assert_eq!(fixture.reversed("before").await, (10_000_000, 6_000_000));
    assert_eq!(fixture.money().await, (6, 8, 0));
    assert_eq!(fixture.reversed("after").await, (10_000_000, 0));
    let meter = &fixture.snapshot().await.meters[0];
    assert_eq!((meter.pool, meter.reserve, meter.funded, meter.reversed), (0, 4, 6, 20));
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn where_an_earlier_version_made_the_last_take_no_later_money_is_given_back() {
    let fixture = JackpotFixture::with(&json!({
        "contribution": {"fixed": 10},
        "tiers": [tier("grand", 1_000_000, &json!({}))],
    }))
    .await;
    for (id, rank) in [("before", 0), ("won", 1), ("after", 0)] {
        fixture.take(id, rank).await;
    }
    let gone: u64 = fixture
        .raw(redis::cmd("HDEL").arg(&fixture.keys.state).arg("moved"))
        .await;
    assert_eq!(gone, 1);
    assert_eq!(fixture.reversed("before").await, (10_000_000, 10_000_000));
    assert_eq!(fixture.money().await.0, 10);
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn an_entry_is_reversed_once_and_in_its_time() {
    let fixture = JackpotFixture::with(&json!({"contribution": {"fixed": 3}})).await;
    fixture.take("a", 0).await;
    fixture.take("b", 0).await;
    let before = fixture.dump().await;
    let late = fixture.reverse_taken_at("a", "r1", Some(0)).await;
    assert!(
        matches!(late, Err(PlayError::TooLate { within_s: 300, .. })),
        "{late:?}"
    );
    assert_eq!(fixture.dump().await, before);
    let (now, done) = fixture.reverse("a", "r1").await.expect("reversed");
    assert!(now);
    let before = fixture.dump().await;
    let again = fixture.reverse_taken_at("a", "r1", Some(0)).await.expect("done before");
    assert_eq!(again, (false, done));
    let other = fixture.reverse("a", "r2").await;
    assert!(matches!(other, Err(PlayError::EntryReversed { .. })), "{other:?}");
    assert_eq!(fixture.dump().await, before);
    assert_eq!(fixture.money().await, (3, 0, 0));
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn an_entry_of_the_older_generation_is_reversed_too() {
    let fixture = JackpotFixture::with(&json!({"contribution": {"fixed": 3}})).await;
    fixture.take("a", 0).await;
    let rotated = fixture.operate.rotate_by_retention(&fixture.id, 0).await;
    assert!(rotated.expect("done").is_some());
    assert_eq!(fixture.reversed("a").await, (3_000_000, 0));
    assert!(!fixture.reverse("a", "r-a").await.expect("done before").0);
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn an_entry_gives_back_what_its_own_source_contributed() {
    let fixture = JackpotFixture::with(&json!({
        "contribution": {"rate_ppm": 15_001},
        "tiers": [tier("grand", 1_000_000, &json!({"reserve_ppm": 250_000}))],
        "odds": {"total": 1, "ranks": []},
        "sources": {"lobby": {}, "vip": {"contribution": {"rate_ppm": 30_003}}, "club": {"contribution": {"fixed": 7}}},
    }))
    .await;
    let sources = ["lobby", "vip", "club"];
    let entries = sources.map(|source| EnterEntry {
        entry_id: source.to_owned(),
        sent: Sent {
            source: Some(Id::parse(source).expect("an id")),
            ..sent("p", 1_001)
        },
        rank: 0,
    });
    fixture.enter(&entries).await;
    for (source, micro) in sources.into_iter().zip([1_001 * 15_001, 1_001 * 30_003, 7_000_000]) {
        assert_eq!(fixture.reversed(source).await, (micro, 0), "{source}");
    }
    let meter = &fixture.snapshot().await.meters[0];
    let held = (meter.pool, meter.reserve, meter.overflow, meter.remainder_micro);
    assert_eq!((held, meter.funded), ((0, 0, 0, 0), 0));
    fixture.assert_rebuilds().await;
}
