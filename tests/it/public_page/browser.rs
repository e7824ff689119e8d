//! The page in a real browser: for everyone, live, without scripts, and the check of an entry, also from a file.

use super::{enter, open, operate, put};
use crate::console::pages::{axe, barriers, keep, look};
use crate::support::browser::{Browser, Scripts};
use crate::support::prelude::*;

/// A jackpot with winners and a published seed, and its entries.
async fn played(service: &Service, change: &Value) -> Vec<Value> {
    put(service, "spring", change).await;
    let mut entries = Vec::new();
    for number in 0..12 {
        entries.push(enter(service, "spring", &format!("e{number}")).await);
    }
    operate(service, "spring", "fairness/rotate").await;
    eventually(PATIENCE, "winners and the seed are in the page", async || {
        let page = open(service, "/j/spring", &[]).await.html;
        (page.contains("seed shown") && page.contains("<ul class=\"winners\" id=\"winners\" data-")).then_some(())
    })
    .await;
    entries
}

/// Fills in the form and sends it; what it then says, and its steps.
async fn check(browser: &Browser, entry: &str, epoch: &str, told: &str) -> (String, String) {
    browser.fill("#check-entry", entry).await;
    browser.fill("#check-epoch", epoch).await;
    browser.choose("#check-told", told).await;
    browser
        .ask("document.getElementById('check-result').replaceChildren()")
        .await;
    browser.click("#check-form button").await;
    let said = eventually(PATIENCE, "the check says something", async || {
        browser.text("#check-result > .note").await
    })
    .await;
    let steps = browser
        .ask("return document.getElementById('check-result').textContent")
        .await;
    (said, steps.as_str().unwrap_or_default().to_owned())
}

async fn tickers(browser: &Browser) -> Vec<String> {
    let texts = browser
        .ask("return [...document.querySelectorAll('jackpot-ticker')].map((one) => one.getAttribute('aria-label') ?? '')")
        .await;
    let texts = texts.as_array().expect("texts").iter();
    texts.map(|text| text.as_str().unwrap_or_default().to_owned()).collect()
}

#[tokio::test]
async fn the_pages_are_there_for_everyone() {
    let service = Service::start().await;
    played(&service, &json!({})).await;
    put(
        &service,
        "young",
        &json!({"name": "Nobody has played", "winners": "full"}),
    )
    .await;
    let browser = Browser::start(Scripts::On).await;
    let axe = axe();
    browser.open(&service.url("/j/spring")).await;
    for language in ["en", "ko"] {
        browser.language(language).await;
        for (name, path) in [
            ("jackpot", "/j/spring"),
            ("young", "/j/young"),
            ("ticker", "/embed/spring"),
        ] {
            for (width, scheme) in [(1280, "light"), (390, "dark"), (1280, "dark"), (390, "light")] {
                let place = format!("{name} in {language} at {width} in {scheme}");
                browser.screen(width, 900).await;
                browser.scheme(scheme).await;
                browser.open(&service.url(path)).await;
                eventually(PATIENCE, "the tickers are there", async || {
                    tickers(&browser)
                        .await
                        .iter()
                        .all(|text| !text.is_empty())
                        .then_some(())
                })
                .await;
                look(&browser, &axe, &place).await;
                assert_eq!(browser.ask("return document.documentElement.lang").await, language);
                if language == "en" {
                    keep(&browser, &format!("public-{name}"), width, scheme).await;
                }
            }
        }
        browser.open(&service.url("/j/nothing")).await;
        let found = barriers(&browser, &axe).await;
        assert!(found.is_empty(), "{found:#?}");
        // The status of that page is one of its lines.
        browser.console().await;
    }
}

