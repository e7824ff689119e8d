//! Users who join before the opening get an order by chance, which anybody can check.

use jackpot::room::ticket::{OrderSeed, Ticket};
use jackpot_core::ids::Id;
use jackpot_core::secret::MasterSecret;
use sha2::{Digest, Sha256};
use sqlx::{Connection, SqliteConnection};

use super::support::{create, definition, joined, look};
use crate::support::prelude::*;

fn lines(text: &str) -> Vec<Value> {
    let one = |line: &str| serde_json::from_str(line).expect("JSON");
    text.lines().map(one).collect()
}

#[tokio::test]
async fn the_order_before_the_opening_is_the_committed_one() {
    let service = Service::start().await;
    create(&service, "launch", 0, &json!({"opens_at": "2999-01-01T00:00:00Z"})).await;
    let mut tickets = Vec::new();
    for user in 0..12 {
        tickets.push(joined(&service, "launch", &format!("early-{user}")).await);
    }
    assert!(tickets.iter().all(|ticket| ticket["status"] == "waiting"));
    let closed = service.get("/v1/rooms/launch").await.body;
    assert_has!(closed, {"seed": null, "opens_at": "2999-01-01T00:00:00.000Z"});
    let shown = service.get("/v1/rooms/launch/status").await.body;
    assert_has!(shown, {"status": "collecting", "seed": null, "sha256": null, "eta_s": null});
    assert_eq!(shown["commitment"], closed["commitment"]);
    service
        .get("/v1/rooms/launch/pre-queue")
        .await
        .refused(409, "room-not-open");
    // This opens the room now, and it stays open.
    service.put("/v1/rooms/launch", definition(0, &json!({}))).await.is(200);
    let later = definition(0, &json!({"opens_at": "2998-01-01T00:00:00Z"}));
    let refused = service.put("/v1/rooms/launch", later).await;
    refused.refused(422, "invalid-request");
    assert_eq!(refused.body["errors"][0]["field"], "opens_at");
    let late = joined(&service, "launch", "late").await;
    assert_eq!(late["position"], 13);

    let answer = eventually(PATIENCE, "the ledger has the opening", async || {
        let answer = service.get("/v1/rooms/launch/pre-queue").await;
        (answer.status == StatusCode::OK).then_some(answer)
    })
    .await;
    assert_eq!(answer.headers["content-type"], "application/x-ndjson");
    let list = lines(&answer.text);
    let (head, joins) = list.split_first().expect("a first line");
    assert_has!(head, {"kind": "room-pre-queue", "format": 2});
    assert_has!(head, {"joined": 12, "commitment": closed["commitment"]});
    assert_eq!((&head["nonce"], &shown["nonce"]), (&closed["nonce"], &closed["nonce"]));
    let seed = OrderSeed::from_hex(head["seed"].as_str().expect("a seed")).expect("32 bytes");
    let (room, nonce) = (
        Id::parse("launch").expect("an id"),
        head["nonce"].as_str().expect("a nonce"),
    );
    assert!(
        seed == OrderSeed::of(&MasterSecret::new([0x5f; 32]), &room, nonce),
        "of the secret"
    );
    assert_eq!(seed.commitment(), head["commitment"].as_str().expect("text"));
    let mut hash = Sha256::new();
    for (number, (join, ticket)) in (1_u64..).zip(joins.iter().zip(&tickets)) {
        assert_eq!(join, &json!({"join": number, "ticket": ticket["ticket"]}));
        hash.update(format!("{}\n", join["ticket"].as_str().expect("a ticket")));
    }
    assert_eq!(
        (joins.len(), head["sha256"].as_str()),
        (12, Some(&*hex::encode(hash.finalize())))
    );
    // They stand in the order that the seed gives them.
    let mut order = tickets.clone();
    order.sort_by_key(|ticket| {
        let ticket = Ticket::parse(ticket["ticket"].as_str().expect("text")).expect("a ticket");
        seed.order(ticket)
    });
    for (position, ticket) in (1_u64..).zip(&order) {
        assert_eq!(look(&service, "launch", ticket).await["position"], position);
    }
    let shown = service
        .until("/v1/rooms/launch/status", "everybody can read it", |shown| {
            shown["sha256"].is_string()
        })
        .await;
    assert_has!(shown, {"joined": head["joined"], "sha256": head["sha256"], "seed": head["seed"]});
}

