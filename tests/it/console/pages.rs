//! Every page, in a real browser: no barrier for anyone (axe-core), nothing wider than its screen, no request to another
//! host, no error; in light and dark, on a desk and on a phone, in English and Korean.

use std::path::{Path, PathBuf};

use super::fixture::populated;
use crate::support::browser::{Browser, Scripts};
use crate::support::prelude::*;

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
    ("transfer", "/console/jackpots/old/transfer"),
    ("transfers", "/console/jackpots/old/transfers"),
    ("held", "/console/jackpots/old/held"),
    ("gave", "/console/jackpots/old"),
    ("pause", "/console/jackpots/spring/pause"),
    ("rotate", "/console/jackpots/spring/rotate"),
    ("close", "/console/jackpots/spring/close"),
    ("payouts", "/console/payouts"),
    ("payout", "/console/payouts/{payout}"),
    ("entries", "/console/entries?player_id=player-1"),
    ("entry", "/console/jackpots/spring/entries/e1"),
    ("reverse", "/console/jackpots/spring/entries/e1/reverse"),
    ("ledger", "/console/ledger"),
    ("compared", "/console/ledger/jackpot/spring"),
    ("postings", "/console/ledger/jackpot/spring/postings"),
    ("head", "/console/ledger/jackpot/spring/head"),
    ("reports", "/console/reports?date={today}&jackpot_id=spring"),
    ("subscriptions", "/console/subscriptions"),
    ("subscription", "/console/subscriptions/accounting"),
    ("new-subscription", "/console/new-subscription"),
    ("change-subscription", "/console/subscriptions/accounting/change"),
    ("pause-subscription", "/console/subscriptions/accounting/pause"),
    ("resume-subscription", "/console/subscriptions/accounting/resume"),
    ("delete-subscription", "/console/subscriptions/accounting/delete"),
    (
        "replay",
        "/console/subscriptions/accounting/replay?subject=jackpot:spring",
    ),
    ("skip", "/console/subscriptions/accounting/skip?subject=jackpot:spring"),
    ("audit", "/console/audit"),
    ("keys", "/console/keys"),
    ("instances", "/console/instances"),
    ("emergency", "/console/emergency-stop"),
    ("commands", "/console/commands?jackpot=spring"),
    ("coupons", "/console/coupons"),
    ("coupon", "/console/coupons/coffee"),
    ("pause-coupon", "/console/coupons/coffee/pause"),
    ("close-coupon", "/console/coupons/coffee/close"),
    ("new-coupon", "/console/new-coupon"),
    ("change-coupon", "/console/coupons/coffee/change"),
    ("issues", "/console/coupons/coffee/issues"),
    ("issue", "/console/coupons/coffee/issues/r1"),
    ("void", "/console/coupons/coffee/issues/r1/void"),
    ("dead-letters", "/console/coupons/coffee/dead-letters"),
    ("redrive", "/console/coupons/coffee/redrive"),
    ("bulk", "/console/coupons/coffee/bulk"),
    ("rooms", "/console/rooms"),
    ("room", "/console/rooms/lobby"),
    ("opening", "/console/rooms/launch"),
    ("new-room", "/console/new-room"),
    ("change-room", "/console/rooms/lobby/change"),
    ("throttle", "/console/rooms/lobby/throttle"),
    ("link", "/console/rooms/lobby/link"),
];

/// Routes of the console that are no page of [`PAGES`]: a redirect, a part of a page, a file, or what is looked at apart.
const NO_PAGES: &[&str] = &[
    "/console",
    "/console/entries/one",
    "/console/live/{path:.*}",
    "/console/files/{format:json|csv|ndjson}/{path:.*}",
    "/console/sign-in",
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
    if browser.ask("return typeof window.axe").await == "undefined" {
        browser.ask(axe).await;
    }
    browser
        .ask("window.found = null; axe.run().then((found) => { window.found = found.violations; })")
        .await;
    let found = eventually(PATIENCE, "axe looks at the page", async || {
        let found = browser
            .ask("return window.found && window.found.map((one) => [one.id, one.nodes.map((node) => node.html)])")
            .await;
        found.as_array().cloned()
    });
    found.await
}

