//! The page without a browser: what it shows, who sees it, what it costs, what is away.

use std::time::Duration;

use futures_util::future::join_all;
use reqwest::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, LINK, RETRY_AFTER, VARY};

use super::{ask, enter, metric, open, operate, put};
use crate::console::fixture::{Page, between};
use crate::support::postgres_local::PrivatePostgres;
use crate::support::prelude::*;
use crate::support::service::LIMITS;

/// The data of the script.
fn data(page: &Page) -> Value {
    let text = between(
        &page.html,
        "<script id=\"check-data\" type=\"application/json\">",
        "</script>",
    );
    serde_json::from_str(text).expect("JSON")
}

async fn with_winner(service: &Service, id: &str, change: &Value) {
    put(service, id, change).await;
    for number in 0..20 {
        enter(service, id, &format!("e{number}")).await;
    }
    operate(service, id, "fairness/rotate").await;
}

/// The page once it has what the ledger confirms.
async fn whole(service: &Service, path: &str) -> Page {
    eventually(PATIENCE, "winners and the seed are in the page", async || {
        let page = open(service, path, &[]).await;
        assert_eq!(page.status, StatusCode::OK, "{}", page.html);
        let shows = page.html.contains("<ul class=\"winners\" id=\"winners\" data") && page.html.contains("seed shown");
        shows.then_some(page)
    })
    .await
}

#[tokio::test]
async fn the_page_shows_pools_rules_winners_and_seeds() {
    let service = Service::start().await;
    with_winner(&service, "spring", &json!({})).await;
    let page = whole(&service, "/j/spring").await;
    let text = page.text();
    for shown in [
        "Spring wheel",
        "Open",
        "Every play adds €1.00 to the pools.",
        "60 % of what is added goes to this pool.",
        "10 % of that share is kept for the next start of the pool.",
        "The pool, or a share of it, pays €1.00 or more.",
        "The pool grows to €5,000.00 at most.",
        "it starts again at €20.00",
        "drawn again, up to 16 times",
        "paid in the order that the service recorded",
        "1 the whole pool grand 1 in 4",
        "2 €0.30 from the pool mini 1 in 2",
        "play…",
        "Epoch 2 · open",
        "Epoch 1 · seed shown",
    ] {
        text.says(shown);
    }
    page.html.hides("player-no-e"); // players are masked
    let meter = service.get("/v1/jackpots/spring/meter").await.body;
    let grand = meter["meters"][0]["pool"].as_u64().expect("a number");
    let shown = format!(">€{}.{:02}</jackpot-ticker>", grand / 100, grand % 100);
    page.html.says(&shown);
    let data = data(&page);
    let fairness = service.get("/v1/jackpots/spring/fairness").await.body;
    assert_eq!(data["epochs"][0]["seed"], fairness["epochs"][0]["seed"]);
    assert_eq!(data["epochs"][1]["commitment"], fairness["epochs"][1]["commitment"]);
    assert_eq!(data["definitions"][0]["odds"]["total"], 4);
}

#[tokio::test]
async fn a_page_has_no_script_or_style_of_its_own_and_a_strict_policy() {
    let service = Service::start().await;
    with_winner(
        &service,
        "spring",
        &json!({"name": "</script><img src=x onerror=alert(1)>"}),
    )
    .await;
    for path in ["/j/spring", "/embed/spring", "/j/nothing"] {
        let page = open(&service, path, &[]).await;
        let policy = page.headers[CONTENT_SECURITY_POLICY].to_str().expect("text");
        assert!(
            policy.starts_with("default-src 'self'") && !policy.contains("unsafe"),
            "{policy}"
        );
        for inline in ["<style", " style=", "onerror=alert(1)>", "javascript:"] {
            assert!(!page.html.contains(inline), "{path}: {inline}");
        }
        for script in page.html.split("<script ").skip(1) {
            let is_data = script.starts_with("id=\"check-data\" type=\"application/json\">");
            assert!(is_data || script.starts_with("src=\"/assets/"), "{script}");
        }
        for address in page
            .html
            .split("src=\"")
            .skip(1)
            .chain(page.html.split("href=\"").skip(1))
        {
            assert!(address.starts_with('/') || address.starts_with('#'), "{address}");
        }
    }
    let page = open(&service, "/j/spring", &[]).await;
    page.html
        .says("<h1>&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;</h1>");
}

#[tokio::test]
async fn the_page_with_its_files_is_small() {
    let service = Service::start().await;
    with_winner(&service, "spring", &json!({})).await;
    let page = whole(&service, "/j/spring").await;
    let mut bytes = page.html.len();
    let mut files = 0;
    for path in page.html.split('"').filter(|text| text.starts_with("/assets/")) {
        let file = open(&service, path, &[]).await;
        assert_eq!(file.status, StatusCode::OK, "{path}");
        file.headers[CACHE_CONTROL].to_str().expect("text").says("immutable");
        bytes += file.html.len();
        files += 1;
    }
    assert!(files == 6 && bytes < 100_000, "{files} files, {bytes} bytes");
}

