//! A stranger finds out nothing without a key.

use crate::support::given;
use crate::support::prelude::*;

/// Status and body of a call with this key. The request's id is in no body.
async fn call(service: &Service, method: &str, path: &str, key: Option<&str>) -> (u16, Value) {
    let method = Method::from_bytes(method.to_uppercase().as_bytes()).expect("a method");
    let mut request = http_client().request(method, service.url(path));
    if let Some(key) = key {
        request = request.bearer_auth(key);
    }
    let answer = request.send().await.expect("an answer");
    (answer.status().as_u16(), answer.json().await.unwrap_or_default())
}

async fn key(service: &Service, role: &str) -> String {
    let made = service.command(&["key", "new", "--role", role, "--name", role]);
    made.done();
    let key = String::from_utf8(made.stdout).expect("text").trim().to_owned();
    eventually(PATIENCE, "the key is honoured", async || {
        let (status, _) = call(service, "get", "/v1/jackpots/none", Some(&key)).await;
        (status != 401 && status != 429).then_some(())
    })
    .await;
    key
}

#[tokio::test]
async fn without_a_key_everything_that_needs_one_is_401_before_any_look() {
    // Each of hundreds of wrong keys gets 401.
    let service = Service::start_with(&[("JACKPOT__AUTH__FAILED_KEYS_PER_SECOND_PER_ADDRESS", "0")]).await;
    let there = given::document("there", &json!({"public_meter": false}));
    service.put("/v1/jackpots/there", there).await.is(201);
    let document = service.get("/openapi.json").await.body;
    let mut checked = 0;
    for (name, item) in document["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("operations") {
            // An operation that needs no key has an empty requirement, or none at all.
            let needs = operation["security"]
                .as_array()
                .is_some_and(|all| all.iter().all(|one| one != &json!({})));
            if !needs {
                continue;
            }
            for id in ["there", "missing", "a b"] {
                let parts = name.split('/').map(|part| match part {
                    "{id}" => id.replace(' ', "%20"),
                    part if part.starts_with('{') => "1".to_owned(),
                    part => part.to_owned(),
                });
                let path = parts.collect::<Vec<_>>().join("/");
                for key in [None, Some("no-key-of-ours")] {
                    let (status, body) = call(&service, method, &path, key).await;
                    assert_eq!(
                        (status, &body["code"]),
                        (401, &json!("unauthorized")),
                        "{method} {path}"
                    );
                }
                checked += 1;
            }
        }
    }
    assert!(checked > 100, "{checked}");
}

#[tokio::test]
async fn a_private_jackpot_looks_like_one_that_does_not_exist() {
    let service = Service::start().await;
    for (id, public) in [("hidden", false), ("shown", true)] {
        let jackpot = given::document(id, &json!({"public_meter": public}));
        service.put(&format!("/v1/jackpots/{id}"), jackpot).await.is(201);
    }
    let (play, read) = (key(&service, "play").await, key(&service, "read").await);
    let path = |id: &str| format!("/v1/jackpots/{id}/definitions/1");
    for (key, hidden, missing) in [
        (None, 401, 401),
        (Some("no-key-of-ours"), 401, 401),
        (Some(play.as_str()), 403, 403),
        (Some(read.as_str()), 200, 404),
    ] {
        let (of_hidden, of_missing) = (
            call(&service, "get", &path("hidden"), key).await,
            call(&service, "get", &path("missing"), key).await,
        );
        assert_eq!((of_hidden.0, of_missing.0), (hidden, missing), "{key:?}");
        if hidden == missing {
            assert_eq!(of_hidden.1, of_missing.1, "{key:?}");
        }
    }
    assert_eq!(call(&service, "get", &path("shown"), None).await.0, 200);
}
