//! One play that feeds several jackpots: each item is exactly an entry of its jackpot.

use std::collections::BTreeSet;
use std::time::Instant;

use futures_util::future::join_all;

use crate::fault::frozen_node;
use crate::fault::support::{ANSWERED_WITHIN, balanced, create, enter, entry_drawing, lively, redrawing};
use crate::keys::http::support::key;
use crate::support::prelude::*;
use crate::support::proxy::ChaosProxy;

const PLAYS: &str = "/v1/entries";
/// What Redis reads of a connection in one turn (`PROTO_IOBUF_LEN`).
const REDIS_READS: usize = 16 * 1024;

fn body(entry_id: &str, jackpots: &[impl AsRef<str>]) -> Value {
    let jackpots: Vec<&str> = jackpots.iter().map(AsRef::as_ref).collect();
    json!({"entry_id": entry_id, "player_id": "p1", "stake": 100, "currency": "KRW", "client_seed": "mine", "jackpots": jackpots})
}

async fn play(service: &Service, body: &Value) -> Vec<Value> {
    let answer = service.post(PLAYS, body.clone()).await;
    answer.is(200);
    items(&answer, body)
}

/// The items, which are in the order of the jackpots.
fn items(answer: &Answer, body: &Value) -> Vec<Value> {
    assert_eq!(answer.body["entry_id"], body["entry_id"]);
    let items = answer.body["items"].as_array().expect("items").clone();
    let named: Vec<_> = items.iter().map(|item| &item["jackpot_id"]).collect();
    assert_eq!(
        named,
        body["jackpots"].as_array().expect("a list").iter().collect::<Vec<_>>()
    );
    for item in &items {
        let is_taken = item["status"] == 200 || item["status"] == 201;
        assert_eq!(item.get("entry").is_some(), is_taken, "{item}");
        assert_eq!(item.get("problem").is_some(), !is_taken, "{item}");
        assert!(is_taken || item["problem"]["status"] == item["status"], "{item}");
    }
    items
}

/// The statuses, with the code of a problem.
fn told(items: &[Value]) -> Vec<String> {
    let one = |item: &Value| match item["problem"]["code"].as_str() {
        Some(code) => format!("{} {code}", item["status"]),
        None => item["status"].to_string(),
    };
    items.iter().map(one).collect()
}

async fn contributed(service: &Service, jackpot: &str) -> Value {
    service.get(&format!("/v1/jackpots/{jackpot}")).await.body["meters"][0]["contributed"].clone()
}

async fn act(service: &Service, jackpot: &str, action: &str) {
    service
        .post(&format!("/v1/jackpots/{jackpot}/{action}"), json!({"reason": "a test"}))
        .await
        .is(200);
}

#[tokio::test]
async fn each_item_is_the_entry_of_its_jackpot_and_a_repeat_completes_the_play() {
    let service = Service::start().await;
    for id in ["mini", "network"] {
        create(&service, lively(id)).await;
    }
    let mut euro = lively("euro");
    euro["currency"] = json!("EUR");
    create(&service, euro).await;
    act(&service, "network", "pause").await;
    let play_body = body("round", &["network", "nothing", "mini", "euro"]);
    let first = play(&service, &play_body).await;
    let (missing, other) = ("404 jackpot-not-found", "422 currency-mismatch");
    assert_eq!(told(&first), ["409 jackpot-paused", missing, "201", other]);
    let detail = first[0]["problem"]["detail"].as_str().expect("text");
    assert!(detail.ends_with("a test"), "the operator's reason: {detail}");
    act(&service, "network", "resume").await;
    let second = play(&service, &play_body).await;
    assert_eq!(told(&second), ["201", missing, "200", other]);
    assert_eq!(second[2]["entry"], first[2]["entry"]);
    assert_eq!(told(&play(&service, &play_body).await), ["200", missing, "200", other]);
    for (jackpot, item) in [("network", &second[0]), ("mini", &second[2])] {
        let path = format!("/v1/jackpots/{jackpot}/entries");
        let alone = json!({"entry_id": "round", "player_id": "p1", "stake": 100, "client_seed": "mine"});
        let repeated = service.post(&path, alone).await;
        assert_eq!(repeated.is(200), &item["entry"]);
        assert_eq!(service.get(&format!("{path}/round")).await.body, item["entry"]);
        assert_eq!(contributed(&service, jackpot).await, 1);
    }
    // An entry that was taken alone is the same entry in a play, whatever the currency says.
    enter(&service, "euro", "alone").await.is(201);
    let mut alone = body("alone", &["euro", "mini"]);
    alone["client_seed"] = Value::Null;
    assert_eq!(told(&play(&service, &alone).await), ["200", "201"]);
    let mut reused = play_body.clone();
    reused["stake"] = json!(99);
    let reused = told(&play(&service, &reused).await);
    assert_eq!(reused, ["422 entry-id-reused", missing, "422 entry-id-reused", other]);
    assert_eq!(contributed(&service, "euro").await, 1);
}

