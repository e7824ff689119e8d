//! A key that is bound to subjects: it may name only these, on every route.

use std::collections::BTreeSet;

use super::support::{Asking, coupon, key, room};
use crate::fault::support::embedded_url;
use crate::support::given;
use crate::support::prelude::*;

/// Names jackpots in its body, and a bound key plays its own (`jackpot::several` tests that).
const PLAY: (&str, &str) = ("post", "/v1/entries");
/// Name a payout: a bound key gets 404 for one of another jackpot.
const OF_PAYOUTS: &str = "/v1/payouts/{payout_id}/";
/// Answers about several subjects: a bound key gets only its own.
const FILTERED: [&str; 11] = [
    "/readyz",
    "/v1/audit",
    "/v1/coupons",
    "/v1/emergency-stop",
    "/v1/entries",
    "/v1/jackpots",
    "/v1/payouts",
    "/v1/payouts/{payout_id}",
    "/v1/reconciliation",
    "/v1/reports/daily",
    "/v1/rooms",
];

async fn service() -> Service {
    let service = Service::start().await;
    for id in ["own", "other"] {
        let made = [
            service
                .put(&format!("/v1/jackpots/{id}"), given::document(id, &json!({})))
                .await,
            service.put(&format!("/v1/coupons/{id}"), coupon(5)).await,
            service.put(&format!("/v1/rooms/{id}"), room()).await,
        ];
        for answer in made {
            answer.is(201);
        }
    }
    service
}

const OWN: [&str; 6] = ["--only", "jackpot:own", "--only", "coupon:own", "--only", "room:own"];

/// The path of an operation on the subject `id`.
fn path_of(template: &str, id: &str) -> String {
    let mut path = template.replace("{id}", id);
    while let (Some(from), Some(to)) = (path.find('{'), path.find('}')) {
        let value = if &path[from..=to] == "{version}" { "1" } else { "none" };
        path.replace_range(from..=to, value);
    }
    path
}

async fn ask(key: &Asking, method: &str, path: &str) -> (u16, String) {
    let method = Method::from_bytes(method.to_uppercase().as_bytes()).expect("a method");
    let query = if path == "/v1/entries" { "?player_id=p1" } else { "" };
    key.ask(&method, &format!("{path}{query}"), None).await
}

#[tokio::test]
async fn every_route_is_of_an_own_subject_or_filtered_or_refused() {
    let service = service().await;
    let bound = key(&service, "bound", &[&["--role", "operate"][..], &OWN].concat()).await;
    let approves = key(&service, "approves", &[&["--role", "approve"][..], &OWN].concat()).await;
    let document = service.get("/openapi.json").await.body;
    let (mut walked, mut subjects) = (0, 0);
    for (template, item) in document["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("operations") {
            if !["get", "put", "post", "delete", "patch"].contains(&method.as_str()) {
                continue;
            }
            walked += 1;
            let needs_key = operation["security"].is_array();
            let of_subject = ["jackpots", "coupons", "rooms"]
                .iter()
                .any(|kind| template.starts_with(&format!("/v1/{kind}/{{id}}")));
            let is_approval = [
                "approve_payout",
                "approve_limit",
                "approve_adjustment",
                "approve_transfer",
            ]
            .iter()
            .any(|id| operation["operationId"] == *id);
            let bound = if is_approval { &approves } else { &bound };
            let other = ask(bound, method, &path_of(template, "other")).await;
            if of_subject && needs_key {
                subjects += 1;
                assert_eq!(
                    other,
                    (403, "wrong-subject".to_owned()),
                    "{method} {template} of another"
                );
                let own = ask(bound, method, &path_of(template, "own")).await;
                assert_ne!(own.1, "wrong-subject", "{method} {template} of its own");
                assert!(own.0 < 500, "{method} {template}: {own:?}");
            } else if (method == "get" && FILTERED.contains(&template.as_str()))
                || PLAY == (method.as_str(), template.as_str())
                || template.starts_with(OF_PAYOUTS)
            {
                assert_ne!(other.1, "wrong-subject", "{method} {template} is filtered");
            } else if needs_key {
                assert_eq!(
                    other,
                    (403, "wrong-subject".to_owned()),
                    "{method} {template} names no subject"
                );
            } else {
                assert_ne!(other.1, "wrong-subject", "{method} {template} needs no key");
            }
        }
    }
    assert!(walked > 50 && subjects > 30, "{subjects} of {walked}");
}

