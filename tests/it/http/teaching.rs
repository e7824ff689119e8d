//! Refusals teach: every wrong field of every body is named, with what to send instead. The bodies come from the
//! description: each puts something else into one field of an example.

use crate::keys::http::support::key;
use crate::support::prelude::*;

/// Words of the parser, which mean nothing to a client.
const RAW: [&str; 9] = [
    "invalid type",
    "invalid value",
    "invalid length",
    "unknown variant",
    "missing field",
    "unknown field",
    "duplicate field",
    "did not match",
    "expected",
];

/// A change of a body and the field that it makes wrong.
struct Wrong {
    at: Vec<String>,
    change: Change,
    field: String,
}

#[derive(Clone)]
enum Change {
    To(Value),
    Remove,
}

fn pointer(at: &[String]) -> String {
    at.iter().map(|step| format!("/{step}")).collect::<Vec<_>>().concat()
}

fn apply(body: &mut Value, wrong: &Wrong) {
    let (last, before) = wrong.at.split_last().expect("a field");
    let parent = body.pointer_mut(&pointer(before)).expect("its parent");
    match &wrong.change {
        Change::To(value) => match parent {
            Value::Array(items) => items[last.parse::<usize>().expect("a place")] = value.clone(),
            _ => parent[last.as_str()] = value.clone(),
        },
        Change::Remove => {
            parent.as_object_mut().expect("an object").remove(last);
        }
    }
}

fn resolved<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    match schema["$ref"].as_str() {
        Some(reference) => document.pointer(&reference[1..]).expect("a schema"),
        None => schema,
    }
}

/// Values that are wrong for this schema: of another type, or beyond its bounds.
fn wrong_values(schema: &Value) -> Vec<Value> {
    let of =
        |kind: &str| schema["type"] == kind || schema["type"].as_array().is_some_and(|all| all.contains(&json!(kind)));
    let mut values = Vec::new();
    if of("integer") {
        values.extend([json!("x"), json!(1.5)]);
        let beyond = |key: &str, step: i128| {
            let bound = schema[key].as_i64()?;
            i64::try_from(i128::from(bound) + step).ok()
        };
        values.extend(beyond("maximum", 1).map(Value::from));
        values.extend(beyond("minimum", -1).map(Value::from));
    } else if of("string") {
        values.push(json!(7));
        if schema["pattern"].is_string() || schema["enum"].is_array() || schema["format"].is_string() {
            values.push(json!("\u{1}"));
        }
    } else {
        values.push(json!(7.5));
    }
    values
}

/// Each way in which one field of the body can be wrong.
fn walk(document: &Value, schema: &Value, value: &Value, at: &[String], field: &str, found: &mut Vec<Wrong>) {
    let schema = resolved(document, schema);
    if !at.is_empty() {
        for wrong in wrong_values(schema) {
            found.push(Wrong {
                at: at.to_vec(),
                change: Change::To(wrong),
                field: field.to_owned(),
            });
        }
    }
    let inner = |step: &str| [at, &[step.to_owned()]].concat();
    for variant in schema["oneOf"].as_array().into_iter().flatten() {
        let variant = resolved(document, variant);
        let fits = variant["required"][0]
            .as_str()
            .is_some_and(|name| value.get(name).is_some());
        if fits {
            for (name, property) in variant["properties"].as_object().into_iter().flatten() {
                walk(
                    document,
                    property,
                    &value[name],
                    &inner(name),
                    &format!("{field}.{name}"),
                    found,
                );
            }
        }
    }
    if let Some(properties) = schema["properties"].as_object() {
        let named = |name: &str| {
            if field.is_empty() {
                name.to_owned()
            } else {
                format!("{field}.{name}")
            }
        };
        found.push(Wrong {
            at: inner("colour"),
            change: Change::To(json!("red")),
            field: named("colour"),
        });
        for (name, property) in properties {
            let required = schema["required"]
                .as_array()
                .is_some_and(|all| all.contains(&json!(name)));
            if required {
                found.push(Wrong {
                    at: inner(name),
                    change: Change::Remove,
                    field: named(name),
                });
            }
            if let Some(value) = value.get(name) {
                walk(document, property, value, &inner(name), &named(name), found);
            }
        }
    }
    for (place, item) in value.as_array().into_iter().flatten().enumerate() {
        walk(
            document,
            &schema["items"],
            item,
            &inner(&place.to_string()),
            &format!("{field}[{place}]"),
            found,
        );
    }
}

