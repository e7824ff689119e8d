//! Signing in and out, and what must not be possible.

use reqwest::header::SET_COOKIE;

use super::fixture::{Operator, between, key, revoke, session_cookie};
use crate::support::prelude::*;

fn jackpot() -> serde_json::Value {
    json!({
        "id": "spring", "name": "Spring & <wheel>", "currency": "EUR", "contribution": {"fixed": 100},
        "tiers": [{"tier": "grand", "share_ppm": 1_000_000, "min_payout": 1}],
        "odds": {"total": 10, "ranks": []},
    })
}

#[tokio::test]
async fn a_page_needs_a_session_and_leads_back_after_it() {
    let service = Service::start().await;
    let nobody = Operator::nobody(&service);
    let page = nobody.get("/console/jackpots?cursor=a").await;
    page.is(303);
    assert_eq!(
        page.location(),
        "/console/sign-in?next=%2Fconsole%2Fjackpots%3Fcursor%3Da"
    );
    let answer = nobody.try_key(service.operator_key()).await;
    assert_eq!((answer.status, answer.location()), (StatusCode::SEE_OTHER, "/console/"));
    let cookie = answer.headers[SET_COOKIE].to_str().unwrap();
    for part in ["HttpOnly", "SameSite=Strict", "Path=/console", "Max-Age=28800"] {
        cookie.says(part);
    }
    cookie.hides("Secure");
    for next in [
        "https://evil.example/",
        "//evil.example",
        "/v1/jackpots",
        "/console/\\evil",
    ] {
        let form = nobody.get(&format!("/console/sign-in?next={next}")).await;
        assert_eq!(
            between(&form.html, "name=\"next\" value=\"", "\""),
            "/console/",
            "{next}"
        );
    }
}

#[tokio::test]
async fn wrong_keys_are_refused_and_soon_no_longer_tried() {
    let service = Service::start_with(&[("JACKPOT__AUTH__FAILED_KEYS_PER_SECOND_PER_ADDRESS", "1")]).await;
    let nobody = Operator::nobody(&service);
    let page = nobody.try_key("jpk_0000").await;
    page.is(401);
    assert!(page.text().contains("No such key") && !page.html.contains("jpk_0000"));
    let refused = eventually(PATIENCE, "the address is refused", async || {
        let page = nobody.try_key("jpk_0001").await;
        (page.status == StatusCode::TOO_MANY_REQUESTS).then_some(page)
    })
    .await;
    assert!(refused.headers.contains_key("retry-after") && refused.text().contains("Too many tries"));
    // The right key is not locked out.
    nobody.try_key(service.operator_key()).await.is(303);
}

#[tokio::test]
async fn a_play_key_opens_no_session_and_read_may_only_look() {
    let service = Service::start().await;
    let play = key(&service, "play").await;
    let page = Operator::nobody(&service).try_key(&play).await;
    page.is(403);
    service.put("/v1/jackpots/spring", jackpot()).await;
    let reader = Operator::sign_in_with(&service, &key(&service, "read").await).await;
    let page = reader.page("/console/jackpots/spring").await;
    assert!(page.html.contains("Spring &amp; &lt;wheel&gt;") && !page.html.contains("<wheel>"));
    page.html.hides("/pause");
    reader
        .submit("/console/jackpots/spring/pause", &[("reason", "curious")])
        .await
        .is(422);
    assert_eq!(service.get("/v1/jackpots/spring").await.body["status"], "open");
}

#[tokio::test]
async fn an_action_asks_for_a_reason_is_done_once_and_is_audited() {
    let service = Service::start().await;
    service.put("/v1/jackpots/spring", jackpot()).await;
    let operator = Operator::sign_in(&service).await;
    let refused = operator
        .submit("/console/jackpots/spring/pause", &[("reason", "")])
        .await;
    refused.is(422);
    refused.html.says("id=\"f-reason-error\"");
    let done = operator
        .submit("/console/jackpots/spring/pause", &[("reason", "a <check>")])
        .await;
    assert_eq!(done.location(), "/console/jackpots/spring?done=done-pause");
    operator.page(done.leads_to()).await.says("The jackpot is paused.");
    let audit = eventually(PATIENCE, "the action is in the audit trail", async || {
        let rows = service.get("/v1/audit?action=pause").await.body["items"].take();
        rows.as_array().filter(|rows| !rows.is_empty()).cloned()
    })
    .await;
    assert_has!(audit[0], {"who": "operator", "reason": "a <check>"});
}

