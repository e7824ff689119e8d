//! The ticker on other sites, in a real browser: another port is another origin.

use reqwest::header::{ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_TYPE, ETAG};

use super::{ask, enter, metric, open, put};
use crate::console::fixture::between;
use crate::room::page::site::Site;
use crate::support::browser::{Browser, Scripts};
use crate::support::prelude::*;

const STREAMS: &str = "jackpot_public_streams";

/// A page of a site with this content, which loads the ticker.
fn page(service: &Service, content: &str) -> String {
    let host = service.url("");
    // The strictest policy under which it works: no inline style, and only this host.
    let policy = format!("default-src 'none'; img-src data:; script-src {host}; connect-src {host}");
    format!(
        "<!doctype html><html lang=en><meta charset=utf-8><meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">
         <link rel=icon href=\"data:,\"><title>A site</title><script src=\"{host}/embed/ticker.js\" crossorigin defer></script><main><h1>A site</h1>{content}</main>"
    )
}

fn tag(service: &Service, attributes: &str) -> String {
    format!(
        "<jackpot-ticker src=\"{}\" jackpot=\"spring\" {attributes}></jackpot-ticker>",
        service.url("")
    )
}

/// What the tickers show, in their order.
async fn shown(browser: &Browser) -> Vec<String> {
    let all = "return [...document.querySelectorAll('jackpot-ticker')].map((one) => {
        const text = one.shadowRoot?.querySelector('span');
        const slot = text?.querySelector('slot');
        return slot ? (slot.assignedNodes({ flatten: true }).map((node) => node.textContent).join('')) : text?.textContent ?? '';
    })";
    let texts = browser.ask(all).await;
    texts
        .as_array()
        .expect("texts")
        .iter()
        .map(|text| text.as_str().unwrap_or_default().to_owned())
        .collect()
}

async fn until_shown(browser: &Browser, wanted: &[&str]) {
    eventually(PATIENCE, &format!("the tickers show {wanted:?}"), async || {
        (shown(browser).await == wanted).then_some(())
    })
    .await;
}

async fn fund(service: &Service, tier: &str, id: &str, amount: i64) {
    let body = json!({"adjustment_id": id, "tier": tier, "meter": "pool", "amount": amount, "reason": "a test"});
    service.post("/v1/jackpots/spring/adjustments", body).await.done();
}

async fn until_streams(service: &Service, wanted: u32) {
    eventually(PATIENCE, &format!("{wanted} streams are open"), async || {
        ((metric(service, STREAMS).await - f64::from(wanted)).abs() < 0.5).then_some(())
    })
    .await;
}

#[tokio::test]
async fn the_script_is_small_and_any_site_may_load_it() {
    let service = Service::start().await;
    let script = open(&service, "/embed/ticker.js", &[("origin", "https://games.example")]).await;
    script.is(200);
    assert!(script.html.len() < 10_000, "{} bytes", script.html.len());
    assert_eq!(script.headers[ACCESS_CONTROL_ALLOW_ORIGIN], "*");
    assert_eq!(script.headers["cross-origin-resource-policy"], "cross-origin");
    assert_eq!(script.headers[CACHE_CONTROL], "public, max-age=3600");
    assert!(
        script.headers[CONTENT_TYPE]
            .to_str()
            .expect("text")
            .starts_with("text/javascript")
    );
    let tag = script.headers[ETAG].to_str().expect("text");
    let again = ask(&service, Method::GET, "/embed/ticker.js", &[("if-none-match", tag)]).await;
    again.is(304);
    assert_eq!(again.headers[ACCESS_CONTROL_ALLOW_ORIGIN], "*");
}

