//! What others wrote stays text, wherever it is shown: names, reasons, ids in addresses, fields of forms.

use super::fixture::{Operator, populated};
use super::pages::{PAGES, a_payout, filled};
use crate::support::prelude::*;

const HOSTILE: &str = "\"'><img src=x onerror=alert(1)><script>alert(2)</script>{{3}}";

/// The text as an address writes it.
fn encoded() -> String {
    url::form_urlencoded::byte_serialize(HOSTILE.as_bytes()).collect()
}

/// Gives what the path names a name that is markup. The answer has more than the definition, so `kept` says what to keep.
async fn rename(service: &Service, path: &str, kept: &[&str]) {
    let mut definition = service.get(path).await.body;
    let fields = definition.as_object_mut().expect("a definition");
    fields.retain(|name, _| kept.contains(&name.as_str()));
    fields.insert("name".to_owned(), Value::from(HOSTILE));
    let put = service.put(path, definition).await;
    assert_eq!(put.status, StatusCode::OK, "{path}: {}", put.text);
}

/// Nothing of the text is markup: each `<` and quote of it is written as an entity, or as an address writes it.
fn is_text(html: &str, place: &str) {
    for markup in ["<img src=x", "<script>alert", "\"'>", "onerror=alert(1)>"] {
        assert!(!html.contains(markup), "{place}: {markup} in {html}");
    }
}

#[tokio::test]
async fn what_others_wrote_stays_text_on_every_page() {
    let service = Service::start().await;
    populated(&service).await;
    let room = ["capacity", "session_s", "waiting_timeout_s"];
    let jackpot = ["id", "currency", "contribution", "tiers", "odds", "public_meter"];
    rename(&service, "/v1/jackpots/spring", &jackpot).await;
    rename(
        &service,
        "/v1/coupons/coffee",
        &["stock", "per_user", "starts_at", "ends_at"],
    )
    .await;
    rename(&service, "/v1/rooms/lobby", &room).await;
    rename(&service, "/v1/rooms/launch", &[&room[..], &["opens_at"]].concat()).await;
    for verb in ["pause", "resume"] {
        service
            .post(&format!("/v1/jackpots/spring/{verb}"), json!({"reason": HOSTILE}))
            .await
            .is(200);
    }
    let operator = Operator::sign_in(&service).await;
    let payout = a_payout(&service).await;
    let hostile = encoded();
    for (name, path) in PAGES {
        let path = filled(path, &payout);
        let page = operator.page(&path).await;
        is_text(&page.html, name);
        // Each value that a page reads from its address.
        let (path, _) = path.split_once('?').unwrap_or((&path, ""));
        for field in [
            "done",
            "template",
            "jackpot",
            "jackpot_id",
            "player_id",
            "tier",
            "cursor",
            "action",
            "key",
            "from",
            "only",
            "request_id",
            "step",
            "subject",
            "language",
            "next",
        ] {
            let asked = operator.get(&format!("{path}?{field}={hostile}")).await;
            is_text(&asked.html, &format!("{name} with {field}"));
            assert!(
                !asked.location().contains(['<', '"', '\'']),
                "{name}: {}",
                asked.location()
            );
        }
    }
    let renamed = operator.page("/console/jackpots/spring").await;
    renamed.says("<img src=x onerror=alert(1)>");
    let audit = operator.page("/console/audit").await;
    audit.says("<script>alert(2)</script>");
    // What a form got comes back beside its error.
    for (path, field) in [
        ("/console/new-jackpot?template=single", "name"),
        ("/console/new-coupon", "stock"),
        ("/console/new-room", "capacity"),
        ("/console/jackpots/spring/adjust", "amount"),
        ("/console/jackpots/old/transfer", "to"),
        ("/console/jackpots/spring/pause", "reason"),
    ] {
        let answer = operator.submit(path, &[(field, HOSTILE)]).await;
        is_text(&answer.html, path);
    }
    // A name in the address that is nothing's.
    for path in ["jackpots", "coupons", "rooms", "payouts", "ledger/jackpot", "j"] {
        let page = operator.get(&format!("/console/{path}/{hostile}")).await;
        assert!(page.status.is_client_error(), "{path}: {}", page.status);
        is_text(&page.html, path);
    }
    is_text(&operator.get("/j/spring").await.html, "the page for players");
    is_text(&operator.get("/embed/spring").await.html, "the demo of the ticker");
}

/// Where a sign-in leads back to is a page of the console, whatever the address asks for.
#[tokio::test]
async fn a_sign_in_leads_nowhere_else() {
    let service = Service::start().await;
    for to in [
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example",
        "javascript:alert(1)",
        "/v1/jackpots",
    ] {
        let to: String = url::form_urlencoded::byte_serialize(to.as_bytes()).collect();
        let path = format!("/console/sign-in?next={to}");
        let form = Operator::nobody(&service).page(&path).await;
        form.html.hides("evil.example");
        form.html.hides("javascript:");
    }
}
