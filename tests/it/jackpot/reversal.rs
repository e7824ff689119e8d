//! Reversals of cancelled rounds on a real Redis, compared with what the events rebuild; in an export; and over HTTP.

use jackpot::jackpot::error::PlayError;
use jackpot::jackpot::reverse::{ReversalWish, Round};
use jackpot::jackpot::scripts::{Adjust, EnterEntry, lookup};
use jackpot::proof::verify::Place;
use jackpot_api::jackpot::Status;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::record::{Sent, State};
use jackpot_core::jackpot::reversal::ReversalRecord;
use jackpot_core::mark::Mark;
use jackpot_core::money::{MAX_MINOR, Minor};

use crate::jackpot::fixture::{JackpotFixture, document, entry, funding, operator, rank, sent, tier};
use crate::keys::http::support::key;
use crate::proof::story::export;
use crate::support::prelude::*;

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
            sequence: record.sequence,
            entered_ms: entered_ms.or(found.at_ms).expect("in the stream"),
            stake: sent.stake,
            source: sent.source,
            version: record.version,
            state: record.state,
        };
        self.reverse_round(entry_id, reversal_id, round).await
    }

    pub async fn reverse_round(
        &self,
        entry_id: &str,
        reversal_id: &str,
        round: Round,
    ) -> Result<(bool, ReversalRecord), PlayError> {
        let wish = ReversalWish {
            entry_id,
            reversal_id: &Id::parse(reversal_id).expect("an id"),
            reason: "a test",
            by: &operator(),
            operates: true,
        };
        self.operate
            .reverse(&self.id, &wish, async || Ok(Some(round.clone())))
            .await
    }

    /// Reverses an entry with what the caller states of it. The script believes its caller.
    async fn reverse_stated(&self, entry_id: &str, sequence: u64, stake: Minor, source: Option<&Id>) {
        let round = Round {
            sequence,
            // In the future, so that it is never too late.
            entered_ms: 1 << 52,
            stake,
            source: source.cloned(),
            version: 1,
            state: State::Lost,
        };
        let done = self.reverse_round(entry_id, &format!("r-{entry_id}"), round).await;
        assert!(done.expect("reversed").0);
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

/// An entry gave 2.3 of the 3.5, and 2 were taken out: of the 2.3 the tier holds 1.5.
#[tokio::test]
async fn what_a_tier_holds_no_more_is_funded_to_the_millionth() {
    let fixture = JackpotFixture::with(&json!({
        "contribution": {"rate_ppm": 10_000},
        "tiers": [tier("grand", 1_000_000, &json!({}))],
    }))
    .await;
    let entries = [("a", 230), ("b", 120)].map(|(id, stake)| EnterEntry {
        sent: sent("p", stake),
        ..entry(id, 0)
    });
    fixture.enter(&entries).await;
    let taking = Adjust {
        from: Some("pool"),
        to: None,
        ..funding("t", 2)
    };
    fixture.operate.adjust(&fixture.id, &taking).await.expect("done");
    assert_eq!(fixture.reversed("a").await, (2_300_000, 800_000));
    let meter = &fixture.snapshot().await.meters[0];
    assert_eq!((meter.pool, meter.remainder_micro), (0, 0));
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

/// What a take of all won counts as funded when its entries are reversed, and no meter holds more than 2^53 - 1.
#[tokio::test]
async fn a_reversal_that_no_meter_could_hold_changes_nothing() {
    let fixture = JackpotFixture::with(&json!({
        "contribution": {"fixed": 10},
        "tiers": [tier("grand", 1_000_000, &json!({}))],
    }))
    .await;
    for (id, rank) in [("before", 0), ("won", 1)] {
        fixture.take(id, rank).await;
    }
    fixture.fund("f", MAX_MINOR - 29).await;
    let before = fixture.dump().await;
    let refused = fixture.reverse("before", "r1").await;
    assert!(matches!(refused, Err(PlayError::AmountTooLarge)), "{refused:?}");
    assert_eq!(fixture.dump().await, before);
    let taking = Adjust {
        from: Some("pool"),
        to: None,
        ..funding("t", 1)
    };
    fixture.operate.adjust(&fixture.id, &taking).await.expect("done");
    assert_eq!(fixture.reversed("before").await, (10_000_000, 10_000_000));
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

/// The record of a reversal may be in the newer generation when the one of its entry is dropped.
#[tokio::test]
async fn an_id_that_is_used_again_is_another_entry_and_is_reversed_for_itself() {
    let fixture = JackpotFixture::with(&json!({"contribution": {"fixed": 3}})).await;
    let drop_older = async || {
        let rotated = fixture.operate.rotate_by_retention(&fixture.id, 0).await;
        assert!(rotated.expect("done").is_some());
    };
    fixture.take("a", 0).await;
    drop_older().await;
    assert_eq!(fixture.reversed("a").await, (3_000_000, 0));
    drop_older().await;
    let gone = lookup(&fixture.store, &fixture.keys, Mark::ZERO, "a").await;
    assert!(gone.expect("a reply").is_none(), "its record is dropped");

    assert_eq!(fixture.take("a", 0).await.sequence, 2);
    let found = lookup(&fixture.store, &fixture.keys, Mark::ZERO, "a").await;
    assert!(found.expect("a reply").expect("it was taken").reversal.is_none());
    assert_eq!(fixture.money().await, (3, 0, 0));
    assert_eq!(
        fixture.reversed("a").await,
        (3_000_000, 0),
        "with the id of the other reversal"
    );
    assert_eq!(fixture.money().await, (0, 0, 0));
    assert!(!fixture.reverse("a", "r-a").await.expect("done before").0);
    fixture.assert_rebuilds().await;
    let report = export(&fixture).await.verify();
    assert!(report.is_right(), "{report}");
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

/// The amounts of each reversal follow from what it states, so only the events of the entries can tell.
#[tokio::test]
async fn an_export_names_each_reversal_that_states_another_entry_than_was_taken() {
    let fixture = JackpotFixture::with(&json!({
        "contribution": {"rate_ppm": 15_001},
        "tiers": [tier("grand", 1_000_000, &json!({"reserve_ppm": 250_000, "min_payout": 1_000_000}))],
        "sources": {"lobby": {}, "club": {"contribution": {"fixed": 7}}},
    }))
    .await;
    let from = |source: &str| Some(Id::parse(source).expect("an id"));
    let entry = |id: &str, rank| EnterEntry {
        entry_id: id.to_owned(),
        sent: Sent {
            source: from("lobby"),
            ..sent("p", 1_001)
        },
        rank,
    };
    let names = ["true", "stake", "source", "no-source", "sequence"];
    let mut entries = names.map(|name| entry(name, 0)).to_vec();
    // Rank 1 wants a larger pool; rank 3 pays.
    entries.extend([entry("pending", 1), entry("won", 3)]);
    fixture.enter(&entries).await;
    let (stake, lobby, club) = (Minor::try_from(1_001).expect("in range"), from("lobby"), from("club"));
    let larger = Minor::try_from(2_000).expect("in range");
    for (entry_id, sequence, stake, source) in [
        ("true", 1, stake, &lobby),
        ("stake", 2, larger, &lobby),
        ("source", 3, stake, &club),
        ("no-source", 4, stake, &None),
        ("sequence", 9, stake, &lobby),
        ("pending", 6, stake, &lobby),
        ("won", 7, stake, &lobby),
        ("absent", 10, stake, &lobby),
    ] {
        fixture.reverse_stated(entry_id, sequence, stake, source.as_ref()).await;
    }
    let story = export(&fixture).await;
    let report = story.verify();
    let expected = [
        (
            "stake",
            "was not taken as it states: sequence 2, definition 1, stake 2000, source 'lobby'",
        ),
        (
            "source",
            "was not taken as it states: sequence 3, definition 1, stake 1001, source 'club'",
        ),
        (
            "no-source",
            "was not taken as it states: sequence 4, definition 1, stake 1001, no source",
        ),
        (
            "sequence",
            "was not taken as it states: sequence 9, definition 1, stake 1001, source 'lobby'",
        ),
        ("pending", "is pending"),
        ("won", "has a prize"),
        ("absent", "is none that is remembered"),
    ];
    assert_eq!(report.problems.len(), expected.len(), "{report}");
    for ((entry_id, what), problem) in expected.into_iter().zip(&report.problems) {
        let n = story.find(|body| body.contains(&format!("\"reversal\":\"r-{entry_id}\"")));
        assert_eq!(problem.place, Place::Event(n), "{report}");
        let entry = format!("entry '{entry_id}'");
        assert!(problem.what.contains(&entry) && problem.what.contains(what), "{report}");
    }
}

/// A jackpot whose every entry gives `rank`: 0 draws nothing.
async fn create(service: &Service, id: &str, always: u32, change: &Value) {
    let ranks = match always {
        0 => json!([]),
        _ => json!([rank(always, &json!({"fixed": {"tier": "grand", "amount": 1}}))]),
    };
    let mut definition = document(
        id,
        &json!({"contribution": {"fixed": 3}, "odds": {"total": 1, "ranks": ranks}}),
    );
    for (field, value) in change.as_object().expect("an object") {
        definition[field] = value.clone();
    }
    service.put(&format!("/v1/jackpots/{id}"), definition).await.done();
}

async fn cancel(service: &Service, jackpot: &str, entry: &str, reversal: &str) -> Answer {
    let path = format!("/v1/jackpots/{jackpot}/entries/{entry}/reverse");
    service
        .post(&path, json!({"reversal_id": reversal, "reason": "round cancelled"}))
        .await
}

async fn meters(service: &Service, jackpot: &str) -> Value {
    service.get(&format!("/v1/jackpots/{jackpot}")).await.body["meters"].clone()
}

fn code(answer: &Answer) -> (u16, &str) {
    (answer.status.as_u16(), answer.body["code"].as_str().unwrap_or_default())
}

#[tokio::test]
async fn over_http_a_round_is_cancelled_once_and_its_entry_answers_as_at_first() {
    let service = Service::start().await;
    create(&service, "plain", 0, &json!({})).await;
    let wish = json!({"entry_id": "e1", "player_id": "p1", "stake": 100});
    let entered = service.post("/v1/jackpots/plain/entries", wish.clone()).await;
    entered.is(201);
    let batch =
        json!({"batch_id": "b", "entries": [{"player_id": "p1", "stake": 100}, {"player_id": "p2", "stake": 100}]});
    service.post("/v1/jackpots/plain/entry-batches", batch).await.is(201);

    let done = cancel(&service, "plain", "e1", "r1").await;
    done.is(201);
    let part = json!({"tier": "grand", "amount": 3, "amount_micro": 0, "uncovered": 0, "uncovered_micro": 0});
    let body = json!({"reversal_id": "r1", "entry_id": "e1", "reversed": [part]});
    assert_eq!(done.body, body);
    let again = cancel(&service, "plain", "e1", "r1").await;
    assert_eq!(again.is(200), &body);
    assert_eq!(again.headers["Idempotency-Replayed"], "true");
    cancel(&service, "plain", "e1", "r2")
        .await
        .refused(409, "entry-reversed");
    cancel(&service, "plain", "b:2", "r3").await.is(201);

    let repeated = service.post("/v1/jackpots/plain/entries", wish).await;
    assert_eq!(repeated.is(200), &entered.body);
    let mut shown = service.get("/v1/jackpots/plain/entries/e1").await.body;
    let reversed = shown
        .as_object_mut()
        .expect("an object")
        .remove("reversed")
        .expect("reversed");
    assert_eq!(shown, entered.body);
    assert_eq!(reversed["reversal_id"], "r1");
    assert!(reversed["at"].as_str().expect("a time").ends_with('Z'));
    let kept = service.get("/v1/jackpots/plain/entries/b:1").await.body;
    assert!(kept.get("reversed").is_none());
    let meter = &service.get("/v1/jackpots/plain").await.body["meters"][0];
    let held = ["pool", "contributed", "reversed", "funded"].map(|name| meter[name].clone());
    assert_eq!(held, [json!(3), json!(9), json!(6), json!(0)]);
}

#[tokio::test]
async fn over_http_each_refusal_of_a_reversal_has_its_code_and_moves_nothing() {
    let service = Service::start().await;
    create(&service, "wins", 1, &json!({})).await;
    create(&service, "short", 0, &json!({"reverse_within_s": 0})).await;
    let game = key(&service, "game", &["--role", "play"]).await;
    let auditor = key(&service, "auditor", &["--role", "read"]).await;
    for jackpot in ["wins", "short"] {
        let wish = json!({"entry_id": "e1", "player_id": "p1", "stake": 100});
        service
            .post(&format!("/v1/jackpots/{jackpot}/entries"), wish)
            .await
            .is(201);
    }
    let before = [meters(&service, "wins").await, meters(&service, "short").await];
    for (jackpot, entry, reversal, refused) in [
        ("wins", "e1", "r1", (409, "entry-has-prize")),
        ("short", "e1", "r1", (409, "too-late")),
        ("short", "e2", "r2", (404, "entry-not-found")),
        ("short", "e1", "r2", (422, "reversal-id-reused")),
        ("none", "e1", "r1", (404, "jackpot-not-found")),
    ] {
        let answer = cancel(&service, jackpot, entry, reversal).await;
        assert_eq!(code(&answer), refused, "{}", answer.text);
    }
    let path = "/v1/jackpots/short/entries/e1/reverse";
    for body in [
        json!({"reversal_id": "r1"}),
        json!({"reversal_id": "a b", "reason": "x"}),
    ] {
        service.post(path, body).await.refused(422, "invalid-request");
    }
    let body = json!({"reversal_id": "r1", "reason": "round cancelled"});
    let post = reqwest::Method::POST;
    assert_eq!(auditor.ask(&post, path, Some(&body)).await.0, 403);
    // A key that plays may ask too: it gets the same refusal as the operator.
    let (status, text) = game.ask(&post, path, Some(&body)).await;
    assert!(status == 409 && text.contains("too-late"), "{status} {text}");
    assert_eq!(
        [meters(&service, "wins").await, meters(&service, "short").await],
        before
    );
}
