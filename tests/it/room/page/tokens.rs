//! Join tokens: who gets one, what it says, and which are refused.

use jackpot::room::page::claims::{PLACE, PlaceClaims};
use jackpot::room::pass;
use jackpot::room::ticket::Ticket;
use jackpot_core::clock::parse_rfc3339;

use super::support::{
    SHOP, SHOP_ORIGIN, browse, join_claims, join_token, link, open, place_of, room, service, signed, wait,
};
use crate::support::prelude::*;

/// Header and claims of a token.
fn parts(token: &str) -> (Value, Value) {
    use base64::Engine as _;
    let mut parts = token.split('.').map(|part| {
        let bytes = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(part);
        serde_json::from_slice(&bytes.expect("base64url")).unwrap_or(Value::Null)
    });
    (parts.next().expect("a header"), parts.next().expect("claims"))
}

#[tokio::test]
async fn a_token_says_who_where_until_when_and_where_to() {
    let service = service().await;
    room(&service, "said", 1, &json!({})).await;
    let answer = join_token(&service, "said", "ann", SHOP).await;
    answer.is(201);
    let token = answer.body["token"].as_str().expect("a token");
    assert_eq!(answer.body["url"], format!("/rooms/said/wait?token={token}"));
    let (header, claims) = parts(token);
    assert_has!(header, {"alg": "EdDSA", "typ": "join+jwt"});
    for (name, value) in [
        ("iss", "jackpot"),
        ("aud", "join:said"),
        ("sub", "ann"),
        ("return_to", SHOP),
    ] {
        assert_eq!(claims[name], value);
    }
    let (iat, exp) = (
        claims["iat"].as_i64().expect("a time"),
        claims["exp"].as_i64().expect("a time"),
    );
    assert_eq!(exp - iat, 120, "rooms.join_token_s");
    let expires_at = answer.body["expires_at"].as_str().expect("a time");
    assert_eq!(parse_rfc3339(expires_at), Some(exp * 1_000));
    let again = join_token(&service, "said", "ann", SHOP).await;
    assert_ne!(
        parts(again.body["token"].as_str().expect("a token")).1["jti"],
        claims["jti"]
    );
    assert_eq!(
        service.get("/v1/rooms/said").await.body["active"],
        0,
        "a token joins nobody"
    );
}

#[tokio::test]
async fn what_is_wrong_with_a_wish_is_named() {
    let service = service().await;
    room(&service, "named", 1, &json!({})).await;
    let path = "/v1/rooms/named/join-tokens";
    for (wish, field) in [
        (json!({"user_id": "a b", "return_to": SHOP}), "user_id"),
        (json!({"return_to": SHOP}), "user_id"),
        (json!({"user_id": "ann"}), "return_to"),
        (json!({"user_id": "ann", "return_to": null}), "return_to"),
        (json!({"user_id": "ann", "return_to": "/play"}), "return_to"),
        (
            json!({"user_id": "ann", "return_to": "http://shop.example"}),
            "return_to",
        ),
        (
            json!({"user_id": "ann", "return_to": "https://ann:x@shop.example"}),
            "return_to",
        ),
        (
            json!({"user_id": "ann", "return_to": "https://shop.example/#a"}),
            "return_to",
        ),
        (
            json!({"user_id": "ann", "return_to": "javascript:alert(1)"}),
            "return_to",
        ),
        (json!({"user_id": "ann", "return_to": SHOP, "ttl": 5}), "ttl"),
    ] {
        let answer = service.post(path, wish.clone()).await;
        assert_eq!(
            answer.status,
            StatusCode::UNPROCESSABLE_ENTITY,
            "{wish}: {}",
            answer.text
        );
        assert_eq!(answer.body["errors"][0]["field"], field, "{wish}: {}", answer.text);
    }
    let long = format!("https://shop.example/{}", "x".repeat(1_979));
    assert_eq!(long.len(), 2_000);
    join_token(&service, "named", "ann", &format!("{long}x")).await.is(422);
    // A token with the longest values still opens the page.
    let user = "u".repeat(64);
    let place = open(&service, &link(&service, "named", &user, &long).await)
        .await
        .location();
    assert!(
        open(&service, &place)
            .await
            .location()
            .starts_with(&format!("{long}?room_pass="))
    );
}