#[tokio::test]
async fn a_wrong_play_takes_nothing() {
    let service = Service::start().await;
    create(&service, lively("mini")).await;
    let many: Vec<String> = (0..17).map(|number| format!("j{number}")).collect();
    let change = |field: &str, value: Value| {
        let mut body = body("wrong", &["mini"]);
        body[field] = value;
        body
    };
    for (wrong, field) in [
        (change("jackpots", json!([])), "jackpots"),
        (change("jackpots", json!(["mini", "mini"])), "jackpots"),
        (change("jackpots", json!(many)), "jackpots"),
        (change("jackpots", json!(["mini", "a:b"])), "jackpots[1]"),
        (change("jackpots", json!("mini")), "jackpots"),
        (change("currency", json!("krw")), "currency"),
        (change("stake", json!(-1)), "stake"),
        (change("entry_id", json!("b:1")), "entry_id"),
        (change("ranks", json!([1])), "ranks"),
    ] {
        service.post(PLAYS, wrong).await.invalid(field);
    }
    assert_eq!(contributed(&service, "mini").await, 0);
    // Bounds of a stake are those of each jackpot.
    let mut bounded = lively("bounded");
    bounded["max_stake"] = json!(99);
    create(&service, bounded).await;
    let bounds = play(&service, &body("e", &["bounded", "mini"])).await;
    assert_eq!(told(&bounds), ["422 invalid-request", "201"]);
    assert_eq!(bounds[0]["problem"]["errors"][0]["field"], "stake");
}

#[tokio::test]
async fn the_same_play_at_once_is_one_entry_of_each() {
    let service = Service::start().await;
    let jackpots: Vec<String> = (0..16).map(|number| format!("j{number}")).collect();
    for id in &jackpots {
        create(&service, lively(id)).await;
    }
    let burst = body("burst", &jackpots);
    let answers = join_all((0..16).map(|_| play(&service, &burst))).await;
    for (at, id) in jackpots.iter().enumerate() {
        let entries: BTreeSet<String> = answers.iter().map(|items| items[at]["entry"].to_string()).collect();
        assert_eq!(entries.len(), 1, "{id}: every answer shows the same entry");
        let new = answers.iter().filter(|items| items[at]["status"] == 201).count();
        assert_eq!(new, 1, "{id}: one of them took it");
        assert_eq!(contributed(&service, id).await, 1, "{id}");
    }
}

#[tokio::test]
async fn a_bound_key_plays_its_own_jackpots_and_needs_the_role() {
    let service = Service::start().await;
    for id in ["own", "other"] {
        create(&service, lively(id)).await;
    }
    let bound = ["--role", "play", "--only", "jackpot:own", "--only", "coupon:other"];
    let bound = key(&service, "bound", &bound).await;
    let play_body = body("e", &["other", "own", "nothing"]);
    let answer = bound
        .request(Method::POST, PLAYS)
        .json(&play_body)
        .send()
        .await
        .expect("an answer");
    assert_eq!(answer.status(), StatusCode::OK);
    let answer: Value = answer.json().await.expect("JSON");
    let items = answer["items"].as_array().expect("items");
    // A missing jackpot looks like another's.
    assert_eq!(told(items), ["403 wrong-subject", "201", "403 wrong-subject"]);
    assert_eq!(contributed(&service, "other").await, 0);
    let reader = key(&service, "reader", &["--role", "read"]).await;
    let refused = reader.ask(&Method::POST, PLAYS, Some(&play_body)).await;
    assert_eq!(refused, (403, "forbidden".to_owned()));
}

