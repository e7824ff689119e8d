//! Headers that keep an answer to its recipient, and the page of the description under these headers in a browser.

use reqwest::header::HeaderMap;
use serde_json::{Value, json};

use crate::fault::support::PATIENCE;
use crate::room::http::support::{create, joined, path, renew};
use crate::support::browser::{Browser, Scripts};
use crate::support::given;
use crate::support::service::Service;
use crate::support::{eventually, http_client};

async fn headers(service: &Service, path: &str) -> HeaderMap {
    let answer = http_client().get(service.url(path)).send().await.expect("an answer");
    answer.headers().clone()
}

#[tokio::test]
async fn passes_tokens_and_refusals_are_kept_in_no_cache() {
    let service = Service::start().await;
    create(
        &service,
        "lobby",
        1,
        &json!({"return_origins": ["https://shop.example"]}),
    )
    .await;
    let ann = joined(&service, "lobby", "ann").await;
    let wish = json!({"user_id": "bob", "return_to": "https://shop.example/"});
    let jackpot = given::document("cached", &json!({}));
    for answer in [
        service.post("/v1/rooms/lobby/tickets", json!({"user_id": "ann"})).await,
        service.get(&path("lobby", &ann)).await,
        renew(&service, "lobby", &ann).await,
        service.post("/v1/rooms/lobby/join-tokens", wish).await,
        service.get("/v1/rooms/lobby").await,
        service.put("/v1/jackpots/cached", jackpot).await,
        service.get("/v1/jackpots/none").await,
        service.get("/v1/nothing").await,
    ] {
        assert_eq!(answer.headers["cache-control"], "no-store", "{}", answer.text);
        assert_eq!(answer.headers["x-content-type-options"], "nosniff", "{}", answer.text);
    }
    let key = service.operator_key().to_owned();
    let stream = http_client()
        .get(service.url(&format!("{}/stream", path("lobby", &ann))))
        .bearer_auth(key);
    let stream = stream.send().await.expect("an answer");
    assert_eq!(
        (stream.status().as_u16(), &stream.headers()["cache-control"]),
        (200, &"no-store, no-transform".parse().unwrap())
    );
    let stranger = headers(&service, "/v1/rooms/lobby").await;
    assert_eq!(stranger["cache-control"], "no-store");
    let page = headers(&service, "/rooms/lobby/wait").await;
    assert_eq!(page["cache-control"], "no-store");
    for path in [
        "/healthz",
        "/openapi.json",
        "/metrics",
        "/v1/keys",
        "/docs/",
        "/docs/swagger-ui.css",
        "/none",
    ] {
        assert_eq!(
            headers(&service, path).await["x-content-type-options"],
            "nosniff",
            "{path}"
        );
    }
}

#[tokio::test]
async fn every_page_has_a_policy_without_inline_scripts() {
    let service = Service::start().await;
    for path in [
        "/docs/",
        "/docs/index.html",
        "/docs/swagger-ui-bundle.js",
        "/rooms/none/wait",
    ] {
        let headers = headers(&service, path).await;
        let policy = headers["content-security-policy"].to_str().expect("text");
        assert!(policy.contains("frame-ancestors 'none'"), "{path}: {policy}");
        let scripts = policy
            .split(';')
            .map(str::trim)
            .find(|part| part.starts_with("script-src"));
        assert!(
            !scripts.unwrap_or("default-src 'self'").contains("unsafe"),
            "{path}: {policy}"
        );
        assert_eq!(headers["referrer-policy"], "no-referrer", "{path}");
        assert_eq!(headers["cross-origin-opener-policy"], "same-origin", "{path}");
        assert!(headers.contains_key("permissions-policy"), "{path}");
    }
}

#[tokio::test]
async fn heavy_the_description_is_shown_in_a_browser_under_its_policy() {
    let service = Service::start().await;
    let document = service.get("/openapi.json").await.body;
    let methods = ["get", "put", "post", "delete", "patch"];
    let of_path = |item: &Value| methods.iter().filter(|method| item[**method].is_object()).count();
    let operations: usize = document["paths"]
        .as_object()
        .expect("paths")
        .values()
        .map(of_path)
        .sum();
    let browser = Browser::start(Scripts::On).await;
    browser.open(&service.url("/docs/")).await;
    eventually(PATIENCE, "all operations are shown", async || {
        let shown = browser.ask("return document.querySelectorAll('.opblock').length").await;
        (shown == operations).then_some(())
    })
    .await;
    // One operation is opened, with its schemas and its form.
    browser.click(".opblock-summary-control").await;
    eventually(PATIENCE, "an operation is opened", async || {
        browser.text(".opblock-body").await
    })
    .await;
    let console = browser.console().await;
    let wrong: Vec<_> = console.iter().filter(|line| line["level"] == "SEVERE").collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    // An injected script does not run.
    let inserted = "const script = document.createElement('script'); script.textContent = 'window.bad = 1'; \
                    document.body.append(script); return window.bad ?? null";
    assert_eq!(browser.ask(inserted).await, Value::Null);
    assert!(
        browser.console().await.iter().any(|line| line["level"] == "SEVERE"),
        "the console tells of violations"
    );
}
