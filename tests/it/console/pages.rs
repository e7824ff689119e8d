//! Every page, in a real browser: no barrier for anyone (axe-core), nothing wider than its screen, no request to another
//! host, no error; in light and dark, on a desk and on a phone, in English and Korean.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::fixture::populated;
use crate::support::browser::{Browser, Scripts};
use crate::support::service::Service;

/// Name and address of each page of the service with the data of [`populated`].
pub const PAGES: &[(&str, &str)] = &[
    ("overview", "/console/"),
    ("guide", "/console/guide"),
    ("guide-queue", "/console/guide/queue"),
    ("jackpots", "/console/jackpots"),
    ("jackpot", "/console/jackpots/spring"),
    ("define", "/console/jackpots/spring/define"),
    ("new-jackpot", "/console/new-jackpot?template=tiers"),
    ("adjust", "/console/jackpots/spring/adjust"),
    ("pause", "/console/jackpots/spring/pause"),
];

/// What looks for barriers. `scripts/install.sh test` puts it there.
pub fn axe() -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target/tools/pages/node_modules/axe-core/axe.min.js");
    std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}: run scripts/install.sh test", path.display()))
}

/// The violations on the page that the browser shows.
pub async fn barriers(browser: &Browser, axe: &str) -> Vec<Value> {
    // In the page's own world the policy would refuse it; what the driver runs is the test's own.
    browser.ask(axe).await;
    browser
        .ask("window.found = null; axe.run().then((found) => { window.found = found.violations; })")
        .await;
    let found = crate::support::eventually(crate::fault::support::PATIENCE, "axe looks at the page", async || {
        let found = browser
            .ask("return window.found && window.found.map((one) => [one.id, one.nodes.map((node) => node.html)])")
            .await;
        found.as_array().cloned()
    });
    found.await
}

/// Signs in by the form.
pub async fn sign_in(browser: &Browser, service: &Service) {
    browser.open(&service.url("/console/sign-in")).await;
    browser.fill("#f-key", service.operator_key()).await;
    browser.press("Sign in").await;
}

/// Looks at the page that is open.
pub async fn look(browser: &Browser, axe: &str, place: &str) {
    let found = barriers(browser, axe).await;
    assert!(found.is_empty(), "{place}: {found:#?}");
    let wide = browser
        .ask("return document.documentElement.scrollWidth - innerWidth")
        .await;
    assert!(
        wide.as_i64() <= Some(0),
        "{place} is {wide} pixels wider than its screen"
    );
    let hosts = "return performance.getEntriesByType('resource').map((one) => new URL(one.name).host).filter((host) => host !== location.host)";
    assert_eq!(browser.ask(hosts).await, json!([]), "{place}");
    let lines: Vec<_> = browser
        .console()
        .await
        .into_iter()
        .filter(|line| line["level"] == "SEVERE")
        .collect();
    assert!(lines.is_empty(), "{place}: {lines:#?}");
}

/// Shows that what looks for barriers finds them.
#[tokio::test]
async fn a_barrier_is_found() {
    let browser = Browser::start(Scripts::On).await;
    browser
        .open("data:text/html,<html lang=en><title>x</title><main><h1>x</h1><img src=x><input>")
        .await;
    let found = barriers(&browser, &axe()).await;
    let names: Vec<_> = found.iter().filter_map(|one| one[0].as_str()).collect();
    assert_eq!(names, ["image-alt", "label"]);
}

#[tokio::test]
async fn every_page_is_there_for_everyone() {
    let service = Service::start().await;
    populated(&service).await;
    let browser = Browser::start(Scripts::On).await;
    let axe = axe();
    browser.open(&service.url("/console/sign-in")).await;
    look(&browser, &axe, "sign-in").await;
    sign_in(&browser, &service).await;
    for (name, path) in PAGES {
        for (width, scheme) in [(1280, "light"), (390, "dark"), (1280, "dark"), (390, "light")] {
            browser.screen(width, 900).await;
            browser.scheme(scheme).await;
            browser.open(&service.url(path)).await;
            look(&browser, &axe, &format!("{name} at {width} in {scheme}")).await;
            keep(&browser, &format!("console-{name}-{width}-{scheme}.png")).await;
        }
    }
}

/// Keeps pictures for the docs when they are asked for (`UPDATE_IMAGES=1`).
pub async fn keep(browser: &Browser, name: &str) {
    if std::env::var_os("UPDATE_IMAGES").is_some() {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/images").join(name);
        std::fs::write(&path, browser.picture().await).expect("a picture can be written");
    }
}