#[tokio::test]
async fn a_site_in_origins_shows_the_pool_and_another_one_a_dash() {
    let service = Service::start().await;
    let (here, elsewhere) = (Site::open().await, Site::open().await);
    put(&service, "spring", &json!({"origins": [here.url("")]})).await;
    fund(&service, "grand", "f1", 123_456).await;
    let content = [
        tag(&service, "tier=\"grand\" locale=\"ko-KR\""),
        tag(&service, "tier=\"mini\" locale=\"de-DE\" currency=\"JPY\""),
        tag(
            &service,
            "tier=\"grand\" locale=\"en\" currency=\"GEM\" label=\"The great one\"",
        ),
    ];
    for site in [&here, &elsewhere] {
        site.show(page(&service, &content.concat()));
    }
    let browser = Browser::start(Scripts::On).await;
    browser.open(&here.url("/")).await;
    // Currency and digits are those of the meter: an attribute changes what stands beside the number.
    until_shown(&browser, &["€1,234.56", "0,00\u{a0}¥", "1,234.56 GEM"]).await;
    until_streams(&service, 1).await;
    let name = "return document.querySelectorAll('jackpot-ticker')[2].getAttribute('aria-label')";
    assert_eq!(browser.ask(name).await, "The great one: 1,234.56 GEM");
    fund(&service, "grand", "f2", 1_000).await;
    until_shown(&browser, &["€1,244.56", "0,00\u{a0}¥", "1,244.56 GEM"]).await;
    let change = "document.querySelector('jackpot-ticker').setAttribute('tier', 'mini'); document.querySelectorAll('jackpot-ticker')[1].remove()";
    browser.ask(change).await;
    until_shown(&browser, &["€0.00", "1,244.56 GEM"]).await;
    let lines: Vec<Value> = browser.console().await;
    assert!(lines.iter().all(|line| line["level"] != "SEVERE"), "{lines:#?}");
    browser.open(&elsewhere.url("/")).await;
    eventually(PATIENCE, "the browser refuses the answer", async || {
        let lines = browser.console().await;
        let text = |line: &Value| line["message"].as_str().unwrap_or_default().contains("CORS");
        lines.iter().any(text).then_some(())
    })
    .await;
    assert_eq!(shown(&browser).await, ["–", "–", "–"]);
}

#[tokio::test]
async fn it_counts_up_to_what_is_known_and_never_beyond_and_a_win_shows_at_once() {
    let service = Service::start().await;
    let site = Site::open().await;
    put(
        &service,
        "spring",
        &json!({"origins": [site.url("")], "currency": "KRW", "odds": {"total": 1, "ranks": []}}),
    )
    .await;
    fund(&service, "mini", "f0", 1_000).await;
    site.show(page(
        &service,
        &tag(&service, "tier=\"mini\" locale=\"en\" currency=\"KRW\""),
    ));
    let browser = Browser::start(Scripts::On).await;
    browser.open(&site.url("/")).await;
    until_shown(&browser, &["₩1,000"]).await;
    // Each number that it shows from here on.
    browser
        .ask(
            "window.seen = []; const text = document.querySelector('jackpot-ticker').shadowRoot.querySelector('span');
             new MutationObserver(() => window.seen.push(Number(text.textContent.replace(/[^0-9]/g, '')))).observe(text, { childList: true, characterData: true, subtree: true })",
        )
        .await;
    fund(&service, "mini", "f1", 5_000).await;
    until_shown(&browser, &["₩6,000"]).await;
    let seen = browser.ask("return window.seen").await;
    let seen: Vec<u64> = serde_json::from_value(seen).expect("numbers");
    assert!(seen.len() > 3, "it counts: {seen:?}");
    assert!(
        seen.windows(2).all(|pair| pair[0] <= pair[1]) && seen.iter().all(|value| *value <= 6_000),
        "{seen:?}"
    );
    browser.ask("window.seen.length = 0").await;
    fund(&service, "mini", "f2", -4_000).await;
    until_shown(&browser, &["₩2,000"]).await;
    assert_eq!(browser.ask("return window.seen").await, json!([2_000]));
    browser.prefers("prefers-reduced-motion", "reduce").await;
    browser.ask("window.seen.length = 0").await;
    fund(&service, "mini", "f3", 7_000).await;
    until_shown(&browser, &["₩9,000"]).await;
    assert_eq!(
        browser.ask("return window.seen").await,
        json!([9_000]),
        "without motion"
    );
}

#[tokio::test]
async fn it_survives_a_restart_and_rests_while_its_page_is_hidden() {
    let mut service = Service::start().await;
    let site = Site::open().await;
    put(&service, "spring", &json!({"origins": [site.url("")]})).await;
    site.show(page(&service, &tag(&service, "tier=\"mini\" locale=\"en\"")));
    let browser = Browser::start(Scripts::On).await;
    browser.open(&site.url("/")).await;
    until_shown(&browser, &["€0.00"]).await;
    service.kill9();
    let stale = "return document.querySelector('jackpot-ticker').hasAttribute('stale')";
    eventually(PATIENCE, "it says that its number is old", async || {
        (browser.ask(stale).await == true).then_some(())
    })
    .await;
    assert_eq!(shown(&browser).await, ["€0.00"], "the last number stays");
    service.restart().await;
    fund(&service, "mini", "f1", 100).await;
    until_shown(&browser, &["€1.00"]).await;
    assert_eq!(browser.ask(stale).await, false);
    until_streams(&service, 1).await;
    let hide = |hidden: bool| {
        format!(
            "Object.defineProperty(document, 'hidden', {{ configurable: true, value: {hidden} }}); document.dispatchEvent(new Event('visibilitychange'))"
        )
    };
    browser.ask(&hide(true)).await;
    until_streams(&service, 0).await;
    fund(&service, "mini", "f2", 100).await;
    assert_eq!(shown(&browser).await, ["€1.00"]);
    browser.ask(&hide(false)).await;
    until_shown(&browser, &["€2.00"]).await;
}

