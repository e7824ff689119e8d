//! Entries of a jackpot behind a room.

use std::path::Path;

use jackpot::room::pass;
use jackpot::signing::SigningKeys;

use super::support::{create, enter, jackpot, joined, leave, renew, said};
use crate::support::prelude::*;

fn refused(code: &str) -> (u16, String, bool) {
    (403, code.to_owned(), false)
}

const TAKEN: (u16, String, bool) = (201, String::new(), false);
const REPEATED: (u16, String, bool) = (200, String::new(), true);

#[tokio::test]
async fn only_the_pass_of_this_player_for_this_room_lets_play() {
    let service = Service::start().await;
    for room in ["door", "other"] {
        create(&service, room, 5, &json!({})).await;
    }
    jackpot(&service, "behind", &json!("door")).await.is(201);
    let ann = joined(&service, "door", "ann").await["pass"].clone();
    let bob = joined(&service, "door", "bob").await["pass"].clone();
    let elsewhere = joined(&service, "other", "ann").await["pass"].clone();
    let text = ann.as_str().expect("a pass");
    for (wrong, why) in [
        (Value::Null, "none"),
        (json!(""), "an empty one"),
        (json!("nonsense"), "no token"),
        (bob.clone(), "another player's"),
        (elsewhere, "another room's"),
        (json!(format!("{}AAA", &text[..text.len() - 3])), "another signature"),
        (json!(format!("{text}.")), "something behind it"),
    ] {
        let entered = enter(&service, "behind", "e1", "ann", &wrong).await;
        assert_eq!(entered, refused("pass-required"), "{why}");
    }
    // With two of them it would be unclear which counts.
    let twice = http_client()
        .post(service.url("/v1/jackpots/behind/entries"))
        .bearer_auth(service.operator_key())
        .header("X-Room-Pass", text)
        .header("X-Room-Pass", text)
        .json(&json!({"entry_id": "e1", "player_id": "ann", "stake": 1}))
        .send();
    let twice = twice.await.expect("an answer");
    assert_eq!(twice.status(), StatusCode::FORBIDDEN);
    assert_eq!(twice.json::<Value>().await.expect("JSON")["code"], "pass-required");
    assert_eq!(enter(&service, "behind", "e1", "ann", &ann).await, TAKEN);
    assert_eq!(enter(&service, "behind", "e2", "ann", &ann).await, TAKEN);
    assert_eq!(enter(&service, "behind", "e3", "bob", &bob).await, TAKEN);
    assert_eq!(service.get("/v1/jackpots/behind").await.body["room"], "door");
}

#[tokio::test]
async fn a_repeat_is_answered_whatever_its_pass() {
    let service = Service::start().await;
    create(&service, "door", 1, &json!({})).await;
    jackpot(&service, "behind", &json!("door")).await;
    let ticket = joined(&service, "door", "ann").await;
    assert_eq!(enter(&service, "behind", "e1", "ann", &ticket["pass"]).await, TAKEN);
    leave(&service, "door", &ticket).await;
    for pass in [&ticket["pass"], &Value::Null, &json!("nonsense")] {
        assert_eq!(enter(&service, "behind", "e1", "ann", pass).await, REPEATED, "{pass}");
    }
    let path = "/v1/jackpots/behind/pause";
    service.post(path, json!({"reason": "a test"})).await.is(200);
    assert_eq!(enter(&service, "behind", "e1", "ann", &Value::Null).await, REPEATED);
    // Only the parts that the client sent must be the same.
    service
        .post(
            "/v1/jackpots/behind/entries",
            json!({"entry_id": "e1", "player_id": "bob", "stake": 1}),
        )
        .await
        .refused(422, "entry-id-reused");
}

#[tokio::test]
async fn a_pass_is_over_when_its_user_leaves_or_its_session_ends() {
    let service = Service::start().await;
    create(&service, "door", 2, &json!({})).await;
    create(&service, "short", 1, &json!({"session_s": 1})).await;
    jackpot(&service, "behind", &json!("door")).await;
    jackpot(&service, "behind-short", &json!("short")).await;
    let (gone, stays) = (
        joined(&service, "door", "gone").await,
        joined(&service, "door", "stays").await,
    );
    let short = joined(&service, "short", "ann").await;
    leave(&service, "door", &gone).await;
    let mut tried = 0;
    eventually(PATIENCE, "the door knows that one left", async || {
        tried += 1;
        let entered = enter(&service, "behind", &format!("e{tried}"), "gone", &gone["pass"]).await;
        (entered == refused("pass-expired")).then_some(())
    })
    .await;
    assert_eq!(enter(&service, "behind", "s1", "stays", &stays["pass"]).await, TAKEN);
    eventually(PATIENCE, "a session comes to its end", async || {
        tried += 1;
        let entered = enter(&service, "behind-short", &format!("e{tried}"), "ann", &short["pass"]).await;
        (entered == refused("pass-expired")).then_some(())
    })
    .await;
    let back = joined(&service, "short", "ann").await;
    assert_ne!(back["ticket"], short["ticket"]);
    assert_eq!(
        enter(&service, "behind-short", "again", "ann", &back["pass"]).await,
        TAKEN
    );
}