#[tokio::test]
async fn a_private_jackpot_and_a_missing_one_are_the_same_page() {
    let service = Service::start().await;
    put(&service, "hidden", &json!({"public_meter": false})).await;
    put(&service, "later", &json!({})).await;
    open(&service, "/j/later", &[]).await.is(200);
    put(&service, "later", &json!({"public_meter": false})).await;
    for path in ["/j/{}", "/j/{}/check.html", "/embed/{}"] {
        let mut pages = Vec::new();
        for id in ["hidden", "missing", "later", "no%20id", "%3Cb%3E", "a%2Fb"] {
            let path = path.replace("{}", id);
            let page = eventually(PATIENCE, "the page is gone", async || {
                let page = open(&service, &path, &[]).await;
                (page.status == StatusCode::NOT_FOUND).then_some(page)
            })
            .await;
            assert_eq!(page.headers[CACHE_CONTROL], "no-store");
            pages.push(page.html);
        }
        assert!(pages.iter().all(|page| *page == pages[0]), "{pages:#?}");
        pages[0].says("There is no such jackpot");
    }
    let bearer = format!("Bearer {}", service.operator_key());
    open(&service, "/j/hidden", &[("authorization", &bearer)]).await.is(404); // a key opens nothing here
}

#[tokio::test]
async fn hidden_winners_leave_no_trace() {
    let service = Service::start().await;
    with_winner(&service, "spring", &json!({"winners": "off"})).await;
    let page = eventually(PATIENCE, "the seed is shown", async || {
        let page = open(&service, "/j/spring", &[]).await;
        page.html.contains("seed shown").then_some(page)
    })
    .await;
    page.html.hides("winners");
    page.html.hides("Winners");
    put(&service, "spring", &json!({"winners": "full"})).await;
    let page = whole(&service, "/j/spring").await;
    page.html.says("player-no-e");
}

#[tokio::test]
async fn a_page_speaks_the_readers_language_and_caches_may_keep_it_for_a_second() {
    let service = Service::start().await;
    put(&service, "spring", &json!({})).await;
    for (path, korean) in [
        ("/j/spring", "진행 방식"),
        ("/embed/spring", "표시하는 방법"),
        ("/j/spring/check.html", "추첨 확인"),
    ] {
        let page = open(&service, path, &[("accept-language", "ko-KR,en;q=0.5")]).await;
        assert!(
            page.html.contains(korean) && page.html.contains("<html lang=\"ko\">"),
            "{path}"
        );
        assert_eq!(page.headers["content-language"], "ko");
        assert_eq!(page.headers[CACHE_CONTROL], "public, max-age=1");
        assert_eq!(page.headers[VARY], "Accept-Language");
        assert_eq!(page.headers[CONTENT_TYPE], "text/html; charset=utf-8");
        let tag = page.headers[ETAG].to_str().expect("text");
        for method in [Method::GET, Method::HEAD] {
            let headers = [("accept-language", "ko"), ("if-none-match", tag)];
            let again = ask(&service, method, path, &headers).await;
            assert_eq!(
                (again.status, again.html.len()),
                (StatusCode::NOT_MODIFIED, 0),
                "{path}"
            );
            assert_eq!(again.headers[VARY], "Accept-Language");
        }
        let english = open(&service, path, &[("if-none-match", tag)]).await;
        assert_eq!(
            (english.status, &english.headers["content-language"]),
            (StatusCode::OK, &"en".parse().expect("text"))
        );
    }
}

#[tokio::test]
async fn many_readers_cost_one_rendering_a_second() {
    const READING: &str =
        "jackpot_http_requests_total{route=\"/v1/jackpots/{id}/fairness\",method=\"GET\",status=\"200\"}";
    // A fast machine asks more than one address may.
    let unlimited = [("JACKPOT__AUTH__PUBLIC_REQUESTS_PER_SECOND_PER_ADDRESS", "0")];
    let service = Service::start_with(&unlimited).await;
    put(&service, "spring", &json!({})).await;
    open(&service, "/j/spring", &[]).await;
    let before = metric(&service, READING).await;
    let client = http_client();
    let begun = tokio::time::Instant::now();
    let mut asked = 0.0;
    while begun.elapsed() < Duration::from_secs(2) {
        let languages = ["en", "ko"];
        let pages = (0..50).map(|number| {
            let request = client.get(service.url("/j/spring"));
            request
                .header("accept-language", languages[number % languages.len()])
                .send()
        });
        for page in join_all(pages).await {
            assert_eq!(page.expect("an answer").status(), StatusCode::OK);
            asked += 1.0;
        }
    }
    let seconds = begun.elapsed().as_secs_f64();
    let readings = metric(&service, READING).await - before;
    assert!(
        asked >= 100.0 && readings <= seconds + 1.0,
        "{readings} readings for {asked} pages in {seconds} s"
    );
}