/// Operations that take JSON: method, path with ids, schema and examples of the body.
fn operations(document: &Value) -> Vec<(Method, String, &Value, Vec<Value>)> {
    let mut found = Vec::new();
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("operations") {
            let media = &operation["requestBody"]["content"]["application/json"];
            if media.is_null() {
                continue;
            }
            let examples = media["examples"].as_object().expect("examples");
            let examples = examples.values().map(|example| example["value"].clone()).collect();
            let mut path = path.clone();
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                let name = parameter["name"].as_str().expect("a name");
                let value = match &parameter["schema"]["type"] {
                    kind if *kind == "integer" => "1",
                    _ => parameter["example"].as_str().unwrap_or_default(),
                };
                path = path.replace(&format!("{{{name}}}"), value);
            }
            let method = method.to_uppercase().parse().expect("a method");
            found.push((method, path, &media["schema"], examples));
        }
    }
    found
}

fn fields(answer: &Answer) -> Vec<(String, String)> {
    let text = |error: &Value, key: &str| error[key].as_str().expect("a text").to_owned();
    let errors = answer.body["errors"].as_array().expect("errors");
    errors
        .iter()
        .map(|error| (text(error, "field"), text(error, "message")))
        .collect()
}

/// What an answer lacks, if anything.
fn lacks(answer: &Answer, wrong: &[&Wrong], body: &Value) -> Option<String> {
    if answer.status != StatusCode::UNPROCESSABLE_ENTITY {
        return Some(format!("{}: {body}", answer.text));
    }
    let named = fields(answer);
    for one in wrong {
        // A rule about several fields may name the field around this one.
        let in_range = matches!(&one.change, Change::To(value) if value.is_i64() || value.is_u64());
        let hit = |field: &String| {
            *field == one.field
                || in_range && !field.is_empty() && (one.field.starts_with(field) || field.starts_with(&one.field))
        };
        if !named.iter().any(|(field, _)| hit(field)) {
            return Some(format!("{} is not named of {body}: {named:?}", one.field));
        }
    }
    let raw = |message: &str| message.is_empty() || RAW.iter().any(|raw| message.contains(raw));
    let (field, message) = named.iter().find(|(_, message)| raw(message))?;
    Some(format!("{field}: {message}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn every_wrong_field_of_every_body_is_named() {
    let service = Service::start().await;
    let document = service.get("/openapi.json").await.body;
    let approves = key(&service, "approves", &["--role", "approve"]).await;
    let approves = service.caller_with(approves.secret());
    let operations = operations(&document);
    assert!(operations.len() >= 13, "{}", operations.len());
    let (mut tried, mut failures) = (0, Vec::new());
    for (method, path, schema, examples) in operations {
        for example in examples {
            let mut all = Vec::new();
            walk(&document, schema, &example, &[], "", &mut all);
            let typed = |one: &&Wrong| matches!(&one.change, Change::To(value) if value.is_string() || value.is_f64());
            let typed = all.iter().filter(typed).collect::<Vec<_>>();
            let apart = |a: &Wrong, b: &Wrong| !b.field.starts_with(&a.field) && !a.field.starts_with(&b.field);
            // Each wrong field alone, and two fields of another type at once.
            let pairs = typed
                .iter()
                .enumerate()
                .map(|(i, one)| vec![*one, typed[(i + typed.len() / 2) % typed.len()]]);
            let pairs = pairs.filter(|pair| apart(pair[0], pair[1]));
            for wrong in all.iter().map(|one| vec![one]).chain(pairs) {
                let mut body = example.clone();
                for one in &wrong {
                    apply(&mut body, one);
                }
                let answer = if path.ends_with("/approve") || path.contains("/approvals/") {
                    approves.post(&path, &body).await.expect("an answer")
                } else {
                    service.call(method.clone(), &path, Some(body.clone())).await
                };
                failures.extend(lacks(&answer, &wrong, &body).map(|what| format!("{method} {path}: {what}")));
                tried += 1;
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {tried}:\n{}",
        failures.len(),
        failures.join("\n")
    );
    assert!(tried > 300, "{tried}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_can_be_sent_instead_is_said() {
    let service = Service::start().await;
    let document = service.get("/openapi.json").await.body;
    let examples =
        &document["paths"]["/v1/jackpots/{id}"]["put"]["requestBody"]["content"]["application/json"]["examples"];
    let good = examples["spring"]["value"].clone();
    for (field, value, message) in [
        (
            "contribution",
            json!(1),
            r#"must be {"fixed": an integer from 1 to 9007199254740991} or {"rate_ppm": an integer from 1 to 1000000}"#,
        ),
        ("contribution", json!("x"), r#""rate_ppm""#),
        ("contribution", json!({"fixed": 1, "rate_ppm": 1}), r#""fixed""#),
        (
            "status",
            json!("opened"),
            r#"must be one of "open", "paused", "suspended", "closed""#,
        ),
        ("max_redraws", json!("16"), "must be an integer from 0 to 100"),
        ("public_meter", json!("yes"), "must be true or false"),
        ("tiers", json!({}), "must be an array of 1 to 8 items"),
    ] {
        let mut body = good.clone();
        body[field] = value;
        let answer = service.put("/v1/jackpots/spring", body).await;
        let (named, rule) = fields(&answer).remove(0);
        assert_eq!(named, field);
        assert!(rule.contains(message), "{field}: {rule}");
    }
    for (rate, body) in [
        ("contribution.rate_ppm", json!({"rate_ppm": 5_000_000})),
        ("contribution.rate_ppm", json!({"rate_ppm": 5_000_000_000_u64})),
    ] {
        let mut wrong = good.clone();
        wrong["contribution"] = body;
        let answer = service.put("/v1/jackpots/spring", wrong).await;
        let (named, rule) = fields(&answer).remove(0);
        assert_eq!(named, rate);
        assert!(rule.contains("1000000") && !rule.contains("4294967295"), "{rule}");
    }
    let answer = service
        .put(
            "/v1/coupons/coffee",
            json!({"name": "x", "stock": 1, "starts_at": 5, "colour": 1}),
        )
        .await;
    let named = fields(&answer);
    assert!(
        named
            .iter()
            .any(|(field, rule)| field == "starts_at" && rule.contains("2026-12-01T00:00:00Z")),
        "{named:?}"
    );
    assert!(
        named
            .iter()
            .any(|(field, rule)| field == "colour" && rule.contains("ends_at, name, per_user")),
        "{named:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn all_wrong_parameters_are_named_and_no_more_than_fifty_mistakes() {
    let service = Service::start().await;
    for (path, expected) in [
        (
            "/v1/payouts?limit=0&from=soon&tier=*&colour=red",
            vec!["limit", "from", "tier", "colour"],
        ),
        ("/v1/entries?limit=x", vec!["limit"]),
        ("/v1/entries?jackpot_id=spring", vec!["player_id"]),
        ("/v1/rooms?limit=5000&cursor=*", vec!["limit", "cursor"]),
        ("/v1/jackpots/*/definitions/x", vec!["id", "version"]),
        ("/v1/rooms/*/tickets/x", vec!["id", "ticket"]),
    ] {
        let answer = service.get(path).await;
        assert_eq!(
            answer.status,
            StatusCode::UNPROCESSABLE_ENTITY,
            "{path}: {}",
            answer.text
        );
        let named = fields(&answer);
        for name in expected {
            assert!(
                named.iter().any(|(field, _)| field == name),
                "{path}: {name} is not among {named:?}"
            );
        }
        assert!(
            named.iter().all(|(_, rule)| !RAW.iter().any(|raw| rule.contains(raw))),
            "{named:?}"
        );
    }
    let entries = vec![json!({"player_id": "*", "stake": "x"}); 200];
    let body = json!({"batch_id": "b", "entries": entries});
    let answer = service.post("/v1/jackpots/spring/entry-batches", body).await;
    let named = fields(&answer);
    assert_eq!(named.len(), 51, "{}", answer.text);
    named[50].1.says("first 50");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_entry_says_why_the_jackpot_was_stopped() {
    let mut service = Service::start().await;
    let document = service.get("/openapi.json").await.body;
    let put = &document["paths"]["/v1/jackpots/{id}"]["put"]["requestBody"]["content"]["application/json"]["examples"];
    let mut body = put["spring"]["value"].clone();
    body["odds"]["ranks"] = json!([]);
    service.put("/v1/jackpots/spring", body).await.is(201);
    let entry = json!({"entry_id": "e", "player_id": "p", "stake": 1});
    let batch = json!({"batch_id": "b", "entries": [{"player_id": "p", "stake": 1}]});
    let says = async |service: &Service, code: &str, reason: &str| {
        for (path, body) in [("entries", &entry), ("entry-batches", &batch)] {
            let answer = service.post(&format!("/v1/jackpots/spring/{path}"), body.clone()).await;
            answer.refused(409, code);
            let detail = answer.body["detail"].as_str().expect("a detail");
            assert!(detail.ends_with(reason), "{detail}");
        }
    };
    let pause = async |service: &Service, reason: &str| {
        service
            .post("/v1/jackpots/spring/pause", json!({"reason": reason}))
            .await
            .is(200);
    };
    pause(&service, "prices change tonight").await;
    says(&service, "jackpot-paused", "is paused: prices change tonight").await;
    // After the restart nothing of it is in memory: the ledger has it.
    service.restart().await;
    says(&service, "jackpot-paused", "is paused: prices change tonight").await;
    service
        .post("/v1/jackpots/spring/resume", json!({"reason": "done"}))
        .await;
    service.post("/v1/jackpots/spring/entries", entry.clone()).await.is(201);
    pause(&service, "another").await;
    let again = json!({"entry_id": "e2", "player_id": "p", "stake": 1});
    let answer = service.post("/v1/jackpots/spring/entries", again).await;
    assert_eq!(answer.body["detail"], "the jackpot is paused: another");
    service
        .post("/v1/jackpots/spring/close", json!({"reason": "the season is over"}))
        .await;
    let late = json!({"entry_id": "e3", "player_id": "p", "stake": 1});
    let answer = service.post("/v1/jackpots/spring/entries", late).await;
    assert_eq!(answer.body["detail"], "the jackpot is closed: the season is over");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_longest_definition_is_not_too_long() {
    let service = Service::start().await;
    let tier = "t".repeat(64);
    let rank = |rank: u32| {
        json!({"rank": 4_294_966_000_u32 + rank, "weight": 1_000_000,
        "prize": {"pool": {"tier": tier, "take": {"share_ppm": 1_000_000}}}})
    };
    let ranks = (0..1_000).map(rank).collect::<Vec<_>>();
    let body = json!({"id": "long", "name": "Long", "currency": "KRW", "contribution": {"fixed": 1},
        "tiers": [{"tier": tier, "share_ppm": 1_000_000, "min_payout": 0}],
        "odds": {"total": 4_294_967_296_u64, "ranks": ranks}});
    assert!(body.to_string().len() > 100_000);
    service.put("/v1/jackpots/long", body.clone()).await.is(201);
    let mut longer = body;
    longer["name"] = json!("x".repeat(300_000));
    service.put("/v1/jackpots/long", longer).await.is(413);
}

/// Calls with the example of the operation.
async fn example(service: &Service, document: &Value, method: &str, path: &str) -> Vec<StatusCode> {
    let operation = &document["paths"][path][method];
    let examples = &operation["requestBody"]["content"]["application/json"]["examples"];
    let mut statuses = Vec::new();
    let mut call = path.to_owned();
    for parameter in operation["parameters"].as_array().into_iter().flatten() {
        let name = parameter["name"].as_str().expect("a name");
        if parameter["in"] == "path" {
            call = call.replace(&format!("{{{name}}}"), parameter["example"].as_str().expect("an id"));
        }
    }
    for example in examples.as_object().expect("examples").values() {
        let method = method.to_uppercase().parse().expect("a method");
        let answer = service.call(method, &call, Some(example["value"].clone())).await;
        answer.done();
        statuses.push(answer.status);
    }
    statuses
}

#[tokio::test(flavor = "multi_thread")]
async fn every_example_of_a_request_is_accepted() {
    let service = Service::start().await;
    let document = service.get("/openapi.json").await.body;
    let first = ["/v1/coupons/{id}", "/v1/rooms/{id}", "/v1/jackpots/{id}"];
    for path in first {
        assert_eq!(
            example(&service, &document, "put", path).await,
            [StatusCode::CREATED],
            "{path}"
        );
    }
    let examples =
        &document["paths"]["/v1/jackpots/{id}"]["put"]["requestBody"]["content"]["application/json"]["examples"];
    let mut definition = examples["spring"]["value"].clone();
    // A transfer has a target. An entry that won is not reversed, and the examples' odds would let one of a thousand win.
    definition["odds"]["total"] = json!(4_294_967_296_u64);
    for id in ["spring", "summer"] {
        definition["id"] = json!(id);
        service
            .put(&format!("/v1/jackpots/{id}"), definition.clone())
            .await
            .done();
    }
    let mut paths = document["paths"].as_object().expect("paths").keys().collect::<Vec<_>>();
    // A closed subject takes nothing any more, and a paused one no entry, so these paths come last. A transfer is out of a
    // paused one. What stops everything comes first, and then what ends that.
    paths.sort_by_key(|path| {
        (
            path.as_str() != "/v1/emergency-stop",
            path.as_str() != "/v1/emergency-start",
            path.ends_with("/close"),
            path.ends_with("/resume"),
            path.ends_with("/transfers"),
            path.ends_with("/pause"),
        )
    });
    // Both name an event that was or is to be delivered.
    let subscription = "/v1/subscriptions/{id}";
    example(&service, &document, "put", subscription).await;
    paths.retain(|path| ![format!("{subscription}/replay"), format!("{subscription}/skip")].contains(path));
    let mut tried = 0;
    // These need what is held and keys of two owners: `keys::http::approvals`, `jackpot::two_owners`.
    let needs_two = ["/v1/payouts/", "/approvals/", "/adjustments/", "/transfers/"];
    paths.retain(|path| !needs_two.iter().any(|part| path.contains(part)));
    for path in paths {
        if document["paths"][path]["post"]["requestBody"]["content"]["application/json"].is_object() {
            example(&service, &document, "post", path).await;
            tried += 1;
        }
    }
    assert!(tried >= 10, "{tried}");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_operation_wants_the_role_that_it_names() {
    let service = Service::start().await;
    let document = service.get("/openapi.json").await.body;
    for role in ["play", "read", "approve"] {
        let made = service.command(&["key", "new", "--role", role, "--name", role]);
        let key = String::from_utf8(made.stdout).expect("text").trim().to_owned();
        let status = async |method: Method, path: &str| {
            let request = http_client().request(method, service.url(path)).bearer_auth(&key);
            request.json(&json!({})).send().await.expect("an answer").status()
        };
        eventually(std::time::Duration::from_secs(10), "the key is honoured", async || {
            (status(Method::GET, "/v1/audit").await != StatusCode::UNAUTHORIZED).then_some(())
        })
        .await;
        let mut asked = 0;
        for (path, item) in document["paths"].as_object().expect("paths") {
            for (method, operation) in item.as_object().expect("operations") {
                let Some(roles) = operation["x-roles"].as_array() else {
                    assert!(operation["security"].is_null(), "{method} {path} has no roles");
                    continue;
                };
                let mut path = path.replace(['{', '}'], "");
                if role == "approve" && operation["operationId"] == "list_payouts" {
                    path += "?state=held";
                }
                let got = status(method.to_uppercase().parse().expect("a method"), &path).await;
                let allowed = roles.contains(&json!(role))
                    || operation["security"]
                        .as_array()
                        .is_some_and(|all| all.contains(&json!({})));
                assert_eq!(
                    got != StatusCode::FORBIDDEN,
                    allowed,
                    "{role}: {method} {path} answers {got}"
                );
                asked += 1;
            }
        }
        assert!(asked > 40, "{asked}");
    }
}