/// A play whose jackpots are on one Redis is one write of the connection: what Redis reads at once, it takes in one turn
/// of its loop, with one sync of its file.
#[tokio::test]
async fn the_entries_of_a_play_reach_their_redis_in_one_write() {
    let redis = own_redis(&[]).await;
    let proxy = ChaosProxy::in_front_of(redis.url()).await;
    let service = service_on(proxy.url(), &[]).await;
    let jackpots: Vec<String> = (0..16).map(|number| format!("j{number:02}")).collect();
    for (number, id) in jackpots.iter().enumerate() {
        // Entries that draw nothing go by another script.
        let definition = if number % 2 == 0 { lively } else { redrawing };
        create(&service, definition(id)).await;
    }
    // Whichever thread answers, its connection is open and its scripts are loaded.
    let warm: Vec<String> = (0..64).map(|number| format!("warm{number}")).collect();
    join_all(
        warm.iter()
            .map(|id| async { play(&service, &body(id, &jackpots)).await }),
    )
    .await;
    for count in [4, 16] {
        for round in 0..10 {
            let id = format!("round-{count}-{round}");
            proxy.count(&id);
            let items = play(&service, &body(&id, &jackpots[..count])).await;
            assert!(items.iter().all(|item| item["status"] == 201), "{items:?}");
            let reads = proxy.reads();
            assert_eq!(reads[0].commands, count, "one write has the entries of all: {reads:?}");
            assert!(reads[0].bytes <= REDIS_READS, "{reads:?}");
        }
    }
}

#[tokio::test]
async fn a_play_whose_replies_are_lost_is_one_entry_of_each() {
    let redis = own_redis(&[]).await;
    let proxy = ChaosProxy::in_front_of(redis.url()).await;
    let service = service_on(proxy.url(), &[]).await;
    for id in ["a", "b", "c"] {
        create(&service, redrawing(id)).await;
    }
    // The reply of the second is lost, and with it the connection: those of the others may be lost too.
    let id = entry_drawing(&service, "b", "lost", &[1, 2]).await;
    let mut play_body = body(&id, &["a", "b", "c"]);
    play_body["client_seed"] = Value::Null;
    proxy.lose_reply(&["FCALL", "jp:{b}", &id], 0);
    let first = play(&service, &play_body).await;
    assert_eq!(proxy.lost(), 1);
    assert!(first.iter().all(|item| item["entry"]["sequence"] == 1), "{first:?}");
    let again = play(&service, &play_body).await;
    assert_eq!(told(&again), ["200", "200", "200"]);
    for (one, other) in first.iter().zip(&again) {
        assert_eq!(one["entry"], other["entry"]);
    }
    for jackpot in ["a", "b", "c"] {
        assert_eq!(balanced(&service, jackpot).await["contributed"], 1, "{jackpot}");
    }
}

#[tokio::test]
async fn heavy_a_frozen_node_holds_up_no_other_jackpot_of_a_play() {
    let mut cluster = frozen_node::cluster().await;
    let service = frozen_node::service_on(&cluster).await;
    let state = |jackpot: &str| crate::fault::support::key(jackpot, "state");
    let frozen = cluster.node_of(&state("b")).await.url().to_owned();
    let (mut jackpots, mut up) = (Vec::new(), Vec::new());
    for jackpot in ["a", "b", "c", "d", "e", "f", "g", "h"] {
        create(&service, lively(jackpot)).await;
        enter(&service, jackpot, "before").await.is(201);
        jackpots.push(jackpot);
        up.push(cluster.node_of(&state(jackpot)).await.url() != frozen);
    }
    assert!(up.contains(&true) && up.contains(&false), "{up:?}");
    cluster.node_at(&frozen).freeze();
    let during = body("during", &jackpots);
    let began_at = Instant::now();
    let (items, ()) = tokio::join!(play(&service, &during), async {
        // The entries of the other nodes are taken while the play waits for the frozen one.
        for (jackpot, _) in jackpots.iter().zip(&up).filter(|(_, up)| **up) {
            let path = format!("/v1/jackpots/{jackpot}/entries/during");
            eventually(PATIENCE, "it is taken", async || {
                (service.get(&path).await.status == StatusCode::OK).then_some(())
            })
            .await;
        }
    });
    assert!(began_at.elapsed() < ANSWERED_WITHIN, "{:?}", began_at.elapsed());
    for (item, up) in items.iter().zip(&up) {
        let (status, code) = if *up {
            (201, Value::Null)
        } else {
            (503, json!("store-unavailable"))
        };
        assert_eq!(
            (&item["status"], &item["problem"]["code"]),
            (&json!(status), &code),
            "{item}"
        );
    }
    cluster.node_at(&frozen).thaw();
    eventually(PATIENCE, "a repeat completes the play", async || {
        let items = play(&service, &during).await;
        items.iter().all(|item| item.get("entry").is_some()).then_some(())
    })
    .await;
    for jackpot in jackpots {
        assert_eq!(
            balanced(&service, jackpot).await["contributed"],
            2,
            "{jackpot}: each id is one entry"
        );
    }
}