/// A copy for tests has the secret and the names of the original.
#[tokio::test]
async fn a_copy_of_an_installation_shares_no_order() {
    let (original, copy) = (Service::start().await, Service::start().await);
    let mut shown = Vec::new();
    for service in [&original, &copy] {
        create(service, "launch", 1, &json!({"opens_at": "2999-01-01T00:00:00Z"})).await;
        let room = service.get("/v1/rooms/launch").await.body;
        let text = |field: &str| room[field].as_str().expect("text").to_owned();
        let (nonce, commitment) = (text("nonce"), text("commitment"));
        assert!(nonce.len() == 32 && nonce.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')));
        let id = Id::parse("launch").expect("an id");
        let seed = OrderSeed::of(&MasterSecret::new([0x5f; 32]), &id, &nonce);
        assert_eq!(seed.commitment(), commitment);
        shown.push((nonce, commitment));
    }
    assert!(shown[0].0 != shown[1].0 && shown[0].1 != shown[1].1, "{shown:?}");
}

#[tokio::test]
async fn each_new_opening_has_a_new_order_that_all_have_who_joined_before() {
    let service = Service::start().await;
    let opening = |at: &str, capacity| definition(capacity, &json!({"opens_at": at}));
    create(&service, "launch", 0, &json!({"opens_at": "2999-01-01T00:00:00Z"})).await;
    let mut tickets = Vec::new();
    for user in 0..8 {
        tickets.push(joined(&service, "launch", &format!("early-{user}")).await);
    }
    let put = async |body: Value| {
        let room = service.put("/v1/rooms/launch", body).await.body;
        (room["nonce"].clone(), room["commitment"].clone())
    };
    let first = put(opening("2999-01-01T00:00:00Z", 0)).await;
    assert_eq!(
        put(opening("2999-01-01T00:00:00Z", 1)).await,
        first,
        "it stays with its opening"
    );
    let moved = put(opening("2998-01-01T00:00:00Z", 1)).await;
    assert!(moved.0 != first.0 && moved.1 != first.1, "{moved:?}");
    assert_eq!(put(opening("2998-01-01T00:00:00Z", 0)).await, moved);
    // A user who joins meanwhile has a place in the same order.
    tickets.push(joined(&service, "launch", "meanwhile").await);
    let id = Id::parse("launch").expect("an id");
    let seed = OrderSeed::of(&MasterSecret::new([0x5f; 32]), &id, moved.0.as_str().expect("text"));
    let mut order = tickets.clone();
    order.sort_by_key(|ticket| {
        let ticket = Ticket::parse(ticket["ticket"].as_str().expect("text")).expect("a ticket");
        seed.order(ticket)
    });
    eventually(PATIENCE, "all stand in that order", async || {
        for (position, ticket) in (1_u64..).zip(&order) {
            if look(&service, "launch", ticket).await["position"] != position {
                return None;
            }
        }
        Some(())
    })
    .await;
    let opened = put(definition(0, &json!({}))).await;
    assert_eq!(opened, moved, "it opens in the order that it has");
    let list = eventually(PATIENCE, "the ledger has the opening", async || {
        let answer = service.get("/v1/rooms/launch/pre-queue").await;
        (answer.status == StatusCode::OK).then(|| lines(&answer.text))
    })
    .await;
    assert_has!(list[0], {"nonce": moved.0, "seed": seed.reveal()});
}

#[tokio::test]
async fn at_the_opening_the_first_are_let_in_and_the_list_is_published_though_nobody_asks() {
    let service = Service::start().await;
    let soon = jackpot_core::clock::rfc3339(jiff::Timestamp::now().as_millisecond() + 6_000);
    create(&service, "launch", 2, &json!({"opens_at": soon})).await;
    for user in 0..5 {
        joined(&service, "launch", &format!("early-{user}")).await;
    }
    let shown = service
        .until("/v1/rooms/launch/status", "it opens by itself", |shown| {
            shown["active"] == 2 && shown["joined"] == 5 && shown["seed"].is_string()
        })
        .await;
    assert_has!(shown, {"status": "open", "waiting": 3});
    assert!(shown["seed"].is_string() && shown["sha256"].is_string(), "{shown}");
}

/// Otherwise a restore could open the room again by a seed that is known.
#[tokio::test]
async fn the_seed_is_shown_once_the_ledger_has_the_opening() {
    let service = Service::start().await;
    create(&service, "launch", 0, &json!({"opens_at": "2999-01-01T00:00:00Z"})).await;
    joined(&service, "launch", "early").await;
    let file = service.data_dir().join("ledger.sqlite");
    let mut sql = SqliteConnection::connect(&format!("sqlite://{}", file.display()))
        .await
        .expect("the file can be opened");
    sqlx::query("BEGIN IMMEDIATE")
        .execute(&mut sql)
        .await
        .expect("nothing is written to it from now on");
    let opened = service.put("/v1/rooms/launch", definition(0, &json!({}))).await;
    assert_answer!(opened, 200, {"opens_at": null, "seed": null});
    // Its worker has published the list.
    let shown = service
        .until("/v1/rooms/launch/status", "the list has its hash", |shown| {
            shown["sha256"].is_string()
        })
        .await;
    assert_has!(shown, {"status": "open", "seed": null});
    assert_eq!(service.get("/v1/rooms/launch").await.body["seed"], Value::Null);
    service
        .get("/v1/rooms/launch/pre-queue")
        .await
        .refused(409, "room-not-open");
    sqlx::query("ROLLBACK").execute(&mut sql).await.expect("it goes on");
    service
        .until("/v1/rooms/launch", "the ledger has it", |shown| {
            shown["seed"].is_string()
        })
        .await;
    service.get("/v1/rooms/launch/pre-queue").await.is(200);
}

#[tokio::test]
async fn a_room_that_opened_at_once_has_no_list() {
    let service = Service::start().await;
    create(&service, "plain", 1, &json!({})).await;
    joined(&service, "plain", "a").await;
    service
        .get("/v1/rooms/plain/pre-queue")
        .await
        .refused(404, "pre-queue-not-found");
    service
        .get("/v1/rooms/none/pre-queue")
        .await
        .refused(404, "room-not-found");
}
