//! What the page shows, state by state.

use std::time::Duration;

use super::support::{SHOP, browse, link, open, open_in, room, service, service_and_redis, wait};
use crate::support::prelude::*;

#[tokio::test]
async fn who_joins_waits_and_moves_on_with_the_pass() {
    let service = service().await;
    room(&service, "way", 1, &json!({})).await;
    let first = wait(&service, "way", "ann").await;
    let link = link(&service, "way", "bob", SHOP).await;
    let second = open(&service, &link).await.location();
    assert_eq!(
        open(&service, &link).await.location(),
        second,
        "a link may be opened again: the place is the same"
    );
    second.hides("bob");
    let page = open(&service, &second).await;
    page.is_headed(200, "You are in the line");
    assert_eq!((page.shows("place"), page.shows("wait")), ("1", "not known yet"));
    page.says("<noscript><meta http-equiv=\"refresh\" content=\"3\"></noscript>");
    // The user in front is in: each request sends him on, with a pass that names him.
    let to_the_shop = open(&service, &first).await.location();
    let pass = to_the_shop
        .strip_prefix(&format!("{SHOP}&room_pass="))
        .expect("the parameters stay")
        .to_owned();
    assert_eq!(pass.split('.').count(), 3);
    // He leaves by the page's own form; the page then says so.
    let (leave, query) = first.split_once('?').expect("a token");
    let left = browse(&service, Method::POST, &format!("{leave}/leave?{query}")).await;
    assert_eq!(left.location(), first);
    let page = open(&service, &first).await;
    page.is_headed(410, "You have left the line");
    assert_eq!(page.between("<a href=\"", "\""), SHOP);
    open(&service, &second).await.location().says("&room_pass=");
}

#[tokio::test]
async fn every_answer_keeps_to_itself() {
    let service = service().await;
    room(&service, "kept", 1, &json!({})).await;
    let link = link(&service, "kept", "ann", SHOP).await;
    let joined = open(&service, &link).await;
    let let_in = open(&service, &joined.location()).await;
    let waits = open(&service, &wait(&service, "kept", "bob").await).await;
    let refused = open(&service, "/rooms/kept/wait").await;
    for page in [&joined, &let_in, &waits, &refused] {
        let policy = page.headers["content-security-policy"].to_str().expect("text");
        for part in ["default-src 'self'", "form-action 'self'", "frame-ancestors 'none'"] {
            policy.says(part);
        }
        policy.hides("unsafe");
        assert_eq!(page.headers["referrer-policy"], "no-referrer");
        assert_eq!(page.headers["cache-control"], "no-store");
        assert_eq!(page.headers["x-content-type-options"], "nosniff");
    }
    assert_eq!((let_in.text.as_str(), let_in.status), ("", StatusCode::SEE_OTHER));
    browse(&service, Method::HEAD, "/rooms/kept/wait").await.is(405);
    browse(&service, Method::DELETE, "/rooms/kept/wait").await.is(405);
}

#[tokio::test]
async fn the_page_is_in_the_language_of_its_reader_and_so_are_its_events() {
    let service = service().await;
    room(
        &service,
        "korean",
        1,
        &json!({"name": "봄 로비", "back": "https://shop.example/"}),
    )
    .await;
    let _first = wait(&service, "korean", "ann").await;
    let place = wait(&service, "korean", "bob").await;
    let page = open_in(&service, &place, "ko-KR,ko;q=0.9,en;q=0.5").await;
    page.is_headed(200, "줄을 서 있습니다");
    page.says("<html lang=\"ko\">");
    page.says("봄 로비");
    assert_eq!((page.shows("place"), page.shows("wait")), ("1", "아직 알 수 없음"));
    assert_eq!(page.headers["content-language"], "ko");
    assert_eq!(page.headers["vary"], "accept-language");
    assert!(page.text.contains("줄에서 나가기") && page.text.contains("shop.example(으)로 돌아가기"));
    let events = place.replace("/wait?", "/wait/events?");
    let mut answer = http_client()
        .get(events)
        .header("accept-language", "ko")
        .send()
        .await
        .expect("an answer");
    let first = answer.chunk().await.expect("readable").expect("an event");
    assert!(
        String::from_utf8_lossy(&first).contains("줄을 서 있습니다"),
        "{first:?}"
    );
    open_in(&service, &place, "fr, en")
        .await
        .is_headed(200, "You are in the line");
    let refused = open_in(&service, "/rooms/korean/wait", "ko").await;
    refused.is_headed(400, "올바르지 않은 링크입니다");
    refused.says("href=\"../../assets/style-");
}