#[tokio::test]
async fn a_jackpot_that_is_no_longer_public_takes_its_number_away() {
    let service = Service::start().await;
    put(&service, "spring", &json!({})).await;
    let browser = Browser::start(Scripts::On).await;
    browser.open(&service.url("/embed/spring")).await;
    until_shown(&browser, &["€0.00"; 6]).await;
    until_streams(&service, 1).await;
    put(&service, "spring", &json!({"public_meter": false})).await;
    until_shown(&browser, &["–"; 6]).await;
    put(&service, "spring", &json!({})).await;
    until_shown(&browser, &["€0.00"; 6]).await;
}

#[test]
fn the_reference_has_every_attribute_and_style() {
    let top = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| std::fs::read_to_string(top.join(path)).expect("a file");
    let (script, page) = (
        read("crates/pages/src/public_page/ticker.js"),
        read("docs/reference/ticker.md"),
    );
    let list = between(&script, "observedAttributes = [", "]");
    let attributes = list.split(", ").map(|name| name.trim_matches('"'));
    let styles = script
        .split("var(--")
        .skip(1)
        .filter_map(|rest| rest.split([',', ')']).next());
    let names: Vec<_> = attributes
        .map(|name| format!("| `{name}` |"))
        .chain(styles.map(|name| format!("| `--{name}` |")))
        .collect();
    assert_eq!(names.len(), 14);
    for name in names {
        assert!(page.contains(&name), "docs/reference/ticker.md lacks {name}");
    }
}

/// Codes for which browsers have other digits than ISO 4217.
#[tokio::test]
async fn the_digits_are_those_of_the_service() {
    let service = Service::start().await;
    let site = Site::open().await;
    let codes = [
        ("HUF", "HUF\u{a0}123.45"),
        ("IQD", "IQD\u{a0}12.345"),
        ("ISK", "ISK\u{a0}12,345"),
        ("GEM", "12,345 GEM"),
    ];
    let mut tags = String::new();
    for (code, _) in codes {
        let id = code.to_lowercase();
        let change = json!({"origins": [site.url("")], "currency": code});
        put(&service, &id, &change).await;
        let body = json!({"adjustment_id": "f", "tier": "mini", "meter": "pool", "amount": 12_345, "reason": "a test"});
        let path = format!("/v1/jackpots/{id}/adjustments");
        service.post(&path, body).await.done();
        tags += &tag(&service, "tier=\"mini\" locale=\"en\"").replace("\"spring\"", &format!("\"{id}\""));
    }
    site.show(page(&service, &tags));
    let browser = Browser::start(Scripts::On).await;
    browser.open(&site.url("/")).await;
    until_shown(&browser, &codes.map(|(_, shown)| shown)).await;
}

/// A proxy may hold a stream back: it is open, and nothing comes.
#[tokio::test]
async fn where_a_stream_is_silent_it_polls() {
    let service = Service::start().await;
    let site = Site::open().await;
    put(&service, "spring", &json!({"origins": [site.url("")]})).await;
    site.show(page(&service, &tag(&service, "tier=\"mini\" locale=\"en\"")));
    let browser = Browser::start(Scripts::On).await;
    browser
        .before_pages(
            "window.EventSource = class extends EventTarget { close() {} };
             const later = window.setTimeout; window.setTimeout = (run, ms) => later(run, Math.min(ms, 200));",
        )
        .await;
    browser.open(&site.url("/")).await;
    until_shown(&browser, &["€0.00"]).await;
    fund(&service, "mini", "f1", 100).await;
    until_shown(&browser, &["€1.00"]).await;
}

#[tokio::test]
async fn where_streams_are_refused_it_polls() {
    let service = Service::start_with(&[("JACKPOT__HTTP__MAX_PUBLIC_STREAMS", "0")]).await;
    let site = Site::open().await;
    put(&service, "spring", &json!({"origins": [site.url("")]})).await;
    site.show(page(
        &service,
        &tag(&service, "tier=\"mini\" locale=\"en\" currency=\"EUR\""),
    ));
    let browser = Browser::start(Scripts::On).await;
    browser.open(&site.url("/")).await;
    until_shown(&browser, &["€0.00"]).await;
    enter(&service, "spring", "a").await;
    let mini = service.get("/v1/jackpots/spring/meter").await.body["meters"][1]["pool"].clone();
    let mini = mini.as_u64().expect("a number");
    until_shown(&browser, &[&format!("€{}.{:02}", mini / 100, mini % 100)]).await;
}