#[tokio::test]
async fn nobody_is_sent_to_a_site_that_the_room_does_not_list() {
    let service = service().await;
    room(&service, "sent", 1, &json!({"return_origins": []})).await;
    let refused = join_token(&service, "sent", "ann", SHOP).await;
    let errors = &refused.body["errors"];
    refused.refused(422, "invalid-request");
    assert_eq!(
        (errors.as_array().map(Vec::len), &errors[0]["field"]),
        (Some(1), &json!("return_to")),
        "{errors}"
    );
    let rule = errors[0]["message"].as_str().expect("a rule");
    rule.says(SHOP_ORIGIN);
    rule.says("PUT /v1/rooms/sent");
    // A listed origin is good at once; another port or host is another origin.
    let back = json!({"name": "Spring <lobby>", "back": "https://shop.example/start", "return_origins": [SHOP_ORIGIN]});
    room(&service, "sent", 1, &back).await;
    for other in [
        "https://shop.example:8443/",
        "https://evil.example/",
        "https://shop.example.evil.example/",
    ] {
        let refused = join_token(&service, "sent", "ann", other).await;
        assert_eq!(
            (refused.status.as_u16(), &refused.body["errors"][0]["field"]),
            (422, &json!("return_to")),
            "{other}"
        );
    }
    let joining = link(&service, "sent", "ann", SHOP).await;
    let inside = open(&service, &joining).await.location();
    assert!(open(&service, &inside).await.location().starts_with(SHOP));
    let waiting = wait(&service, "sent", "bob").await;
    let page = open(&service, &waiting).await;
    page.is_headed(200, "You are in the line");
    assert_eq!(page.between("<p class=\"room\">", "</p>"), "Spring &lt;lobby&gt;");
    assert_eq!(page.between("<a href=\"", "\""), "https://shop.example/start");
    // An origin that was taken out gets nobody any more, neither by an earlier token nor from an earlier place.
    let other = json!({"name": "Spring <lobby>", "back": "https://shop.example/start", "return_origins": ["https://other.example"]});
    room(&service, "sent", 1, &other).await;
    for address in [&joining, &inside, &waiting] {
        let page = open(&service, address).await;
        page.is_headed(403, "This link leads to a site that is not known here");
        assert_eq!(page.between("<p class=\"room\">", "</p>"), "Spring &lt;lobby&gt;");
        assert_eq!(
            page.between("<a href=\"", "\""),
            "https://shop.example/start",
            "the room's own link"
        );
        page.hides(SHOP);
    }
    browse(&service, Method::POST, &inside.replacen("/wait?", "/wait/leave?", 1))
        .await
        .is(303); // a place can be given up all the same
    open(&service, "/rooms/sent/wait")
        .await
        .is_headed(400, "This link is not valid");
    room(&service, "sent", 1, &back).await;
    assert!(
        open(&service, &waiting).await.location().starts_with(SHOP),
        "listed again"
    );
}

#[tokio::test]
async fn only_a_key_that_plays_gets_one_and_only_for_a_room() {
    let service = service().await;
    let answer = join_token(&service, "none", "ann", SHOP).await;
    answer.refused(404, "room-not-found");
    let url = service.url("/v1/rooms/none/join-tokens");
    let client = crate::support::http_client();
    let wish = json!({"user_id": "ann", "return_to": SHOP});
    let stranger = client.post(url).json(&wish).send().await.expect("an answer");
    assert_eq!(stranger.status(), StatusCode::UNAUTHORIZED);
}

/// The address is refused as an invalid link.
async fn is_no_link(service: &Service, address: &str) {
    open(service, address).await.is_headed(400, "This link is not valid");
}

#[tokio::test]
async fn no_token_is_taken_for_another() {
    let service = service().await;
    room(&service, "mine", 1, &json!({})).await;
    room(&service, "other", 1, &json!({})).await;
    let joining = link(&service, "mine", "ann", SHOP).await;
    let token = joining.split_once('=').expect("a token").1;
    let place = wait(&service, "mine", "ann").await;
    let place = place.split_once("place=").expect("a token").1;
    let ticket = service
        .post("/v1/rooms/mine/tickets", json!({"user_id": "ann"}))
        .await
        .body;
    let pass = ticket["pass"].as_str().expect("a pass");
    for address in [
        "/rooms/mine/wait".to_owned(),
        "/rooms/mine/wait?token=".to_owned(),
        "/rooms/mine/wait?token=x".to_owned(),
        format!("/rooms/mine/wait?place={token}"),
        format!("/rooms/mine/wait?token={place}"),
        format!("/rooms/mine/wait?token={pass}"),
        format!("/rooms/mine/wait?place={pass}"),
        format!("/rooms/other/wait?token={token}"),
        format!("/rooms/other/wait?place={place}"),
        format!("/rooms/mine/wait?token={token}&place={place}"),
        format!("/rooms/mine/wait?token={token}&token={token}"),
        format!("/rooms/mine/wait?token={}AAA", &token[..token.len() - 3]),
        format!("/rooms/mine/wait/events?place={token}"),
        format!("/rooms/other/wait/events?place={place}"),
    ] {
        is_no_link(&service, &address).await;
    }
    // A token of another service, or of another type although its claims would fit.
    let mut claims = join_claims("mine", 0, i64::MAX / 1_000);
    is_no_link(
        &service,
        &format!("/rooms/mine/wait?token={}", signed(pass::PASS, &claims)),
    )
    .await;
    claims.iss = "another".to_owned();
    is_no_link(
        &service,
        &format!("/rooms/mine/wait?token={}", signed(pass::JOIN, &claims)),
    )
    .await;
    let place = PlaceClaims {
        iss: "another".to_owned(),
        room: claims.room,
        jti: Ticket::random().expect("randomness"),
        return_to: claims.return_to,
    };
    is_no_link(&service, &format!("/rooms/mine/wait?place={}", signed(PLACE, &place))).await;
    // A pass does not open the page, and the page's tokens do not open a draw.
    assert_eq!(service.get("/v1/rooms/mine").await.body["active"], 1);
    // Parameters that others add to the address do no harm.
    let counted = format!("{joining}&utm_source=mail");
    open(&service, &counted).await.is(303);
}