/// Fields of bodies that name a subject: schema, field, and how a bound key is refused.
const NAMING: [(&str, &str, Refused); 7] = [
    ("JackpotDefinition", "room", Refused::Body),
    ("JackpotDefinition", "coupon_id", Refused::Body),
    ("TransferBody", "to", Refused::Body),
    ("PlayBody", "jackpots", Refused::Item),
    ("SubscriptionDefinition", "subjects", Refused::Path),
    ("ReplayBody", "subject", Refused::Path),
    ("SkipBody", "subject", Refused::Path),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Refused {
    Body,
    /// `jackpot::several` tests it.
    Item,
    /// The walk over the routes tests it.
    Path,
}

/// Ids in bodies that are of no subject.
const OTHERS: [&str; 12] = [
    "adjustment_id",
    "batch_id",
    "entry_id",
    "id",
    "player_id",
    "redemption_id",
    "request_id",
    "reversal_id",
    "settlement_id",
    "source_id",
    "transfer_id",
    "user_id",
];

/// The names of all fields of a schema, however deep.
fn fields_of(document: &Value, schema: &Value, found: &mut BTreeSet<String>) {
    if let Some(name) = schema["$ref"].as_str() {
        let pointer = name.trim_start_matches('#');
        return fields_of(document, document.pointer(pointer).expect("a schema"), found);
    }
    for (name, of) in schema["properties"].as_object().into_iter().flatten() {
        found.insert(name.clone());
        fields_of(document, of, found);
    }
    for part in ["items", "additionalProperties"] {
        fields_of_part(document, &schema[part], found);
    }
    for part in ["oneOf", "anyOf", "allOf"] {
        for of in schema[part].as_array().into_iter().flatten() {
            fields_of(document, of, found);
        }
    }
}

fn fields_of_part(document: &Value, part: &Value, found: &mut BTreeSet<String>) {
    if part.is_object() {
        fields_of(document, part, found);
    }
}

#[tokio::test]
async fn every_field_that_may_name_a_subject_is_known() {
    let document: Value = serde_json::from_str(include_str!("../../../../docs/reference/openapi.json")).expect("JSON");
    let operations = document["paths"].as_object().expect("paths").values();
    let operations = operations.flat_map(|item| item.as_object().expect("operations").values());
    let bodies = operations
        .filter_map(|operation| operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].as_str());
    let mut naming = BTreeSet::new();
    for body in bodies {
        let mut fields = BTreeSet::new();
        fields_of(&document, &json!({"$ref": body}), &mut fields);
        let schema = body.rsplit('/').next().expect("a name");
        let is_word = |field: &str| {
            ["jackpot", "room", "subject", "to"]
                .iter()
                .any(|word| field.trim_end_matches('s') == *word)
        };
        let names = |field: &&String| field.ends_with("id") && !OTHERS.contains(&field.as_str()) || is_word(field);
        naming.extend(
            fields
                .iter()
                .filter(names)
                .map(|field| (schema.to_owned(), field.clone())),
        );
    }
    let known: BTreeSet<_> = NAMING
        .iter()
        .map(|(schema, field, _)| ((*schema).to_owned(), (*field).to_owned()))
        .collect();
    // A meter of the same jackpot, and a subject of NATS.
    for (schema, field) in [("AdjustmentBody", "to"), ("SubscriptionDefinition", "subject")] {
        naming.remove(&(schema.to_owned(), field.to_owned()));
    }
    assert_eq!(naming, known);
}

/// Another subject is refused in the same words whether it exists or not, and nothing is done.
#[tokio::test]
async fn a_body_names_own_subjects_alone_and_tells_nothing_of_others() {
    let service = service().await;
    let bound = key(&service, "bound", &[&["--role", "operate"][..], &OWN].concat()).await;
    let asked = |field: &str, id: &str| match field {
        "room" => (
            Method::PUT,
            "/v1/jackpots/own",
            given::document("own", &json!({"room": id})),
        ),
        "coupon_id" => {
            let odds = json!({"total": 1, "ranks": [given::rank(1, &json!({"coupon": {"coupon_id": id}}))]});
            (
                Method::PUT,
                "/v1/jackpots/own",
                given::document("own", &json!({"odds": odds})),
            )
        }
        "to" => {
            let body = json!({"transfer_id": "t", "to": id, "tiers": {"grand": "grand"}, "reason": "a test"});
            (Method::POST, "/v1/jackpots/own/transfers", body)
        }
        other => panic!("{other} is in no request of this test"),
    };
    for (_, field, _) in NAMING.iter().filter(|(.., refused)| *refused == Refused::Body) {
        let before = service.get("/v1/jackpots/own").await.body;
        for id in ["other", "missing"] {
            let (method, path, body) = asked(field, id);
            let refused = bound.ask(&method, path, Some(&body)).await;
            assert_eq!(refused, (403, "wrong-subject".to_owned()), "{field} {id}");
        }
        assert_eq!(service.get("/v1/jackpots/own").await.body, before, "{field}");
        let (method, path, body) = asked(field, "own");
        assert_ne!(bound.ask(&method, path, Some(&body)).await.0, 403, "{field} of its own");
        service
            .put("/v1/jackpots/own", given::document("own", &json!({})))
            .await
            .is(200);
        let (method, path, body) = asked(field, "other");
        let free = service.call(method, path, Some(body)).await.status;
        assert_ne!(free.as_u16(), 403, "{field}, with a key that is not bound");
    }
}