#[tokio::test]
async fn pools_winners_and_status_are_live() {
    let service = Service::start().await;
    played(&service, &json!({"winners": "full"})).await;
    let browser = Browser::start(Scripts::On).await;
    browser.open(&service.url("/j/spring")).await;
    for number in 100..108 {
        enter(&service, "spring", &format!("e{number}")).await;
    }
    let meter = service.get("/v1/jackpots/spring/meter").await.body;
    let wanted: Vec<_> = [("grand", 0), ("mini", 1)]
        .into_iter()
        .map(|(tier, place)| {
            let pool = meter["meters"][place]["pool"].as_u64().expect("a number");
            format!("Jackpot {tier}: €{}.{:02}", pool / 100, pool % 100)
        })
        .collect();
    eventually(PATIENCE, "the pools are those of now", async || {
        (tickers(&browser).await == wanted).then_some(())
    })
    .await;
    let newest = eventually(PATIENCE, "the ledger has the winners", async || {
        let list = service.get("/v1/jackpots/spring/winners").await.body;
        let player = list["items"][0]["player"].as_str()?.to_owned();
        player.starts_with("player-no-e10").then_some(player)
    })
    .await;
    eventually(PATIENCE, "the newest winner is first", async || {
        let first = browser.text("#winners > li:first-child b").await?;
        (first == newest).then_some(())
    })
    .await;
    // Others may still come into the ledger.
    eventually(PATIENCE, "the script makes the list as the server does", async || {
        let live = browser
            .ask("return document.getElementById('winners').innerHTML.replaceAll(' class=\"fresh\"', '')")
            .await;
        let page = open(&service, "/j/spring", &[]).await.html;
        page.contains(live.as_str()?).then_some(())
    })
    .await;
    operate(&service, "spring", "pause").await;
    eventually(PATIENCE, "the page says that it is paused", async || {
        (browser.text("#status").await? == "Paused: no plays are taken now").then_some(())
    })
    .await;
    put(&service, "spring", &json!({"winners": "off"})).await;
    eventually(PATIENCE, "the list goes away", async || {
        (browser.ask("return document.getElementById('winners-part')").await == Value::Null).then_some(())
    })
    .await;
}