#[tokio::test]
async fn a_renewed_pass_and_the_one_before_are_both_good() {
    let service = Service::start().await;
    create(&service, "door", 1, &json!({})).await;
    jackpot(&service, "behind", &json!("door")).await;
    let ticket = joined(&service, "door", "ann").await;
    let renewed = renew(&service, "door", &ticket).await.body;
    assert_eq!(enter(&service, "behind", "e1", "ann", &ticket["pass"]).await, TAKEN);
    assert_eq!(enter(&service, "behind", "e2", "ann", &renewed["pass"]).await, TAKEN);
}

#[tokio::test]
async fn a_room_may_be_put_in_front_and_taken_away_and_batches_stay_out() {
    let service = Service::start().await;
    create(&service, "door", 1, &json!({})).await;
    jackpot(&service, "open", &Value::Null).await;
    let batch = |id: &str| json!({"batch_id": id, "entries": [{"player_id": "ann", "stake": 1}]});
    let path = "/v1/jackpots/open/entry-batches";
    service.post(path, batch("before")).await.is(201);
    assert_eq!(enter(&service, "open", "e1", "ann", &Value::Null).await, TAKEN);
    let changed = jackpot(&service, "open", &json!("door")).await;
    assert_answer!(changed, 200, {"pending": null}, "it touches no money");
    assert_eq!(
        enter(&service, "open", "e2", "ann", &Value::Null).await,
        refused("pass-required")
    );
    assert_eq!(enter(&service, "open", "e1", "ann", &Value::Null).await, REPEATED);
    service.post(path, batch("behind")).await.refused(403, "pass-required");
    let again = service.post(path, batch("before")).await;
    again.is(200);
    assert!(again.is_replay());
    let pass = joined(&service, "door", "ann").await["pass"].clone();
    assert_eq!(enter(&service, "open", "e2", "ann", &pass).await, TAKEN);
    jackpot(&service, "open", &Value::Null).await;
    assert_eq!(enter(&service, "open", "e3", "ann", &Value::Null).await, TAKEN);
    service.post(path, batch("behind")).await.is(201);
}

#[tokio::test]
async fn a_room_that_is_not_there_is_in_front_of_no_jackpot() {
    let service = Service::start().await;
    for room in ["later", "a:b"] {
        let wrong = jackpot(&service, "wrong", &json!(room)).await;
        wrong.refused(422, "invalid-request");
        assert_eq!(wrong.body["errors"][0]["field"], "room");
    }
    create(&service, "later", 1, &json!({})).await;
    jackpot(&service, "wrong", &json!("later")).await.is(201);
}

#[tokio::test]
async fn a_room_that_comes_into_force_within_a_batch_keeps_it_out() {
    let service = Service::start().await;
    create(&service, "door", 1, &json!({})).await;
    // The second entry takes all, so that the waiting definition is in force from the third on.
    let odds = |total: u64| json!({"total": total, "ranks": [{"rank": 1, "weight": total, "prize": {"pool": {"tier": "grand", "take": "all"}}}]});
    let tier = json!([{"tier": "grand", "share_ppm": 1_000_000, "min_payout": 2}]);
    let definition = |odds: &Value, room: &Value| {
        crate::support::given::document("wins", &json!({"odds": odds, "tiers": tier, "room": room}))
    };
    let put = service
        .put("/v1/jackpots/wins", definition(&odds(1), &Value::Null))
        .await;
    put.is(201);
    assert_eq!(enter(&service, "wins", "e1", "ann", &Value::Null).await, TAKEN);
    let waits = service
        .put("/v1/jackpots/wins", definition(&odds(2), &json!("door")))
        .await;
    assert_eq!(
        (&waits.body["room"], &waits.body["pending"]["room"]),
        (&Value::Null, &json!("door"))
    );
    let batch = json!({"batch_id": "b", "entries": [{"player_id": "a", "stake": 1}, {"player_id": "b", "stake": 1}]});
    let refused = service.post("/v1/jackpots/wins/entry-batches", batch).await;
    refused.refused(403, "pass-required");
}

/// A pass that says the same as this one, signed by a key that this service does not have.
fn forged(pass: &Value, digits: &str) -> Value {
    let stranger = SigningKeys::load(&digits.repeat(32), Path::new("")).expect("a key");
    json!(pass::sign(&stranger.current(), pass::PASS, &said(pass).1))
}