#[tokio::test]
async fn an_adjustment_shows_what_it_changes_and_a_repeat_changes_nothing() {
    let service = Service::start().await;
    service.put("/v1/jackpots/spring", jackpot()).await;
    let operator = Operator::sign_in(&service).await;
    let path = "/console/jackpots/spring/adjust";
    let fields = [
        ("tier", "grand"),
        ("from", "outside"),
        ("to", "pool"),
        ("amount", "1,234.56"),
    ];
    operator
        .submit(
            path,
            &[("tier", "grand"), ("from", "pool"), ("to", "pool"), ("amount", "1.234")],
        )
        .await
        .is(422);
    let preview = operator.submit(path, &fields).await;
    preview.is(200);
    let text = preview.text();
    text.says("grand · Pool €0.00 €1,234.56");
    assert_eq!(service.get("/v1/jackpots/spring").await.body["meters"][0]["pool"], 0);
    for _ in 0..2 {
        let done = operator.submit_on(&preview, path, &[("reason", "launch")]).await;
        assert_eq!(
            done.location(),
            "/console/jackpots/spring?done=done-adjust",
            "{}",
            done.text()
        );
    }
    assert_eq!(
        service.get("/v1/jackpots/spring").await.body["meters"][0]["pool"],
        123_456
    );
    operator
        .submit(
            path,
            &[
                ("tier", "grand"),
                ("from", "pool"),
                ("to", "outside"),
                ("amount", "9999"),
                ("confirmed", "yes"),
                ("reason", "x"),
            ],
        )
        .await
        .is(422);
}

#[tokio::test]
async fn a_form_of_another_site_session_or_time_changes_nothing() {
    let service = Service::start().await;
    service.put("/v1/jackpots/spring", jackpot()).await;
    let operator = Operator::sign_in(&service).await;
    let path = "/console/jackpots/spring/pause";
    let own = operator.page(path).await;
    let token = between(&own.html, "name=\"form_token\" value=\"", "\"").to_owned();
    let fields = |token: &str| {
        [("form_token", token), ("confirmed", "yes"), ("reason", "forged")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec()
    };
    let other = Operator::sign_in(&service).await;
    let refused = [
        operator.send(path, fields(""), &[]).await,
        operator.send(path, fields(&"0".repeat(32)), &[]).await,
        // The token of one session is none of another.
        other.send(path, fields(&token), &[]).await,
        operator
            .send(path, fields(&token), &[("sec-fetch-site", "cross-site")])
            .await,
        operator
            .send(path, fields(&token), &[("sec-fetch-site", "same-site")])
            .await,
        operator
            .send(path, fields(&token), &[("origin", "https://evil.example")])
            .await,
    ];
    for page in refused {
        page.is(403);
    }
    assert_eq!(service.get("/v1/jackpots/spring").await.body["status"], "open");
    // Neither a key in a header nor a session's cookie works on the other's side.
    let mut bearer = Operator::nobody(&service);
    bearer.cookie = format!("jackpot_session={}", service.operator_key());
    bearer.get("/console/").await.is(303);
    operator.get("/v1/jackpots").await.is(401);
}

#[tokio::test]
async fn a_session_is_new_at_each_sign_in_and_ends_with_sign_out_or_its_key() {
    let service = Service::start().await;
    let key = key(&service, "operate").await;
    // An id that someone planted is not taken over.
    let mut planted = Operator::nobody(&service);
    planted.cookie = "jackpot_session=planted".to_owned();
    let first = session_cookie(&planted.try_key(&key).await);
    let second = session_cookie(&planted.try_key(&key).await);
    assert!(first != second && !first.contains("planted"));
    let mut operator = Operator::nobody(&service);
    operator.cookie = first;
    let page = operator.page("/console/").await;
    let token = between(&page.html, "name=\"form_token\" value=\"", "\"").to_owned();
    let left = operator
        .send("/console/sign-out", vec![("form_token".to_owned(), token)], &[])
        .await;
    assert_eq!(left.location(), "/console/sign-in");
    left.headers[SET_COOKIE].to_str().unwrap().says("Max-Age=0");
    operator.get("/console/").await.is(303);
    operator.cookie = second;
    operator.page("/console/").await;
    revoke(&service, "operate");
    eventually(PATIENCE, "the session ends with its key", async || {
        (operator.get("/console/").await.status == StatusCode::SEE_OTHER).then_some(())
    })
    .await;
}

#[tokio::test]
async fn pages_are_framed_by_nobody_and_run_nothing_of_others() {
    let service = Service::start().await;
    let operator = Operator::sign_in(&service).await;
    for path in ["/console/", "/console/sign-in", "/console/nothing"] {
        let page = operator.get(path).await;
        let policy = page
            .headers
            .get("content-security-policy")
            .map(|policy| policy.to_str().unwrap());
        if page.status == StatusCode::SEE_OTHER {
            continue;
        }
        let policy = policy.unwrap_or_else(|| panic!("{path} has a policy"));
        policy.says("default-src 'self'");
        policy.says("frame-ancestors 'none'");
        policy.hides("unsafe");
        assert!(
            !page.html.contains(" style=") && !page.html.contains(" onclick"),
            "{path}"
        );
        assert_eq!(page.headers["cache-control"], "no-store");
    }
    operator.get("/console/nothing").await.is(404);
}