fn ids(page: &Value) -> Vec<&str> {
    let items = page["items"].as_array().expect("items");
    items
        .iter()
        .map(|item| item["id"].as_str().unwrap_or_default())
        .collect()
}

#[tokio::test]
async fn lists_have_full_pages_of_the_own_subjects() {
    let service = service().await;
    for id in ["a1", "a2", "z1"] {
        service
            .put(&format!("/v1/jackpots/{id}"), given::document(id, &json!({})))
            .await
            .is(201);
    }
    // Two subjects that do not exist, among existing ones: pages are full all the same.
    let own = [
        "--role",
        "read",
        "--only",
        "jackpot:a2",
        "--only",
        "jackpot:b",
        "--only",
        "jackpot:c",
        "--only",
        "jackpot:own",
        "--only",
        "jackpot:z1",
        "--only",
        "room:other",
    ];
    let bound = key(&service, "reads", &own).await;
    assert_eq!(ids(&bound.get("/v1/jackpots").await), ["a2", "own", "z1"]);
    let first = bound.get("/v1/jackpots?limit=2").await;
    assert_eq!((ids(&first), &first["next_cursor"]), (vec!["a2", "own"], &json!("own")));
    let last = bound.get("/v1/jackpots?limit=2&cursor=own").await;
    assert_eq!((ids(&last), &last["next_cursor"]), (vec!["z1"], &Value::Null));
    let exact = bound.get("/v1/jackpots?limit=3").await;
    assert_eq!((ids(&exact).len(), &exact["next_cursor"]), (3, &Value::Null));
    assert_eq!(
        bound.get("/v1/coupons").await,
        json!({"items": [], "next_cursor": null})
    );
    assert_eq!(bound.get("/v1/rooms").await["items"][0]["id"], "other");
    assert_eq!(bound.get("/v1/rooms").await["items"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn an_operator_of_one_jackpot_may_make_it_and_nothing_beside_it() {
    let service = service().await;
    let bound = key(&service, "maker", &["--role", "operate", "--only", "jackpot:new"]).await;
    let document = given::document("new", &json!({}));
    assert_eq!(
        bound.ask(&Method::PUT, "/v1/jackpots/new", Some(&document)).await.0,
        201
    );
    let document = given::document("newer", &json!({}));
    assert_eq!(
        bound.ask(&Method::PUT, "/v1/jackpots/newer", Some(&document)).await,
        (403, "wrong-subject".to_owned())
    );
    let entry = json!({"entry_id": "e1", "player_id": "p1", "stake": 1});
    assert_eq!(
        bound
            .ask(&Method::POST, "/v1/jackpots/new/entries", Some(&entry))
            .await
            .0,
        201
    );
    assert_eq!(
        bound.ask(&Method::GET, "/v1/coupons/other", None).await,
        (403, "wrong-subject".to_owned())
    );
    // A bound key is limited also where no key is needed: a leaked key opens only its own subjects.
    assert_eq!(
        bound.ask(&Method::GET, "/v1/jackpots/own/meter", None).await,
        (403, "wrong-subject".to_owned())
    );
    assert_eq!(
        bound.ask(&Method::GET, "/v1/jackpots/own/fairness", None).await.0,
        200,
        "it asks for no key"
    );
}

#[tokio::test]
async fn a_bound_key_sees_of_what_is_refused_its_own() {
    let service = service().await;
    let mut redis = redis::Client::open(embedded_url(&service))
        .expect("a client")
        .get_connection()
        .expect("a connection");
    for id in ["own", "other"] {
        let keys: Vec<String> = redis::cmd("KEYS")
            .arg(format!("*{{{id}}}*"))
            .query(&mut redis)
            .expect("keys");
        redis::cmd("DEL").arg(keys).exec(&mut redis).expect("deleted");
        // A request for the subject makes the service notice.
        for kind in ["jackpots", "coupons", "rooms"] {
            service.get(&format!("/v1/{kind}/{id}")).await;
        }
    }
    let bound = key(
        &service,
        "sees",
        &["--role", "read", "--only", "jackpot:own", "--only", "room:own"],
    )
    .await;
    let told = bound.get("/readyz").await;
    let named = |of: &Value| -> Vec<String> {
        let all = of["refused_subjects"].as_array().expect("named").iter();
        let mut names: Vec<_> = all
            .map(|one| format!("{}:{}", one["kind"], one["id"]).replace('"', ""))
            .collect();
        names.sort();
        names
    };
    assert!(named(&service.get("/readyz").await.body).contains(&"jackpot:other".to_owned()));
    assert_eq!(named(&told), ["jackpot:own", "room:own"]);
}
