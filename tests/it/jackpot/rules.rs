//! `/rules`: what a player must be told, as the definition in force says it.

use reqwest::Response;
use reqwest::header::{CACHE_CONTROL, ETAG, IF_NONE_MATCH};

use crate::keys::http::support::key;
use crate::support::prelude::*;

/// One play of 50 with a contribution of 1.5 %, of which a quarter goes to the reserve.
fn definition(id: &str, change: &Value) -> Value {
    let mut definition = json!({"id": id, "name": "Spring wheel", "currency": "KRW", "contribution": {"rate_ppm": 15_000},
        "min_stake": 50, "max_stake": 50, "max_redraws": 2, "public_meter": true,
        "tiers": [{"tier": "grand", "share_ppm": 1_000_000, "min_payout": 100, "seed": 5, "reserve_ppm": 250_000,
                   "cap": 90_000, "must_hit_by": null}],
        "odds": {"total": 1_000_000, "ranks": [
            {"rank": 1, "weight": 3, "prize": {"pool": {"tier": "grand", "take": "all"}}},
            {"rank": 2, "weight": 500, "prize": {"fixed": {"tier": "grand", "amount": 10}}},
            {"rank": 3, "weight": 20, "prize": {"fixed": {"tier": "grand", "amount": 300}}}]}});
    for (field, value) in change.as_object().expect("an object") {
        definition[field] = value.clone();
    }
    definition
}

async fn put(service: &Service, id: &str, change: &Value) {
    service
        .put(&format!("/v1/jackpots/{id}"), definition(id, change))
        .await
        .done();
}

async fn stranger(service: &Service, id: &str) -> Response {
    let url = service.url(&format!("/v1/jackpots/{id}/rules"));
    http_client().get(url).send().await.expect("an answer")
}

#[tokio::test]
async fn the_rules_are_those_of_the_definition_in_numbers_and_sentences() {
    let service = Service::start().await;
    put(&service, "told", &json!({})).await;
    let answer = stranger(&service, "told").await;
    assert_eq!(answer.status(), StatusCode::OK);
    assert_eq!(answer.headers()[CACHE_CONTROL], "public, max-age=1");
    let rules: Value = answer.json().await.expect("JSON");
    let shown = service.get("/v1/jackpots/told").await.body;
    for field in ["name", "currency", "version", "contribution", "odds"] {
        assert_eq!(rules[field], shown[field], "{field}");
    }
    assert_eq!(rules["jackpot_id"], "told");
    let tier = json!({"tier": "grand", "seed": 5, "cap": 90_000, "min_payout": 100, "must_hit_by": null});
    assert_eq!(rules["tiers"], json!([tier]));
    assert_eq!(rules["expected_return_ppm"], json!({"pool": 11_250, "fixed": 220}));
    let sentence = |name: &str| rules[name].as_str().expect("a sentence").to_owned();
    sentence("simultaneous_wins").says("in the order that the service recorded");
    assert_eq!(
        sentence("redraws"),
        "A prize that can't be given is drawn again, up to 2 times."
    );
    let fairness = sentence("fairness");
    assert!(fairness.contains("/v1/jackpots/told/fairness") && fairness.contains("/j/told#check"));
    assert_eq!(rules.as_object().expect("an object").len(), 11);

    let page = http_client().get(service.url("/j/told")).send().await.expect("a page");
    let page = page.text().await.expect("text").replace("&#39;", "'");
    for name in ["simultaneous_wins", "redraws", "fairness"] {
        assert!(page.contains(&sentence(name)), "the page says the same: {name}");
    }
    for told in [
        "1.125 % goes to the pools",
        "Fixed amounts give 0.022 % of each stake back",
        "A game can cancel a round that won no prize within 300 seconds.",
    ] {
        page.says(told);
    }
}

#[tokio::test]
async fn the_rules_tell_that_some_games_draw_for_themselves_and_not_which() {
    let service = Service::start().await;
    let sources = json!({"lobby": {}, "slot-9": {"draw": "external", "keys": ["slot-9-key"]}});
    put(&service, "shared", &json!({"sources": sources, "reverse_within_s": 0})).await;
    let rules: Value = stranger(&service, "shared").await.json().await.expect("JSON");
    let fairness = rules["fairness"].as_str().expect("a sentence");
    assert!(fairness.ends_with("Those draws are not of this service: no seed explains them."));
    rules.to_string().hides("slot-9");
    let page = http_client()
        .get(service.url("/j/shared"))
        .send()
        .await
        .expect("a page");
    let page = page.text().await.expect("text");
    page.hides("A game can cancel a round");
}

