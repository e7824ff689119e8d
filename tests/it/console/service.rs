//! Audit, keys, instances, and what fifty open consoles cost.

use futures_util::future::join_all;

use super::fixture::{Operator, between, bound_key, key};
use super::money::won;
use crate::support::prelude::*;

#[tokio::test]
async fn audit_shows_what_changed_who_did_it_and_why() {
    let service = Service::start().await;
    won(&service, "spring", 1).await;
    let operator = Operator::sign_in(&service).await;
    operator
        .submit(
            "/console/jackpots/spring/pause",
            &[("reason", "=a <script> & \"check\"")],
        )
        .await;
    let path = "/console/audit?action=pause&jackpot_id=spring";
    let page = eventually(PATIENCE, "the pause is in the audit trail", async || {
        let page = operator.page(path).await;
        page.text().contains("open → paused").then_some(page)
    })
    .await;
    let text = page.text();
    text.says("operator Pause spring");
    text.says("=a <script> & \"check\"");
    page.html.hides("<script> &");
    let csv = operator.page(&page.link("All as CSV")).await;
    assert_eq!(csv.html.lines().count(), 2, "{}", csv.html);
    let define = operator.page("/console/audit?action=define").await.text();
    define.says("new All of it");
    define.says("none given");
    let none = operator.page("/console/audit?who=nobody").await.text();
    none.says("Nothing fits these filters.");
    operator.get("/console/audit?jackpot_id=%3Cb%3E").await.is(422);
    let reader = Operator::sign_in_with(&service, &key(&service, "read").await).await;
    reader.page(path).await.says("open → paused");
    let bound = Operator::sign_in_with(&service, &bound_key(&service, "operate", "jackpot:other").await).await;
    bound
        .page("/console/audit")
        .await
        .says("No operator has done anything yet.");
}

#[tokio::test]
async fn audit_is_paged_by_the_cursor() {
    let service = Service::start().await;
    won(&service, "spring", 1).await;
    let operator = Operator::sign_in(&service).await;
    for n in 1..=52 {
        let adjust =
            json!({"adjustment_id": format!("a{n}"), "tier": "grand", "meter": "pool", "amount": 1, "reason": "x"});
        service.post("/v1/jackpots/spring/adjustments", adjust).await.is(201);
    }
    let first = eventually(PATIENCE, "all are in the audit trail", async || {
        let page = operator.page("/console/audit?action=adjust").await;
        page.text().contains("spring/a52").then_some(page)
    })
    .await;
    let second = operator.page(&first.link("rel=\"next\"")).await;
    assert!(second.text().contains("spring/a1 ") && second.text().contains("spring/a2 "));
    let back = second.link("First page");
    assert_eq!(back, "/console/audit?action=adjust");
}