/// An address of [`PAGES`] with a payout and today's date.
pub fn filled(path: &str, payout: &str) -> String {
    let today = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
    path.replace("{payout}", payout).replace("{today}", &today)
}

/// The id of a payout that the ledger has, for `{payout}` in an address of [`PAGES`].
pub async fn a_payout(service: &Service) -> String {
    eventually(PATIENCE, "a payout is in the ledger", async || {
        let payouts = service.get("/v1/payouts?limit=1").await.body;
        payouts["items"][0]["payout_id"].as_str().map(str::to_owned)
    })
    .await
}

/// Signs in by the form.
pub async fn sign_in(browser: &Browser, service: &Service) {
    browser.open(&service.url("/console/sign-in")).await;
    browser.fill("#f-key", service.operator_key()).await;
    browser.press("Sign in").await;
}

/// Looks at the page that is open: no barrier, nothing too wide, nothing from elsewhere, no error.
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

/// The patterns of all routes that a browser opens, from the source.
fn opened() -> Vec<String> {
    let mut found = Vec::new();
    let tree = crate::house::read_tree(Path::new(env!("CARGO_MANIFEST_DIR")));
    for (_, text) in tree
        .iter()
        .filter(|(name, _)| name.starts_with("crates/pages/src/console/"))
    {
        for route in text.split(".route(").skip(1) {
            let mut parts = route.splitn(3, '"');
            let (Some(_), Some(pattern), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
                continue;
            };
            if rest
                .trim_start_matches([',', ' ', '\n'])
                .starts_with("jackpot_kernel::http::get()")
            {
                found.push(pattern.to_owned());
            }
        }
    }
    found
}

/// Whether the pattern of a route has this path.
fn covers(pattern: &str, path: &str) -> bool {
    let (pattern, path) = (pattern.split('/'), path.split('?').next().unwrap_or(path).split('/'));
    pattern.clone().count() == path.clone().count() && pattern.zip(path).all(|(a, b)| a == b || a.starts_with('{'))
}

#[test]
fn every_page_is_looked_at() {
    let patterns = opened();
    assert!(patterns.len() > NO_PAGES.len() + 20, "{patterns:?}");
    for pattern in patterns {
        let looked = NO_PAGES.contains(&pattern.as_str()) || PAGES.iter().any(|(_, path)| covers(&pattern, path));
        assert!(looked, "no page of PAGES shows {pattern}");
    }
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

/// Width of the screen and scheme: a desk and a phone, light and dark.
const SCREENS: [(u32, &str); 4] = [(1280, "light"), (1280, "dark"), (390, "dark"), (390, "light")];

/// Looks at the page that is open on each screen. It is opened once: style alone tells screens apart.
async fn look_on_each_screen(browser: &Browser, axe: &str, name: &str) {
    for (width, scheme) in SCREENS {
        browser.screen(width, 900).await;
        browser.scheme(scheme).await;
        look(browser, axe, &format!("{name} at {width} in {scheme}")).await;
        keep(browser, &format!("console-{name}"), width, scheme).await;
    }
}

#[tokio::test]
async fn every_page_is_there_for_everyone() {
    let service = Service::start().await;
    populated(&service).await;
    let payout = a_payout(&service).await;
    let browser = Browser::start(Scripts::On).await;
    let axe = axe();
    browser.open(&service.url("/console/sign-in")).await;
    look_on_each_screen(&browser, &axe, "sign-in").await;
    sign_in(&browser, &service).await;
    for (name, path) in PAGES {
        browser.open(&service.url(&filled(path, &payout))).await;
        look_on_each_screen(&browser, &axe, name).await;
    }
}

/// Keeps pictures for the docs when they are asked for (`UPDATE_IMAGES=1`): one of a light desk and one of a dark phone.
pub async fn keep(browser: &Browser, name: &str, width: u32, scheme: &str) {
    let is_kept = [(1280, "light"), (390, "dark")].contains(&(width, scheme));
    if is_kept && std::env::var_os("UPDATE_IMAGES").is_some() {
        let name = format!("{name}-{width}-{scheme}.webp");
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/images").join(name);
        std::fs::write(&path, browser.picture().await).expect("a picture can be written");
    }
}
