//! What pages of other sites may read (CORS): what is public of a jackpot, from the origins of its definition, and nothing
//! that needs a key.

use futures_util::future::join_all;
use reqwest::Response;
use reqwest::header::{AUTHORIZATION, HeaderMap, IF_NONE_MATCH, ORIGIN};

use crate::fault::support::{embedded_url, redrawing};
use crate::support::prelude::*;

const HERE: &str = "https://games.example";
const ALSO: &str = "http://localhost:3000";
/// What browsers send from elsewhere.
const ELSEWHERE: [&str; 8] = [
    "https://evil.example",
    "http://games.example",
    "https://games.example:8443",
    "https://games.example.evil.example",
    "https://sub.games.example",
    "http://localhost:30000",
    "HTTPS://GAMES.EXAMPLE",
    "null",
];
const ALLOWED: &str = "access-control-allow-origin";
const OPEN: [&str; 6] = [
    "meter",
    "meter/history?tier=grand&step=minute",
    "winners",
    "fairness",
    "definitions/1",
    "rules",
];
const STREAMS: [&str; 2] = ["meter/stream", "winners/stream"];

fn definition(id: &str, change: &Value) -> Value {
    let mut definition = redrawing(id);
    definition["public_meter"] = json!(true);
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

async fn ask(service: &Service, method: Method, path: &str, headers: &[(&str, &str)]) -> Response {
    let request = http_client().request(method, service.url(path));
    let request = headers
        .iter()
        .fold(request, |request, (name, value)| request.header(*name, *value));
    request.send().await.expect("an answer")
}

async fn preflight(service: &Service, path: &str, origin: &str, method: &str) -> Response {
    let headers = [(ORIGIN.as_str(), origin), ("access-control-request-method", method)];
    ask(service, Method::OPTIONS, path, &headers).await
}

fn allowed(headers: &HeaderMap) -> Option<&str> {
    assert!(!headers.contains_key("access-control-allow-credentials"));
    assert!(!headers.contains_key("access-control-allow-headers"));
    assert!(headers.get_all(ALLOWED).iter().count() <= 1);
    headers.get(ALLOWED).map(|value| value.to_str().expect("text"))
}

fn varies(headers: &HeaderMap) -> bool {
    let all = headers.get("vary").map_or("", |value| value.to_str().expect("text"));
    all.split(", ").any(|name| name == "Origin")
}

#[tokio::test]
async fn the_named_origins_read_what_is_public_and_no_other_does() {
    let service = Service::start().await;
    put(&service, "shown", &json!({"origins": [HERE, ALSO]})).await;
    put(&service, "unshown", &json!({})).await;
    put(&service, "hidden", &json!({"origins": [HERE], "public_meter": false})).await;
    for path in OPEN.iter().chain(&STREAMS) {
        let url = format!("/v1/jackpots/shown/{path}");
        for origin in [HERE, ALSO] {
            let answer = ask(&service, Method::GET, &url, &[("origin", origin)]).await;
            assert_eq!(
                (answer.status(), allowed(answer.headers())),
                (StatusCode::OK, Some(origin)),
                "{url}"
            );
            assert!(varies(answer.headers()), "{url}");
            let exposed = answer.headers()["access-control-expose-headers"]
                .to_str()
                .expect("text");
            assert!(exposed.contains("ETag") && exposed.contains("Retry-After"), "{exposed}");
            let answer = preflight(&service, &url, origin, "GET").await;
            assert_eq!(
                (answer.status(), allowed(answer.headers())),
                (StatusCode::NO_CONTENT, Some(origin))
            );
            assert_eq!(answer.headers()["access-control-allow-methods"], "GET, HEAD");
            assert_eq!(answer.headers()["access-control-max-age"], "600");
            assert!(varies(answer.headers()));
        }
        for origin in ELSEWHERE {
            let answer = ask(&service, Method::GET, &url, &[("origin", origin)]).await;
            assert_eq!(
                (answer.status(), allowed(answer.headers())),
                (StatusCode::OK, None),
                "{origin}"
            );
            assert!(varies(answer.headers()), "{url}");
            let answer = preflight(&service, &url, origin, "GET").await;
            assert_eq!(
                (answer.status(), allowed(answer.headers())),
                (StatusCode::METHOD_NOT_ALLOWED, None)
            );
        }
        let without = ask(&service, Method::GET, &url, &[]).await;
        assert_eq!((without.status(), allowed(without.headers())), (StatusCode::OK, None));
        assert!(varies(without.headers()), "{url}");
        let two = ask(&service, Method::GET, &url, &[("origin", HERE), ("origin", ALSO)]).await;
        assert_eq!(allowed(two.headers()), None, "which of them it is");
        let plain = ask(&service, Method::OPTIONS, &url, &[("origin", HERE)]).await;
        assert_eq!(plain.status(), StatusCode::METHOD_NOT_ALLOWED, "no preflight");
        let bearer = format!("Bearer {}", service.operator_key());
        let keyed = ask(
            &service,
            Method::GET,
            &url,
            &[("origin", HERE), (AUTHORIZATION.as_str(), &bearer)],
        )
        .await;
        assert_eq!(
            (keyed.status(), allowed(keyed.headers())),
            (StatusCode::OK, None),
            "a key is not for pages"
        );
        for id in ["unshown", "hidden", "made-up"] {
            let url = format!("/v1/jackpots/{id}/{path}");
            for answer in [
                ask(&service, Method::GET, &url, &[("origin", HERE)]).await,
                ask(
                    &service,
                    Method::GET,
                    &url,
                    &[("origin", HERE), (AUTHORIZATION.as_str(), &bearer)],
                )
                .await,
                preflight(&service, &url, HERE, "GET").await,
            ] {
                assert_eq!(allowed(answer.headers()), None, "{url}");
                assert!(varies(answer.headers()), "{url}");
            }
        }
    }
}

#[tokio::test]
async fn what_needs_a_key_is_for_no_page() {
    let service = Service::start().await;
    put(&service, "keyed", &json!({"origins": [HERE]})).await;
    for (method, path) in [
        ("GET", "/v1/jackpots/keyed"),
        ("GET", "/v1/jackpots"),
        ("GET", "/v1/payouts"),
        ("GET", "/v1/jackpots/keyed/ledger"),
        ("POST", "/v1/jackpots/keyed/entries"),
        ("POST", "/v1/jackpots/keyed/fairness/rotate"),
        ("PUT", "/v1/jackpots/keyed"),
        ("GET", "/v1/keys"),
        ("GET", "/v1/jackpots/keyed/nothing"),
    ] {
        let bearer = format!("Bearer {}", service.operator_key());
        let headers = [
            ("origin", HERE),
            (AUTHORIZATION.as_str(), bearer.as_str()),
            ("cookie", "session=x"),
        ];
        let sent = ask(&service, method.parse().expect("a method"), path, &headers).await;
        let asked = preflight(&service, path, HERE, method).await;
        for answer in [&sent, &asked] {
            assert_eq!(allowed(answer.headers()), None, "{method} {path}");
            assert!(!varies(answer.headers()), "{method} {path}: as it was");
        }
        assert!(asked.status().is_client_error(), "{method} {path}: {}", asked.status());
    }
    let put = preflight(&service, "/v1/jackpots/keyed/meter", HERE, "PUT").await;
    assert_eq!(
        put.headers()["access-control-allow-methods"],
        "GET, HEAD",
        "the browser refuses"
    );
}

/// The first answer above the limit of an address. Many are asked at once, so that a slow machine reaches the limit too.
async fn beyond_the_limit(service: &Service, path: &str, origin: &str) -> Response {
    const AT_ONCE: usize = 100;
    let client = http_client();
    eventually(PATIENCE, "the limit is used up", async || {
        let one = || client.get(service.url(path)).header(ORIGIN, origin).send();
        let answers = join_all((0..AT_ONCE).map(|_| one())).await;
        let mut answers = answers.into_iter().map(|answer| answer.expect("an answer"));
        answers.find(|answer| answer.status() == StatusCode::TOO_MANY_REQUESTS)
    })
    .await
}

#[tokio::test]
async fn kept_pages_and_refusals_can_be_read_by_the_page_too() {
    let few = [("JACKPOT__AUTH__PUBLIC_REQUESTS_PER_SECOND_PER_ADDRESS", "30")];
    let service = Service::start_with(&few).await;
    put(&service, "shown", &json!({"origins": [HERE], "winners": "off"})).await;
    let path = "/v1/jackpots/shown/meter";
    let first = ask(&service, Method::GET, path, &[("origin", HERE)]).await;
    let tag = first.headers()["etag"].to_str().expect("text").to_owned();
    for method in [Method::GET, Method::HEAD] {
        let kept = ask(
            &service,
            method,
            path,
            &[("origin", HERE), (IF_NONE_MATCH.as_str(), &tag)],
        )
        .await;
        assert_eq!(
            (kept.status(), allowed(kept.headers())),
            (StatusCode::NOT_MODIFIED, Some(HERE))
        );
        assert!(varies(kept.headers()));
    }
    let off = ask(&service, Method::GET, "/v1/jackpots/shown/winners", &[("origin", HERE)]).await;
    assert_eq!(
        (off.status(), allowed(off.headers())),
        (StatusCode::NOT_FOUND, Some(HERE))
    );
    let none = ask(
        &service,
        Method::GET,
        "/v1/jackpots/shown/definitions/9",
        &[("origin", HERE)],
    )
    .await;
    assert_eq!(
        (none.status(), allowed(none.headers())),
        (StatusCode::NOT_FOUND, Some(HERE))
    );
    let wrong = "/v1/jackpots/shown/meter/history?tier=grand&step=week";
    let wrong = ask(&service, Method::GET, wrong, &[("origin", HERE)]).await;
    assert_eq!(
        (wrong.status(), allowed(wrong.headers())),
        (StatusCode::UNPROCESSABLE_ENTITY, Some(HERE))
    );
    let refused = beyond_the_limit(&service, path, HERE).await;
    assert_eq!(allowed(refused.headers()), Some(HERE));
    assert!(varies(refused.headers()) && refused.headers().contains_key("retry-after"));
    let elsewhere = beyond_the_limit(&service, path, ELSEWHERE[0]).await;
    assert_eq!(allowed(elsewhere.headers()), None);
}

#[tokio::test]
async fn while_redis_is_away_the_page_is_told_so() {
    let mut redis = own_redis(&[]).await;
    let service = service_on(redis.url(), &[]).await;
    put(&service, "shown", &json!({"origins": [HERE]})).await;
    let path = "/v1/jackpots/shown/meter";
    assert_eq!(
        ask(&service, Method::GET, path, &[("origin", HERE)]).await.status(),
        StatusCode::OK
    );
    redis.kill9();
    for path in [path, "/v1/jackpots/shown/winners", "/v1/jackpots/shown/meter/stream"] {
        let answer = eventually(PATIENCE, "Redis is missed", async || {
            let answer = ask(&service, Method::GET, path, &[("origin", HERE)]).await;
            (answer.status() == StatusCode::SERVICE_UNAVAILABLE).then_some(answer)
        })
        .await;
        assert_eq!(allowed(answer.headers()), Some(HERE), "{path}");
        let answer = ask(&service, Method::GET, path, &[("origin", ELSEWHERE[0])]).await;
        assert_eq!(
            (answer.status(), allowed(answer.headers())),
            (StatusCode::SERVICE_UNAVAILABLE, None)
        );
    }
}

#[tokio::test]
async fn an_origin_that_is_taken_away_reads_nothing_more() {
    let service = Service::start().await;
    put(&service, "shown", &json!({"origins": [HERE, ALSO]})).await;
    let read = async |path: &str, origin| {
        let answer = ask(
            &service,
            Method::GET,
            &format!("/v1/jackpots/shown/{path}"),
            &[("origin", origin)],
        )
        .await;
        allowed(answer.headers()).map(str::to_owned)
    };
    for path in OPEN {
        assert_eq!(read(path, HERE).await.as_deref(), Some(HERE));
    }
    put(&service, "shown", &json!({"origins": [ALSO]})).await;
    for path in OPEN {
        assert_eq!(
            (read(path, HERE).await, read(path, ALSO).await.as_deref()),
            (None, Some(ALSO)),
            "{path}"
        );
    }
    put(&service, "shown", &json!({"origins": [ALSO], "public_meter": false})).await;
    for path in OPEN {
        assert_eq!(read(path, ALSO).await, None, "{path}");
    }
}

#[tokio::test]
async fn the_fields_show_their_defaults_and_are_stored_only_where_they_say_something() {
    let service = Service::start().await;
    let path = "/v1/jackpots/plain";
    put(&service, "plain", &json!({})).await;
    let stored = async |version: &str| -> Value {
        let mut redis = crate::fault::support::connection(&embedded_url(&service)).await;
        let text: String = redis::cmd("HGET")
            .arg("jp:{plain}:definitions")
            .arg(version)
            .query_async(&mut redis)
            .await
            .expect("a text");
        serde_json::from_str(&text).expect("JSON")
    };
    let shown = |body: &Value| (body["origins"].clone(), body["winners"].clone());
    let defaults = (json!([]), json!("masked"));
    assert_eq!(shown(&service.get(path).await.body), defaults);
    assert_eq!(
        shown(&service.get(&format!("{path}/definitions/1")).await.body),
        defaults
    );
    assert_eq!(shown(&service.get("/v1/jackpots").await.body["items"][0]), defaults);
    // As a program stored it that did not know them, and reads it.
    assert_eq!(shown(&stored("1").await), (Value::Null, Value::Null));
    let change = json!({"origins": [HERE], "winners": "full"});
    let answer = service.put(path, definition("plain", &change)).await;
    let set = (json!([HERE]), json!("full"));
    assert_eq!(
        (shown(&answer.body), &answer.body["pending"]),
        (set.clone(), &Value::Null),
        "at once"
    );
    assert_eq!(answer.body["version"], 2);
    assert_eq!(shown(&stored("2").await), set);
    assert_eq!(
        shown(&service.get(&format!("{path}/definitions/1")).await.body),
        defaults
    );
    assert_eq!(shown(&service.get(&format!("{path}/definitions/2")).await.body), set);
    let again = service
        .put(
            path,
            definition("plain", &json!({"origins": [HERE], "winners": "full"})),
        )
        .await;
    assert_eq!(again.body["version"], 2, "a repeat changes nothing");
    for (wrong, field) in [
        (json!({"origins": ["*"]}), "origins[0]"),
        (json!({"origins": [HERE, 7]}), "origins[1]"),
        (json!({"origins": HERE}), "origins"),
        (json!({"origins": [HERE, HERE]}), "origins[1]"),
        (json!({"winners": "some"}), "winners"),
    ] {
        let answer = service.put(path, definition("plain", &wrong)).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{wrong}");
        assert_eq!(answer.body["errors"][0]["field"], field, "{}", answer.text);
    }
    let most: Vec<String> = (0..32)
        .map(|i| format!("https://{}.{i}.example", "a".repeat(60)))
        .collect();
    service
        .put(path, definition("plain", &json!({"origins": most})))
        .await
        .is(200);
}
