//! The commands that pages show are those that work.

use std::fs;

use super::fixture::{Operator, between, bound_key, key};
use super::money::won;
use crate::support::prelude::*;

/// The arguments of the command that begins so.
fn arguments(html: &str, begin: &str) -> Vec<String> {
    let rest = between(html, &format!("<code>jackpot {begin} "), "</code>");
    begin.split(' ').chain(rest.split(' ')).map(str::to_owned).collect()
}

fn run(service: &Service, arguments: &[String]) -> String {
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    service.command(&arguments).done().words().into_owned()
}

#[tokio::test]
async fn an_export_is_made_and_verified_as_the_page_says() {
    let service = Service::start().await;
    won(&service, "spring", 5).await;
    let operator = Operator::sign_in(&service).await;
    let choose = operator.page("/console/commands").await;
    assert!(choose.text().contains("Choose a jackpot") && choose.html.contains("/console/commands?jackpot=spring"));
    let page = operator.page("/console/commands?jackpot=spring").await;
    run(&service, &arguments(&page.html, "export"));
    let file = service.data_dir().join("spring.ndjson");
    assert!(fs::metadata(&file).is_ok_and(|found| found.len() > 0));
    run(&service, &arguments(&page.html, "verify"));
    // The same file by the browser, but for the time of its head.
    let downloaded = operator.page(&page.link("Export the whole ledger")).await;
    let events = |text: &str| text.lines().count();
    assert_eq!(
        events(&downloaded.html),
        events(&fs::read_to_string(&file).expect("a file"))
    );
    page.says("Last restore never");
    operator.get("/console/commands?jackpot=none").await.is(404);
}

#[tokio::test]
async fn commands_name_the_settings_of_the_service_and_who_may_only_look_gets_none_that_write() {
    let data = Service::directory();
    let file = data.path().join("it's mine.toml");
    fs::write(&file, "[log]\n").expect("a file");
    // The environment chooses it as the option would.
    fs::create_dir(data.path().join("config")).expect("a directory");
    fs::copy(&file, data.path().join("config/odd.toml")).expect("a file");
    let service = Service::start_in(data, &[("JACKPOT_ENV", "odd")]).await;
    won(&service, "spring", 1).await;
    let operator = Operator::sign_in(&service).await;
    let page = operator.page("/console/commands?jackpot=spring").await;
    let settings = service.data_dir().join("config/odd.toml");
    let restore = format!("jackpot restore --jackpot spring --config {}", settings.display());
    assert!(
        page.html.contains(&restore) && page.html.contains("jackpot backup"),
        "{}",
        page.text()
    );
    let reader = Operator::sign_in_with(&service, &key(&service, "read").await).await;
    let page = reader.page("/console/commands?jackpot=spring").await;
    page.html.says("jackpot export");
    page.html.hides("jackpot restore");
    page.html.hides("jackpot backup");
    let bound = Operator::sign_in_with(&service, &bound_key(&service, "operate", "jackpot:other").await).await;
    bound.get("/console/commands?jackpot=spring").await.is(403);
    let page = bound.page("/console/commands").await;
    assert!(!page.html.contains("?jackpot=spring") && !page.html.contains("jackpot backup"));
}