/// An entry asks the door twice, the second time right after the keys were read for the first.
#[tokio::test]
async fn a_pass_of_an_unknown_key_is_refused_and_not_to_be_repeated() {
    let service = Service::start().await;
    create(&service, "door", 1, &json!({})).await;
    jackpot(&service, "behind", &json!("door")).await;
    let pass = joined(&service, "door", "ann").await["pass"].clone();
    for (number, digits) in [(1, "60"), (2, "60"), (3, "61"), (4, "62")] {
        let entered = enter(&service, "behind", &format!("e{number}"), "ann", &forged(&pass, digits)).await;
        assert_eq!(entered, refused("pass-required"), "{number}, key {digits}");
    }
    // Many unknown keys at once do not leave one another undecided.
    let many = (0x70..0x90).map(|digits| {
        let (service, pass) = (&service, &pass);
        async move {
            let digits = format!("{digits:02x}");
            enter(service, "behind", &format!("m{digits}"), "ann", &forged(pass, &digits)).await
        }
    });
    for entered in futures_util::future::join_all(many).await {
        assert_eq!(entered, refused("pass-required"));
    }
    assert_eq!(enter(&service, "behind", "good", "ann", &pass).await, TAKEN);
}

/// Plays of `ann` for several jackpots, with these values of `X-Room-Pass`: the status or the code of each item.
async fn played(service: &Service, entry: &str, jackpots: &[&str], passes: &[&str]) -> Vec<String> {
    let body = json!({"entry_id": entry, "player_id": "ann", "stake": 1, "currency": "KRW", "jackpots": jackpots});
    let request = http_client()
        .post(service.url("/v1/entries"))
        .bearer_auth(service.operator_key())
        .json(&body);
    let request = passes
        .iter()
        .fold(request, |request, pass| request.header("X-Room-Pass", *pass));
    let answer: Value = request.send().await.expect("an answer").json().await.expect("JSON");
    let Some(items) = answer["items"].as_array() else {
        return vec![answer["code"].to_string()];
    };
    let told = |item: &Value| {
        let code = item["problem"]["code"].as_str();
        code.map_or(item["status"].to_string(), str::to_owned)
    };
    items.iter().map(told).collect()
}

#[tokio::test]
async fn a_play_brings_a_pass_for_each_room_of_its_jackpots() {
    let service = Service::start().await;
    for room in ["door", "gate"] {
        create(&service, room, 5, &json!({})).await;
    }
    for (id, room) in [
        ("a", json!("door")),
        ("b", json!("gate")),
        ("c", json!("door")),
        ("d", Value::Null),
    ] {
        jackpot(&service, id, &room).await.is(201);
    }
    let text = |ticket: &Value| ticket["pass"].as_str().expect("a pass").to_owned();
    let (door, gate) = (
        joined(&service, "door", "ann").await,
        joined(&service, "gate", "ann").await,
    );
    let (door, gate) = (text(&door), text(&gate));
    let bob = text(&joined(&service, "gate", "bob").await);
    let all = ["a", "b", "c", "d"];
    let required = "pass-required";
    assert_eq!(
        played(&service, "none", &all, &[]).await,
        [required, required, required, "201"]
    );
    assert_eq!(
        played(&service, "one", &all, &[&door]).await,
        ["201", required, "201", "201"]
    );
    assert_eq!(
        played(&service, "bob", &all, &[&bob, &door]).await,
        ["201", required, "201", "201"]
    );
    assert_eq!(played(&service, "both", &all, &[&gate, &door]).await, ["201"; 4]);
    let joint = format!("{door}, {gate}");
    assert_eq!(
        played(&service, "joint", &all, &[&joint]).await,
        ["201"; 4],
        "as one header"
    );
    assert_eq!(
        played(&service, "rest", &all, &["nonsense", &bob, &gate, &door]).await,
        ["201"; 4]
    );
    assert_eq!(
        played(&service, "one", &all, &[&gate]).await,
        ["200", "201", "200", "200"],
        "completed"
    );
    assert_eq!(
        played(&service, "both", &all, &[]).await,
        ["200"; 4],
        "a repeat needs none"
    );
    assert_eq!(
        played(&service, "many", &all, &[door.as_str(); 17]).await,
        ["\"invalid-request\""]
    );
}

#[tokio::test]
async fn the_refusal_of_a_play_is_that_of_the_pass_that_came_nearest() {
    let service = Service::start().await;
    for room in ["door", "gate"] {
        create(&service, room, 5, &json!({})).await;
    }
    jackpot(&service, "a", &json!("door")).await;
    let gone = joined(&service, "door", "ann").await;
    let gate = joined(&service, "gate", "ann").await;
    let text = |ticket: &Value| ticket["pass"].as_str().expect("a pass").to_owned();
    leave(&service, "door", &gone).await;
    let mut tried = 0;
    eventually(PATIENCE, "the door knows that she left", async || {
        tried += 1;
        let passes = [&*text(&gone), "nonsense", &*text(&gate)];
        let found = played(&service, &format!("e{tried}"), &["a"], &passes).await;
        (found == ["pass-expired"]).then_some(())
    })
    .await;
}