#[tokio::test]
async fn before_the_opening_the_place_is_left_to_chance() {
    let service = service().await;
    room(&service, "early", 1, &json!({"opens_at": "2999-12-31T10:00:00Z"})).await;
    let page = open(&service, &wait(&service, "early", "ann").await).await;
    page.is_headed(200, "The room is not open yet");
    assert_eq!(page.shows("place"), "drawn by lot");
    assert!(
        page.shows("note")
            .starts_with("It opens on 31 December 2999 at 10:00 UTC.")
    );
}

#[tokio::test]
async fn a_line_that_does_not_move_says_so() {
    let (service, redis) = service_and_redis().await;
    room(&service, "shut", 0, &json!({})).await;
    let page = open(&service, &wait(&service, "shut", "ann").await).await;
    page.is_headed(200, "The line stands still");
    assert_eq!((page.shows("place"), page.shows("wait")), ("1", "not known yet"));
    // As after a loss of tickets.
    room(&service, "held", 1, &json!({})).await;
    redis::cmd("HSET")
        .arg("room:{held}:state")
        .arg(&["hold", "99999999999999"])
        .exec_async(&mut redis.connection().await)
        .await
        .expect("HSET");
    let place = wait(&service, "held", "ann").await;
    eventually(PATIENCE, "the page tells of the hold", async || {
        let page = open(&service, &place).await;
        page.text.contains("The line stands still for a while").then_some(())
    })
    .await;
}

#[tokio::test]
async fn who_was_away_or_in_for_too_long_is_told_and_shown_the_way_back() {
    let service = service().await;
    room(&service, "short", 1, &json!({"session_s": 600, "waiting_timeout_s": 1})).await;
    let inside = wait(&service, "short", "ann").await;
    let gone = wait(&service, "short", "bob").await;
    service
        .until("/v1/rooms/short", "bob is abandoned", |shown| shown["abandoned"] == 1)
        .await;
    let page = open(&service, &gone).await;
    page.is_headed(410, "Your place was given up");
    assert_eq!(page.between("<a href=\"", "\""), SHOP);
    open(&service, &inside).await.location().says("room_pass");
    room(&service, "brief", 1, &json!({"session_s": 1})).await;
    let place = wait(&service, "brief", "ann").await;
    let over = eventually(PATIENCE, "the session is over", async || {
        let page = open(&service, &place).await;
        (page.status != StatusCode::SEE_OTHER).then_some(page)
    })
    .await;
    over.is_headed(410, "Your time is up");
    // A new token gives a new place.
    let again = wait(&service, "brief", "ann").await;
    assert_ne!(again, place);
    open(&service, &place).await.is_headed(410, "Your time is up");
}

#[tokio::test]
async fn heavy_without_redis_the_page_tries_again_and_the_place_is_kept() {
    let (service, mut redis) = service_and_redis().await;
    room(&service, "away", 1, &json!({})).await;
    let _first = wait(&service, "away", "ann").await;
    let place = wait(&service, "away", "bob").await;
    let link = link(&service, "away", "cid", SHOP).await;
    redis.kill9();
    let (leave, query) = place.split_once('?').expect("a token");
    let leaving = format!("{leave}/leave?{query}");
    for (page, again) in [
        (open(&service, &place).await, "3".to_owned()),
        (open(&service, &link).await, "3".to_owned()),
        (
            browse(&service, Method::POST, &leaving).await,
            format!("3;url=../wait?{query}"),
        ),
    ] {
        page.is_headed(503, "The line can't be reached for now");
        assert_eq!(page.between("<meta http-equiv=\"refresh\" content=\"", "\""), again);
        assert_eq!(page.headers["retry-after"], "3");
    }
    redis.restart().await;
    let page = eventually(Duration::from_mins(1), "the page is back", async || {
        let page = open(&service, &place).await;
        (page.status == StatusCode::OK).then_some(page)
    })
    .await;
    assert_eq!(page.shows("place"), "1");
}
