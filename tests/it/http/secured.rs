//! Headers that keep an answer to its recipient, and the page of the description under these headers in a browser.

use std::collections::BTreeSet;

use reqwest::header::HeaderMap;
use tokio::process::Command;

use crate::console::pages::{axe, look};
use crate::room::http::support::{create, joined, path, renew};
use crate::support::browser::{Browser, Scripts};
use crate::support::given;
use crate::support::prelude::*;
use crate::support::size::size;

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
    for path in ["/healthz", "/openapi.json", "/metrics", "/v1/keys", "/docs/", "/none"] {
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
    for path in ["/docs/", "/rooms/none/wait"] {
        let headers = headers(&service, path).await;
        let policy = headers["content-security-policy"].to_str().expect("text");
        assert!(policy.contains("frame-ancestors 'none'"), "{path}: {policy}");
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        assert_eq!(headers["referrer-policy"], "no-referrer", "{path}");
        assert_eq!(headers["cross-origin-opener-policy"], "same-origin", "{path}");
        assert!(headers.contains_key("permissions-policy"), "{path}");
    }
}

#[tokio::test]
async fn heavy_the_description_is_shown_in_a_browser_under_its_policy() {
    let service = Service::start().await;
    let browser = Browser::start(Scripts::On).await;
    let axe = axe();
    let looks = [(1280, "light"), (390, "dark"), (1280, "dark"), (390, "light")];
    for (width, scheme) in looks.into_iter().take(size(2, 4)) {
        browser.screen(width, 900).await;
        browser.scheme(scheme).await;
        // A link into a folded operation opens it.
        browser.open(&service.url("/docs/#put_jackpot")).await;
        eventually(PATIENCE, "the operation is open", async || {
            let open = browser
                .ask("return document.querySelectorAll('.operation[open]').length")
                .await;
            (open == 1).then_some(())
        })
        .await;
        look(&browser, &axe, &format!("the description at {width} in {scheme}")).await;
    }
    // All that is folded, too.
    browser
        .ask("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        .await;
    look(&browser, &axe, "the description, open").await;
    // An injected script does not run.
    let inserted = "const script = document.createElement('script'); script.textContent = 'window.bad = 1'; \
                    document.body.append(script); return window.bad ?? null";
    assert_eq!(browser.ask(inserted).await, Value::Null);
    assert!(
        browser.console().await.iter().any(|line| line["level"] == "SEVERE"),
        "the console tells of violations"
    );
}

#[tokio::test]
async fn the_description_is_whole() {
    let service = Service::start().await;
    let document = service.get("/openapi.json").await.body;
    let operations: Vec<_> = document["paths"]
        .as_object()
        .expect("paths")
        .values()
        .flat_map(|item| item.as_object().expect("operations").values())
        .map(|operation| operation["operationId"].as_str().expect("an id").to_owned())
        .collect();
    assert!(operations.len() > 80);
    let page = http_client()
        .get(service.url("/docs/"))
        .send()
        .await
        .expect("an answer");
    assert_eq!(page.headers()["cache-control"], "public, max-age=60");
    let page = page.text().await.expect("text");
    let ids = between(&page, " id=\"", '"');
    let once: BTreeSet<_> = ids.iter().collect();
    assert_eq!(once.len(), ids.len(), "an id stands twice");
    for operation in &operations {
        assert!(once.contains(&operation.as_str()), "{operation}");
    }
    for name in document["components"]["schemas"].as_object().expect("schemas").keys() {
        assert!(once.contains(&format!("type-{name}").as_str()), "{name}");
    }
    for link in between(&page, "href=\"#", '"') {
        assert!(once.contains(&link), "#{link} leads nowhere");
    }
    for call in between(&page, "<pre class=\"copied\">curl", '<') {
        assert!(!call.split('\'').next().expect("an address").contains('{'), "{call}");
    }
    // The page is light: it has no script, and less text than the document.
    page.hides("<script");
    assert!(
        page.len() < service.get("/openapi.json").await.text.len(),
        "{}",
        page.len()
    );
}

#[tokio::test]
async fn the_description_is_used_without_scripts() {
    let service = Service::start().await;
    let browser = Browser::start(Scripts::Off).await;
    browser.open(&service.url("/docs/")).await;
    browser.click("#tag-entries ~ .operation > summary").await;
    eventually(PATIENCE, "the operation is shown", async || {
        let text = browser.text("#tag-entries ~ .operation pre.copied").await?;
        text.starts_with("curl").then_some(())
    })
    .await;
}

/// The calls of the page work as they stand there.
#[tokio::test]
async fn the_calls_of_the_description_work() {
    let service = Service::start().await;
    let page = http_client()
        .get(service.url("/docs/"))
        .send()
        .await
        .expect("an answer");
    let page = page.text().await.expect("text");
    for (operation, wanted) in [
        ("put_coupon", "\"id\":\"coffee\""),
        ("put_jackpot", "\"id\":\"spring\""),
        ("make_entry", "\"entry_id\":\"round-8812-p7\""),
        ("get_meter", "\"tier\":\"grand\""),
        ("get_meter_history", "\"points\""),
    ] {
        let part = page.split(&format!(" id=\"{operation}\"")).nth(1).expect(operation);
        let call = between(part, "<pre class=\"copied\">", '<')[0]
            .replace("&quot;", "\"")
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&amp;", "&");
        let ran = Command::new("bash")
            .args(["-c", &call])
            .env("JACKPOT", service.url(""))
            .env("KEY", service.operator_key())
            .output()
            .await
            .expect("bash is there");
        let answer = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert!(answer.contains(wanted), "{call}\n{answer}");
    }
}

fn between<'a>(text: &'a str, before: &str, end: char) -> Vec<&'a str> {
    let found = text.split(before).skip(1);
    found.map(|rest| rest.split(end).next().unwrap_or_default()).collect()
}
