//! Health, readiness, metrics, and the description of the API.

use std::sync::Arc;

use jackpot::http::auth::Role;
use jackpot::http::health::{Readiness, RedisState, Refused, RefusedSubject};
use jackpot::http::problem::FieldError;
use jackpot::subject::kinds::JACKPOT;
use jackpot_core::ids::Id;

use super::support::{Options, problem, server, server_with};
use crate::support::prelude::*;

#[tokio::test(flavor = "multi_thread")]
async fn health_and_readiness_need_no_key() {
    let server = server().await;
    assert_eq!(server.get("/healthz").send().await.unwrap().status(), 200);
    assert_eq!(server.get("/readyz").send().await.unwrap().status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_ready_is_named() {
    let lost = || {
        vec![RefusedSubject {
            kind: JACKPOT,
            id: Id::parse("spring").unwrap(),
            reason: jackpot::subject::Reason::Lost,
            detail: "a test".to_owned(),
        }]
    };
    let readiness = move || Readiness {
        redis: Some(RedisState {
            up: false,
            memory_ratio: 0.5,
        }),
        causes: vec![FieldError::new("redis", "connection refused")],
        refused: Refused::count(&lost()),
        subjects: lost(),
        ledger: None,
        emergency_stop: None,
    };
    let server = server_with(Options {
        readiness: Arc::new(readiness),
        ..Options::default()
    })
    .await;
    let answer = server.get("/readyz").send().await.unwrap();
    assert_eq!(answer.headers()["retry-after"], "1");
    let body = problem(answer, 503, "not-ready").await;
    assert_eq!(body["errors"][0]["field"], "redis");
    assert_eq!(body["refused"]["jackpots"], 1);
    for (role, is_told) in [(Role::Play, false), (Role::Read, true), (Role::Operate, true)] {
        let key = server.honoured_key(role, &role.to_string()).await;
        let answer = server.get("/readyz").bearer_auth(key).send().await.unwrap();
        let told = problem(answer, 503, "not-ready").await;
        assert_eq!(told["refused_subjects"][0]["id"] == "spring", is_told, "{role}: {told}");
    }
    assert_eq!(body["refused_subjects"], Value::Null, "no key");
    assert_eq!(server.get("/healthz").send().await.unwrap().status(), 200);
    let text = server.get("/metrics").send().await.unwrap().text().await.unwrap();
    text.says("jackpot_redis_up 0");
    text.says("jackpot_redis_memory_ratio 0.5");
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_count_routes_and_not_paths() {
    let server = server().await;
    for path in ["/test/items/a", "/test/items/b", "/made-up", "/made/up/too"] {
        server.get(path).send().await.unwrap();
    }
    // What a Prometheus server sends, shortened; and a program that asks for nothing in particular.
    for (accept, media_type, kind) in [
        (
            "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5",
            "application/openmetrics-text; version=1.0.0; charset=utf-8",
            "# TYPE jackpot_http_requests counter",
        ),
        (
            "*/*",
            "text/plain; version=0.0.4; charset=utf-8",
            "# TYPE jackpot_http_requests_total counter",
        ),
    ] {
        let answer = server.get("/metrics").header("accept", accept).send().await.unwrap();
        assert_eq!(answer.headers()["content-type"], media_type);
        assert_eq!(answer.headers()["vary"], "Accept");
        let text = answer.text().await.unwrap();
        text.says(kind);
        assert_eq!(text.ends_with("# EOF\n"), accept.starts_with("application"), "{text}");
    }
    let text = server.get("/metrics").send().await.unwrap().text().await.unwrap();
    for line in [
        r#"jackpot_http_requests_total{route="/test/items/{id}",method="GET",status="200"} 2"#,
        r#"jackpot_http_requests_total{route="unmatched",method="GET",status="404"} 2"#,
        r#"jackpot_http_request_seconds_count{route="/test/items/{id}",method="GET"} 2"#,
        "jackpot_meter_streams 0",
    ] {
        text.says(line);
    }
    text.hides("made");
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_can_have_an_address_of_their_own() {
    let server = server_with(Options {
        metrics_listen: "127.0.0.1:0",
        ..Options::default()
    })
    .await;
    problem(server.get("/metrics").send().await.unwrap(), 404, "not-found").await;
    let address = server.running.as_ref().unwrap().metrics_address().unwrap();
    let text = reqwest::get(format!("http://{address}/metrics"))
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    text.says("# TYPE");
    for path in ["/test/id", "/healthz"] {
        let answer = reqwest::get(format!("http://{address}{path}")).await.unwrap();
        assert_eq!(answer.status(), 404, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_description_is_openapi_3_1_with_all_routes() {
    let server = server().await;
    let document: Value = server.get("/openapi.json").send().await.unwrap().json().await.unwrap();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    for path in [
        "/healthz",
        "/readyz",
        "/metrics",
        "/problems/{code}",
        "/openapi.json",
        "/test/echo",
    ] {
        assert!(document["paths"][path].is_object(), "{path} is missing");
    }
    assert_eq!(document["components"]["securitySchemes"]["bearer"]["scheme"], "bearer");
    let refused = &document["paths"]["/problems/{code}"]["get"]["responses"]["404"];
    let schema = &refused["content"]["application/problem+json"]["schema"];
    assert_eq!(schema["$ref"], "#/components/schemas/Problem");
    assert_eq!(schema["properties"]["code"]["enum"], serde_json::json!(["not-found"]));
    assert_eq!(
        document["components"]["schemas"]["Problem"]["properties"]["code"]["$ref"],
        "#/components/schemas/ProblemCode"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_loads_nothing_from_elsewhere() {
    let server = server().await;
    let page = server.get("/docs").send().await.unwrap();
    assert_eq!(page.url().path(), "/docs/");
    let html = page.text().await.unwrap();
    html.says("/test/echo"); // the page shows the description of this service
    for text in ["http://", "https://", "\"//"] {
        let elsewhere = html.replace("http://127.0.0.1:8080", "");
        assert!(!elsewhere.contains(text), "{text}: {html}");
    }
    for file in html.split("href=\"/assets/").skip(1) {
        let file = file.split('"').next().expect("a name");
        assert_eq!(
            server.get(&format!("/assets/{file}")).send().await.unwrap().status(),
            200
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_problem_explains_itself() {
    let server = server().await;
    let answer = server.get("/problems/entry-id-reused").send().await.unwrap();
    assert_eq!(answer.status(), 200);
    assert!(answer.text().await.unwrap().starts_with("entry-id-reused: "));
}