#[tokio::test]
async fn without_scripts_the_page_shows_the_numbers_of_now_again_and_again() {
    let service = Service::start().await;
    put(&service, "spring", &json!({})).await;
    let browser = Browser::start(Scripts::Off).await;
    browser.open(&service.url("/j/spring")).await;
    assert_eq!(
        browser.text(".pool-of:last-child .pool").await.as_deref(),
        Some("€0.00")
    );
    assert_eq!(
        browser.text("#check-form").await.as_deref(),
        Some(""),
        "it is not shown"
    );
    let note = browser.text("#check .note").await.expect("a note");
    note.says("needs JavaScript");
    let fund = json!({"adjustment_id": "f", "tier": "mini", "meter": "pool", "amount": 4_200, "reason": "a test"});
    service.post("/v1/jackpots/spring/adjustments", fund).await.done();
    eventually(PATIENCE, "the page loads itself again", async || {
        (browser.text(".pool-of:last-child .pool").await? == "€42.00").then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_player_checks_an_entry() {
    let service = Service::start().await;
    let entries = played(&service, &json!({})).await;
    let browser = Browser::start(Scripts::On).await;
    browser.open(&service.url("/j/spring")).await;
    let fairness = service.get("/v1/jackpots/spring/fairness").await.body;
    let seed = fairness["epochs"][0]["seed"].as_str().expect("a seed");
    for entry in &entries {
        let id = entry["entry_id"].as_str().expect("an id");
        let rank = entry["outcome"]["rank"].to_string();
        let (said, steps) = check(&browser, id, "1", &rank).await;
        assert!(
            said.starts_with("An entry with this id has this outcome"),
            "{entry}: {said}"
        );
        steps.says(seed);
        steps.says(&format!("draw\\nspring\\n{id}\\n0\\n0"));
    }
    let first = entries
        .iter()
        .find(|entry| entry["draw"]["attempts"].as_array().map(Vec::len) == Some(1));
    let first = first.expect("an entry without redraws");
    let (id, rank) = (
        first["entry_id"].as_str().expect("an id"),
        first["outcome"]["rank"].as_u64(),
    );
    if rank == Some(0) {
        let (said, _) = check(&browser, id, "1", "1").await;
        said.says("can't come from this seed");
    }
    let (said, _) = check(&browser, id, "1", "").await;
    assert!(said.starts_with("The seed draws"), "{said}");
    // Another client seed, or none, is another draw: the message shows it.
    browser.fill("#check-client-seed", "mine").await;
    let (_, steps) = check(&browser, id, "1", "").await;
    steps.says(&format!("draw\\nspring\\n{id}\\n0\\n0\\nmine"));
    browser.fill("#check-client-seed", "").await;
    let (said, _) = check(&browser, id, "2", "").await;
    said.says("still secret, because the epoch is open");
    said.says("UTC");
    let (said, _) = check(&browser, id, "77", "").await;
    said.says("does not know it");
    // A seed that is not the one of the commitment.
    browser.click("#check-form summary").await;
    browser.fill("#check-seed", &"5f".repeat(32)).await;
    browser.fill("#check-commitment", &"00".repeat(32)).await;
    let (said, steps) = check(&browser, id, "1", "").await;
    assert!(
        said.contains("proves nothing") && steps.contains("They differ"),
        "{said}"
    );
    let lines = browser.console().await;
    assert!(lines.iter().all(|line| line["level"] != "SEVERE"), "{lines:#?}");
    let found = barriers(&browser, &axe()).await;
    assert!(found.is_empty(), "{found:#?}");
    browser.fill("#check-seed", seed).await;
    browser
        .fill(
            "#check-commitment",
            fairness["epochs"][0]["commitment"].as_str().expect("text"),
        )
        .await;
    let (said, _) = check(&browser, id, "1", &first["outcome"]["rank"].to_string()).await;
    assert!(
        said.starts_with("An entry with this id has this outcome: the first draw"),
        "{said}"
    );
    keep(&browser, "public-check", 1280, "light").await;
}

/// Chooses or pastes a cycle; what the check then says, and its steps.
async fn check_cycle(browser: &Browser, place: Option<usize>, pasted: &str) -> (String, String) {
    if let Some(place) = place {
        browser.choose("#check-cycle", &place.to_string()).await;
    }
    browser.fill("#check-pasted", pasted).await;
    browser
        .ask("document.getElementById('check-cycle-result').replaceChildren()")
        .await;
    browser.click("#check-cycle-form button").await;
    let said = eventually(PATIENCE, "the check says something", async || {
        browser.text("#check-cycle-result > .note").await
    })
    .await;
    let steps = browser
        .ask("return document.getElementById('check-cycle-result').textContent")
        .await;
    (said, steps.as_str().unwrap_or_default().to_owned())
}

/// `mini` must be hit by its amount, `grand` by its time. The browser computes both from the published seeds.
#[tokio::test]
async fn a_player_checks_a_cycle() {
    let service = Service::start().await;
    let tiers = json!([
        {"tier": "grand", "share_ppm": 600_000, "min_payout": 1, "must_hit_by": {"time": {"after_s": 1, "within_s": 3}}},
        {"tier": "mini", "share_ppm": 400_000, "min_payout": 1, "must_hit_by": {"amount": {"low": 100, "high": 300}}}]);
    put(
        &service,
        "spring",
        &json!({"tiers": tiers, "odds": {"total": 1, "ranks": []}}),
    )
    .await;
    let mut number = 0;
    let cycles = eventually(
        PATIENCE,
        "a pool was hit by its time and one by its amount",
        async || {
            number += 1;
            enter(&service, "spring", &format!("e{number}")).await;
            let cycles = service.get("/v1/jackpots/spring/fairness").await.body["cycles"].clone();
            let cycles = cycles.as_array().expect("cycles").clone();
            let has = |tier| cycles.iter().any(|one| one["tier"] == tier && one["seed"].is_string());
            (has("grand") && has("mini")).then_some(cycles)
        },
    )
    .await;
    let html = eventually(PATIENCE, "the page has the seeds", async || {
        let page = open(&service, "/j/spring", &[]).await.html;
        let has = |one: &Value| one["seed"].as_str().is_none_or(|seed| page.contains(seed));
        cycles.iter().all(has).then_some(page)
    })
    .await;
    assert!(html.contains("hit by its rule") && html.contains("It must be hit before it is above"));
    let browser = Browser::start(Scripts::On).await;
    browser.open(&service.url("/j/spring")).await;
    let held = "return JSON.parse(document.getElementById('check-data').textContent).cycles";
    let held = browser.ask(held).await.as_array().expect("cycles").clone();
    browser.click("#check-cycle-form summary").await;
    let (mut amounts, mut times) = (0, 0);
    for (place, one) in held.iter().enumerate() {
        let (said, steps) = check_cycle(&browser, Some(place), "").await;
        let Some(seed) = one["seed"].as_str() else {
            assert!(said.contains("still secret"), "{one}: {said}");
            continue;
        };
        assert!(said.starts_with("It is right"), "{one}: {said}");
        let kind = if one["tier"] == "grand" { "time" } else { "amount" };
        steps.says(seed);
        steps.says(&format!("{kind}\\n0"));
        amounts += u32::from(kind == "amount");
        times += u32::from(kind == "time");
    }
    assert!(amounts > 0 && times > 0, "{held:#?}");
    let mini = held.iter().find(|one| one["tier"] == "mini" && one["seed"].is_string());
    let mini = mini.expect("it was hit");
    let (said, _) = check_cycle(&browser, None, &mini.to_string()).await;
    assert!(said.starts_with("It is right"), "{said}");
    let mut forged = mini.clone();
    forged["trigger_amount"] = json!(mini["trigger_amount"].as_u64().expect("an amount") + 1);
    let (said, _) = check_cycle(&browser, None, &forged.to_string()).await;
    assert!(said.starts_with("It is wrong"), "{said}");
    forged["seed"] = json!("5f".repeat(32));
    let (said, steps) = check_cycle(&browser, None, &forged.to_string()).await;
    assert!(
        said.contains("proves nothing") && steps.contains("They differ"),
        "{said}"
    );
    let (said, _) = check_cycle(&browser, None, "{\"seed\": 1}").await;
    said.says("no cycle");
    let lines = browser.console().await;
    assert!(lines.iter().all(|line| line["level"] != "SEVERE"), "{lines:#?}");
    let found = barriers(&browser, &axe()).await;
    assert!(found.is_empty(), "{found:#?}");
}

#[tokio::test]
async fn an_epoch_and_a_definition_that_the_page_does_not_hold_are_asked_for() {
    let service = Service::start().await;
    let entries = played(&service, &json!({})).await;
    operate(&service, "spring", "pause").await;
    for redraws in 1..8 {
        put(&service, "spring", &json!({"max_redraws": redraws})).await;
    }
    for _ in 0..55 {
        operate(&service, "spring", "fairness/rotate").await;
    }
    let browser = Browser::start(Scripts::On).await;
    browser.open(&service.url("/j/spring")).await;
    let held = "const data = JSON.parse(document.getElementById('check-data').textContent);
                return [data.epochs.some((one) => one.epoch === 1), data.definitions.some((one) => one.version === 1)]";
    assert_eq!(browser.ask(held).await, json!([false, false]));
    browser.fill("#check-version", "1").await;
    for entry in &entries[..3] {
        let id = entry["entry_id"].as_str().expect("an id");
        let (said, _) = check(&browser, id, "1", &entry["outcome"]["rank"].to_string()).await;
        assert!(
            said.starts_with("An entry with this id has this outcome"),
            "{entry}: {said}"
        );
    }
}

/// The page with its files beside it, as a browser saves it.
async fn saved(service: &Service, folder: &std::path::Path) -> std::path::PathBuf {
    let mut page = open(service, "/j/spring", &[]).await.html;
    let paths: Vec<String> = page
        .split('"')
        .filter(|text| text.starts_with("/assets/"))
        .map(str::to_owned)
        .collect();
    for path in paths {
        let name = path.rsplit('/').next().expect("a name").to_owned();
        let content = open(service, &path, &[]).await.html;
        std::fs::write(folder.join(&name), content).expect("a file");
        page = page.replace(&path, &format!("./{name}"));
    }
    let file = folder.join("spring.html");
    std::fs::write(&file, page).expect("a file");
    file
}

#[tokio::test]
async fn a_saved_page_and_the_file_check_without_the_service() {
    let mut service = Service::start().await;
    let entries = played(&service, &json!({})).await;
    let folder = tempfile::tempdir().expect("a folder");
    let page = saved(&service, folder.path()).await;
    let download = open(&service, "/j/spring/check.html", &[]).await;
    assert_eq!(
        download.headers["content-disposition"],
        "attachment; filename=\"spring-draws.html\""
    );
    let policy = download.headers["content-security-policy"].to_str().expect("text");
    policy.says("script-src 'sha256-");
    policy.hides("unsafe");
    let file = folder.path().join("spring-draws.html");
    std::fs::write(&file, &download.html).expect("a file");
    service.kill9();
    let browser = Browser::start(Scripts::On).await;
    for path in [&page, &file] {
        browser.open(&format!("file://{}", path.display())).await;
        for entry in &entries[..4] {
            let id = entry["entry_id"].as_str().expect("an id");
            let (said, _) = check(&browser, id, "1", &entry["outcome"]["rank"].to_string()).await;
            assert!(
                said.starts_with("An entry with this id has this outcome"),
                "{}: {said}",
                path.display()
            );
        }
        let (said, _) = check(&browser, "e0", "2", "").await;
        said.says("still secret");
        // Before axe, which tries to read the stylesheet.
        let lines = browser.console().await;
        assert!(lines.iter().all(|line| line["level"] != "SEVERE"), "{lines:#?}");
        let found = barriers(&browser, &axe()).await;
        assert!(found.is_empty(), "{}: {found:#?}", path.display());
        browser.console().await;
    }
}

/// Over plain HTTP from another machine a browser has no Web Crypto.
#[tokio::test]
async fn without_web_crypto_the_page_says_why_and_offers_the_file() {
    let service = Service::start().await;
    put(&service, "spring", &json!({})).await;
    let browser = Browser::start(Scripts::On).await;
    browser
        .before_pages("Object.defineProperty(Crypto.prototype, 'subtle', { get: () => undefined })")
        .await;
    browser.open(&service.url("/j/spring")).await;
    let note = browser.text("#check-insecure").await.expect("a note");
    note.says("only on pages that came over https, or from a file");
    assert_eq!(
        browser.text("#check-form").await.as_deref(),
        Some(""),
        "it is not shown"
    );
    let link = "return document.querySelector('#check a[download]').getAttribute('href')";
    assert_eq!(browser.ask(link).await, "/j/spring/check.html");
}