#[tokio::test]
async fn an_old_token_joins_nobody_and_shows_the_way_back() {
    let service = service().await;
    room(&service, "late", 1, &json!({})).await;
    let now = service.get("/v1/rooms/late").await.body;
    assert_eq!(now["active"], 0);
    let old = signed(pass::JOIN, &join_claims("late", 1_000, 1_120));
    let page = open(&service, &format!("/rooms/late/wait?token={old}")).await;
    page.is_headed(410, "This link has expired");
    assert_eq!(page.between("<a href=\"", "\""), SHOP);
    assert_eq!(service.get("/v1/rooms/late").await.body["active"], 0);
    // Redis' clock is close to that of this machine.
    let soon = i64::try_from(std::time::UNIX_EPOCH.elapsed().expect("after 1970").as_secs()).expect("in range") + 60;
    let young = signed(pass::JOIN, &join_claims("late", soon - 120, soon));
    let page = open(&service, &format!("/rooms/late/wait?token={young}")).await;
    page.location().says("/rooms/late/wait?place=");
    assert_eq!(service.get("/v1/rooms/late").await.body["active"], 1);
}

#[tokio::test]
async fn a_ticket_that_is_forgotten_and_a_room_that_is_not_there_are_told_apart() {
    let service = service().await;
    room(&service, "there", 1, &json!({})).await;
    let ticket = Ticket::random().expect("randomness");
    open(&service, &place_of("there", ticket))
        .await
        .is_headed(410, "Your visit is over");
    open(&service, &place_of("gone", ticket))
        .await
        .is_headed(404, "There is no such room");
    let token = signed(pass::JOIN, &join_claims("gone", (1 << 40) - 100, 1 << 40));
    open(&service, &format!("/rooms/gone/wait?token={token}"))
        .await
        .is_headed(404, "There is no such room");
    // The service's own tokens are good for an hour at most.
    let lasting = signed(pass::JOIN, &join_claims("there", 0, 1 << 40));
    open(&service, &format!("/rooms/there/wait?token={lasting}"))
        .await
        .is_headed(400, "This link is not valid");
    open(&service, "/rooms/a%20b/wait")
        .await
        .is_headed(404, "There is no such room");
}

#[tokio::test]
async fn a_join_token_joins_once_and_once_more() {
    let service = service().await;
    room(&service, "once", 1, &json!({})).await;
    let joining = link(&service, "once", "ann", SHOP).await;
    for join in 1..=2 {
        let place = open(&service, &joining).await.location();
        // A browser that repeats its request gets the same place.
        let again = open(&service, &joining).await.location();
        assert_eq!(ticket_in(&again), ticket_in(&place));
        let room = service.get("/v1/rooms/once").await.body;
        assert_has!(room, {"active": 1, "admitted": join});
        browse(&service, Method::POST, &place.replacen("/wait?", "/wait/leave?", 1))
            .await
            .is(303);
    }
    for _ in 0..3 {
        let page = open(&service, &joining).await;
        page.is_headed(410, "This link has been used");
        assert_eq!(page.between("<a href=\"", "\""), SHOP);
    }
    let room = service.get("/v1/rooms/once").await.body;
    assert_has!(room, {"active": 0, "admitted": 2, "left": 2});
    // The next link works as before.
    let place = wait(&service, "once", "ann").await;
    assert!(open(&service, &place).await.location().starts_with(SHOP));
}

/// The ticket in the address of a place.
fn ticket_in(address: &str) -> Value {
    let token = address.split_once("place=").expect("a token").1;
    parts(token).1["jti"].clone()
}

#[tokio::test]
async fn who_leaves_too_often_has_to_wait_on_the_page_too() {
    let service = service().await;
    room(&service, "often", 1, &json!({})).await;
    for _ in 0..6 {
        let place = wait(&service, "often", "ann").await;
        browse(&service, Method::POST, &place.replacen("/wait?", "/wait/leave?", 1)).await;
    }
    let page = open(&service, &link(&service, "often", "ann", SHOP).await).await;
    page.is_headed(429, "You have left the line too often");
    let seconds: u64 = page.headers["retry-after"]
        .to_str()
        .expect("text")
        .parse()
        .expect("seconds");
    assert!((1..=11).contains(&seconds), "{seconds}");
    page.says(&format!("http-equiv=\"refresh\" content=\"{seconds}"));
    let place = wait(&service, "often", "bob").await;
    assert!(open(&service, &place).await.location().starts_with(SHOP));
}