#[tokio::test]
async fn a_key_is_made_by_the_command_that_the_page_wrote() {
    let service = Service::start().await;
    let operator = Operator::sign_in(&service).await;
    let wish = "/console/keys?name=game-1&role=read&only=jackpot%3Aspring%0D%0Acoupon%3Acoffee&expires=10d&codes=true";
    let page = operator.page(wish).await;
    let line = between(&page.html, "<code>jackpot key new ", "</code>");
    assert_eq!(
        line,
        "--role read --name game-1 --only jackpot:spring --only coupon:coffee --expires 10d --codes"
    );
    assert!(!operator.page("/console/keys").await.html.contains(">game-1<"));
    let arguments: Vec<_> = ["key", "new"].into_iter().chain(line.split(' ')).collect();
    let made = service.command(&arguments);
    made.done();
    let page = eventually(PATIENCE, "the key is in the table", async || {
        let page = operator.page("/console/keys").await;
        page.html.contains(">game-1<").then_some(page)
    })
    .await;
    let text = page.text();
    assert!(
        text.contains("game-1 read game-1 coupon:coffee, jackpot:spring Yes")
            || text.contains("game-1 read game-1 jackpot:spring, coupon:coffee Yes"),
        "{text}"
    );
    text.says("ends soon");
    text.says("jackpot key revoke game-1");
    let secret = String::from_utf8(made.stdout).expect("text");
    page.html.hides(secret.trim());
    operator
        .page("/console/")
        .await
        .says("The key game-1 ends within two weeks.");
    let revoked = service.command(&["key", "revoke", "game-1"]);
    revoked.done();
    eventually(PATIENCE, "the key has gone", async || {
        (!operator.page("/console/keys").await.html.contains(">game-1<")).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_wish_for_a_key_is_checked_and_writes_no_command_for_others() {
    let service = Service::start().await;
    let operator = Operator::sign_in(&service).await;
    let wrong = operator
        .get("/console/keys?name=a%27%3B+rm&role=root&only=jackpot&expires=soon&codes=true")
        .await;
    wrong.is(422);
    for field in ["name", "role", "only", "expires", "codes"] {
        assert!(wrong.html.contains(&format!("href=\"#f-{field}\"")), "{field}");
    }
    wrong.html.hides("jackpot key new");
    let taken = operator.get("/console/keys?name=operator&role=play").await;
    taken.says("There is a key of this name.");
    let reader = Operator::sign_in_with(&service, &key(&service, "read").await).await;
    let page = reader.page("/console/keys?name=x&role=operate").await;
    assert!(
        page.html.contains(">operator<") && !page.html.contains("jackpot key"),
        "{}",
        page.text()
    );
    let bound = Operator::sign_in_with(&service, &bound_key(&service, "operate", "jackpot:spring").await).await;
    let page = bound.page("/console/keys").await;
    assert!(
        !page.html.contains(">operator<") && page.text().contains("you see it alone"),
        "{}",
        page.text()
    );
    bound.get("/console/instances").await.is(403);
}

#[tokio::test]
async fn instances_are_known_to_one_another() {
    let redis = own_redis(&[]).await;
    let db = LedgerDb::postgres().await;
    let one = service_on(redis.url(), &[db.environment()]).await;
    won(&one, "spring", 1).await;
    let operator = Operator::sign_in(&one).await;
    let page = operator.page("/console/instances").await;
    let text = page.text();
    for shown in [
        "PostgreSQL ",
        "standalone: one external server",
        "primary",
        "written",
        env!("CARGO_PKG_VERSION"),
    ] {
        text.says(shown);
    }
    let name = between(&text, "Name in the ledger ", " ").to_owned();
    let mut other = service_on(redis.url(), &[db.environment()]).await;
    won(&other, "autumn", 1).await;
    // Its data directory has keys of its own.
    let there = Operator::sign_in(&other).await;
    eventually(PATIENCE, "the other instance sees the first", async || {
        let text = there.page("/console/instances").await.text();
        let own = between(&text, "Name in the ledger ", " ").to_owned();
        assert_ne!(own, name);
        text.contains(&name).then_some(())
    })
    .await;
    assert!(other.stop().await.success());
}

/// How often the API has listed the jackpots.
async fn lists(service: &Service) -> u64 {
    let text = http_client()
        .get(service.url("/metrics"))
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    let line = text.lines().find(|line| {
        line.starts_with("jackpot_http_requests_total")
            && line.contains("route=\"/v1/jackpots\"")
            && line.contains("\"GET\"")
    });
    line.and_then(|line| line.rsplit(' ').next()?.parse().ok()).unwrap_or(0)
}

#[tokio::test]
async fn fifty_open_consoles_read_the_jackpots_once_a_second_together() {
    let service = Service::start().await;
    won(&service, "spring", 1).await;
    let operator = Operator::sign_in(&service).await;
    let (before, began) = (lists(&service).await, tokio::time::Instant::now());
    for _ in 0..4 {
        let pages = join_all((0..50).map(|_| operator.page("/console/"))).await;
        assert!(pages.iter().all(|page| page.text().contains("€0.99")));
    }
    let (read, seconds) = (lists(&service).await - before, began.elapsed().as_secs());
    assert!(
        (1..=seconds + 2).contains(&read),
        "{read} readings in {seconds} s for 200 pages"
    );
    let page = operator.page("/console/").await;
    assert!(page.html.len() < 100_000, "{}", page.html.len());
}