#[tokio::test]
async fn the_rules_follow_the_definition_in_force() {
    let service = Service::start().await;
    put(&service, "told", &json!({"min_stake": 1, "max_stake": 1_000})).await;
    let rules: Value = stranger(&service, "told").await.json().await.expect("JSON");
    assert_has!(rules, {"version": 1, "expected_return_ppm": {"pool": 11_250, "fixed": null}});
    // The change touches the odds of a pool with money, so it waits for the next take of all.
    let entry = json!({"entry_id": "e1", "player_id": "p1", "stake": 100});
    service.post("/v1/jackpots/told/entries", entry).await.is(201);
    put(
        &service,
        "told",
        &json!({"odds": {"total": 10, "ranks": []}, "max_redraws": 0}),
    )
    .await;
    let waits = service.get("/v1/jackpots/told/rules").await.body;
    assert_has!(waits, {"version": 1, "odds": rules["odds"]});
    let pause = json!({"reason": "a test"});
    service.post("/v1/jackpots/told/pause", pause).await.is(200);
    put(
        &service,
        "told",
        &json!({"odds": {"total": 10, "ranks": []}, "max_redraws": 0}),
    )
    .await;
    let now: Value = stranger(&service, "told").await.json().await.expect("JSON");
    let version = &service.get("/v1/jackpots/told").await.body["version"];
    assert_eq!((&now["version"], &now["odds"]["ranks"]), (version, &json!([])));
    assert_eq!(now["expected_return_ppm"], json!({"pool": 11_250, "fixed": 0}));
    assert_eq!(
        now["redraws"],
        "A prize that can't be given is lost: there is no redraw."
    );
}

#[tokio::test]
async fn only_a_public_jackpot_tells_strangers_its_rules() {
    let service = Service::start().await;
    put(&service, "shown", &json!({})).await;
    put(&service, "hidden", &json!({"public_meter": false})).await;
    for id in ["hidden", "nothing"] {
        assert_eq!(stranger(&service, id).await.status(), StatusCode::UNAUTHORIZED, "{id}");
    }
    let kept = stranger(&service, "shown").await.headers()[ETAG].clone();
    let again = http_client().get(service.url("/v1/jackpots/shown/rules"));
    let again = again.header(IF_NONE_MATCH, kept).send().await.expect("an answer");
    assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
    let with_key = service.get("/v1/jackpots/hidden/rules").await;
    assert_eq!(
        (with_key.status, &with_key.headers[CACHE_CONTROL]),
        (StatusCode::OK, &"no-store".parse().expect("a value"))
    );
    service.get("/v1/jackpots/nothing/rules").await.is(404);
    let game = key(&service, "game", &["--role", "play"]).await;
    for (id, status) in [("shown", 200), ("hidden", 403)] {
        let path = format!("/v1/jackpots/{id}/rules");
        assert_eq!(game.ask(&reqwest::Method::GET, &path, None).await.0, status, "{id}");
    }
}

/// The rules say by when a pool must be hit, that such a play is not drawn, and where the trigger is checked.
#[tokio::test]
async fn the_rules_tell_by_when_a_pool_must_be_hit() {
    let service = Service::start().await;
    let rule = json!({"amount": {"low": 50_000, "high": 80_000}, "time": {"after_s": 3_600, "within_s": 86_400}});
    let tiers = |rule: &Value| json!([{"tier": "grand", "share_ppm": 1_000_000, "min_payout": 100, "cap": 90_000, "must_hit_by": rule}]);
    put(&service, "must", &json!({"tiers": tiers(&rule)})).await;
    let rules: Value = stranger(&service, "must").await.json().await.expect("JSON");
    assert_eq!(rules["tiers"][0]["must_hit_by"], rule);
    assert_eq!(rules["expected_return_ppm"], json!({"pool": 15_000, "fixed": 220}));
    let told = format!("{} {}", rules["simultaneous_wins"], rules["fairness"]);
    for part in [
        "Pool grand: It must be hit before it is above ₩80,000. A hidden amount above ₩50,000 and up to ₩80,000",
        "It must be hit within 1 day of its start, and not within the first 1 hour.",
        "Whichever of these is reached first counts.",
        "While it holds less than ₩100, it is not hit.",
        "A play that hits a pool by its rule is not drawn",
        "What is said of the return on average counts it as drawn.",
        "/v1/jackpots/must/fairness has a commitment from the start of each cycle",
    ] {
        told.says(part);
    }
    let daily = json!({"daily": {"at": "20:00", "zone": "Asia/Seoul"}});
    put(&service, "daily", &json!({"tiers": tiers(&daily)})).await;
    let page = http_client().get(service.url("/j/daily")).send().await.expect("a page");
    let page = page.text().await.expect("text");
    page.says("It must be hit each day before 20:00 (Asia/Seoul).");
    page.says("id=\"cycles\"");
    page.says("grand, cycle 0");
}