#[tokio::test]
async fn the_newest_of_many_epochs_are_in_the_page() {
    let service = Service::start().await;
    put(&service, "spring", &json!({})).await;
    for _ in 0..205 {
        operate(&service, "spring", "fairness/rotate").await;
    }
    for _ in 0..2 {
        let page = eventually(PATIENCE, "the last epochs are there", async || {
            let page = open(&service, "/j/spring", &[]).await;
            page.html.contains("Epoch 206 · open").then_some(page)
        })
        .await;
        let data = data(&page);
        let epochs = data["epochs"].as_array().expect("epochs");
        assert_eq!((epochs.len(), &epochs[49]["epoch"]), (50, &json!(206)));
        page.html.hides("Epoch 196 ·"); // ten are in the list
        let file = open(&service, "/j/spring/check.html", &[]).await;
        assert!(self::data(&file)["epochs"].as_array().expect("epochs").len() >= 200);
        // The next reading begins at the last pages.
        operate(&service, "spring", "pause").await;
        operate(&service, "spring", "resume").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_sql_the_page_still_shows_the_pools() {
    let mut postgres = PrivatePostgres::start().await.expect("apt-get install postgresql");
    let url = postgres.url();
    let service = Service::start_with(&[&LIMITS[..], &[("JACKPOT__LEDGER__URL", &url)]].concat()).await;
    with_winner(&service, "spring", &json!({})).await;
    whole(&service, "/j/spring").await;
    postgres.stop_immediate();
    // New winners, so that the list has to be read.
    for number in 20..30 {
        enter(&service, "spring", &format!("e{number}")).await;
    }
    let pool = |page: &Page| between(&page.html, "label=\"Jackpot mini\">", "<").to_owned();
    let page = eventually(PATIENCE, "the winners can't be read", async || {
        let page = open(&service, "/j/spring", &[]).await;
        page.is(200);
        page.text()
            .contains("The list of winners can't be read now.")
            .then_some(page)
    })
    .await;
    let meter = service.get("/v1/jackpots/spring/meter").await.body;
    let mini = meter["meters"][1]["pool"].as_u64().expect("a number");
    assert_eq!(pool(&page), format!("€{}.{:02}", mini / 100, mini % 100));
    page.html.says("Epoch 2"); // commitments are in Redis too
    postgres.start_again().await;
    whole(&service, "/j/spring").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_redis_a_page_says_so_and_loads_itself_again() {
    let mut redis = own_redis(&[]).await;
    let service = service_on(redis.url(), &[]).await;
    put(&service, "spring", &json!({})).await;
    open(&service, "/j/spring", &[]).await.is(200);
    redis.kill9();
    for (language, said) in [
        ("en", "The jackpot can't be shown now"),
        ("ko", "지금은 잭팟을 표시할 수 없습니다"),
    ] {
        eventually(PATIENCE, "the page says that it can't be shown", async || {
            let page = open(&service, "/j/spring", &[("accept-language", language)]).await;
            if page.status == StatusCode::OK {
                return None;
            }
            assert_eq!(page.status, StatusCode::SERVICE_UNAVAILABLE, "{}", page.html);
            page.html.says(said);
            page.html.says("<meta http-equiv=\"refresh\"");
            assert!(page.headers.contains_key(RETRY_AFTER));
            Some(())
        })
        .await;
    }
    redis.restart().await;
    eventually(PATIENCE, "the page is back", async || {
        (open(&service, "/j/spring", &[]).await.status == StatusCode::OK).then_some(())
    })
    .await;
}

#[tokio::test]
async fn the_meter_names_the_definition_in_force() {
    let service = Service::start().await;
    put(&service, "spring", &json!({})).await;
    enter(&service, "spring", "e0").await;
    let link = async |headers: &[(&str, &str)]| {
        let page = open(&service, "/v1/jackpots/spring/meter", headers).await;
        page.headers[LINK].to_str().expect("text").to_owned()
    };
    let first = "</v1/jackpots/spring/definitions/1>; rel=\"describedby\"";
    assert_eq!(link(&[]).await, first);
    // It touches the odds, so it waits.
    put(&service, "spring", &json!({"max_redraws": 3})).await;
    let waits = service.get("/v1/jackpots/spring").await.body["pending"].is_object();
    assert!(waits);
    assert_eq!(link(&[]).await, first);
    operate(&service, "spring", "pause").await;
    put(&service, "spring", &json!({"max_redraws": 4})).await;
    let bearer = format!("Bearer {}", service.operator_key());
    let version = service.get("/v1/jackpots/spring").await.body["version"].clone();
    assert_ne!(version, 1);
    let second = format!("</v1/jackpots/spring/definitions/{version}>; rel=\"describedby\"");
    assert_eq!(link(&[("authorization", &bearer)]).await, second);
    eventually(PATIENCE, "the public meter follows", async || {
        (link(&[]).await == second).then_some(())
    })
    .await;
    let page = eventually(PATIENCE, "the page follows", async || {
        let page = open(&service, "/j/spring", &[]).await;
        page.text().contains("up to 4 times").then_some(page)
    })
    .await;
    let versions: Vec<_> = data(&page)["definitions"]
        .as_array()
        .expect("definitions")
        .iter()
        .map(|one| (one["version"].clone(), one["max_redraws"].clone()))
        .collect();
    assert_eq!(versions.first(), Some(&(version, json!(4))));
    assert_eq!(versions.last(), Some(&(json!(1), json!(16))));
}
