//! A user who waits in Chromium: with scripts, without scripts, and one who gives up.

use super::site::Site;
use super::support::{link, room, service, service_with};
use crate::console::pages;
use crate::support::browser::{Browser, Scripts};
use crate::support::prelude::*;

/// The site, and a room that sends users there.
async fn site_and_room(service: &Service, id: &str, waiting_timeout_s: u64) -> Site {
    let site = Site::open().await;
    let change = json!({"waiting_timeout_s": waiting_timeout_s, "return_origins": [site.url("")]});
    room(service, id, 1, &change).await;
    site
}

/// A jackpot behind a room.
async fn jackpot_behind(service: &Service, room: &str) {
    let jackpot = json!({
        "id": room, "name": "Behind a room", "currency": "KRW", "status": "open", "contribution": {"fixed": 1},
        "tiers": [{"tier": "grand", "share_ppm": 1_000_000, "min_payout": 100, "seed": 0, "reserve_ppm": 0,
                   "cap": null, "must_hit_by": null}],
        "odds": {"total": 1000, "ranks": []}, "room": room,
    });
    service.put(&format!("/v1/jackpots/{room}"), jackpot).await.is(201);
}

/// Plays once with this pass, as the site's back end would.
async fn play(service: &Service, room: &str, player: &str, pass: &str) -> (StatusCode, Value) {
    let answer = http_client()
        .post(service.url(&format!("/v1/jackpots/{room}/entries")))
        .bearer_auth(service.operator_key())
        .header("x-room-pass", pass)
        .json(&json!({"entry_id": "e-1", "player_id": player, "stake": 1}))
        .send()
        .await
        .expect("an answer");
    (answer.status(), answer.json().await.expect("JSON"))
}

async fn join(service: &Service, room: &str, user: &str) -> Value {
    let path = format!("/v1/rooms/{room}/tickets");
    service.post(&path, json!({"user_id": user})).await.body
}

async fn leave(service: &Service, room: &str, ticket: &Value) {
    let path = format!(
        "/v1/rooms/{room}/tickets/{}",
        ticket["ticket"].as_str().expect("a ticket")
    );
    service.call(Method::DELETE, &path, None).await.done();
}

/// Waits until the page shows this place.
async fn shows(browser: &Browser, place: &str) {
    eventually(PATIENCE, &format!("the page shows place {place}"), async || {
        (browser.text("#place").await? == place).then_some(())
    })
    .await;
}

/// The third of three users opens the page, sees the two in front go, and moves on to play automatically.
async fn a_user_waits_and_plays(scripts: Scripts, id: &str, environment: &[(&str, &str)]) {
    let service = service_with(environment).await;
    let site = site_and_room(&service, id, 60).await;
    jackpot_behind(&service, id).await;
    let (first, second) = (join(&service, id, "ann").await, join(&service, id, "bob").await);
    let link = link(&service, id, "cid", &site.url("/play?campaign=7")).await;
    let browser = Browser::start(scripts).await;
    browser.open(&service.url(&link)).await;
    shows(&browser, "2").await;
    assert_eq!(browser.title().await, "Place 2 in the line");
    let url = browser.url().await;
    assert!(url.contains("/wait?place=") && !url.contains("token="), "{url}");
    leave(&service, id, &second).await;
    shows(&browser, "1").await;
    leave(&service, id, &first).await;
    let arrived = site.url("/play?campaign=7&room_pass=");
    let pass = eventually(PATIENCE, "the user is back at the site", async || {
        browser.url().await.strip_prefix(&arrived).map(str::to_owned)
    })
    .await;
    assert_eq!(browser.text("h1").await.as_deref(), Some("Welcome"));
    let (status, answer) = play(&service, id, "bob", &pass).await;
    assert_eq!(
        (status, &answer["code"]),
        (StatusCode::FORBIDDEN, &json!("pass-required"))
    );
    let (status, answer) = play(&service, id, "cid", &pass).await;
    assert_eq!(status, StatusCode::CREATED, "{answer}");
    assert_eq!(service.get(&format!("/v1/rooms/{id}")).await.body["abandoned"], 0);
}

#[tokio::test]
async fn heavy_a_user_waits_in_a_browser_and_plays() {
    a_user_waits_and_plays(Scripts::On, "scripts", &[]).await;
}

#[tokio::test]
async fn heavy_a_user_waits_without_scripts_and_plays() {
    a_user_waits_and_plays(Scripts::Off, "plain", &[]).await;
}

#[tokio::test]
async fn heavy_a_user_whose_events_are_refused_plays_all_the_same() {
    a_user_waits_and_plays(Scripts::On, "crowded", &[("JACKPOT__HTTP__MAX_STREAMS", "0")]).await;
}

#[tokio::test]
async fn heavy_an_open_page_goes_on_behind_a_restart_of_the_service() {
    let mut service = service().await;
    let site = site_and_room(&service, "restart", 600).await;
    let first = join(&service, "restart", "ann").await;
    let link = link(&service, "restart", "bob", &site.url("/play")).await;
    let browser = Browser::start(Scripts::On).await;
    browser.open(&service.url(&link)).await;
    shows(&browser, "1").await;
    let waiting = browser.url().await;
    assert!(service.stop().await.success());
    // The page gets no news for a while, and stays as it is.
    assert!(http_client().get(&waiting).send().await.is_err());
    assert_eq!(browser.text("#place").await.as_deref(), Some("1"));
    service.restart().await;
    leave(&service, "restart", &first).await;
    eventually(PATIENCE, "the user is back at the site", async || {
        browser
            .url()
            .await
            .starts_with(&site.url("/play?room_pass="))
            .then_some(())
    })
    .await;
}

#[tokio::test]
async fn heavy_the_page_is_never_loaded_again_while_its_events_come() {
    let service = service().await;
    let site = site_and_room(&service, "still", 60).await;
    let (_first, second) = (
        join(&service, "still", "ann").await,
        join(&service, "still", "bob").await,
    );
    let link = link(&service, "still", "cid", &site.url("/play")).await;
    let browser = Browser::start(Scripts::On).await;
    browser.open(&service.url(&link)).await;
    shows(&browser, "2").await;
    browser.ask("document.body.dataset.mark = 'the same page'").await;
    leave(&service, "still", &second).await;
    shows(&browser, "1").await;
    assert_eq!(browser.ask("return document.body.dataset.mark").await, "the same page");
    assert_eq!(browser.title().await, "Place 1 in the line");
    // The policy allows the page's own style and script, and no injected script.
    let inserted = "const script = document.createElement('script'); script.textContent = 'window.bad = 1'; \
                    document.body.append(script); return [window.bad ?? null, getComputedStyle(document.querySelector('main')).borderRadius]";
    assert_eq!(browser.ask(inserted).await, json!([null, "10px"]));
}

#[tokio::test]
async fn heavy_a_user_who_gives_up_is_told_so_and_shown_the_way_back() {
    let service = service().await;
    let site = site_and_room(&service, "leave", 60).await;
    let _first = join(&service, "leave", "ann").await;
    let link = link(&service, "leave", "bob", &site.url("/play")).await;
    let browser = Browser::start(Scripts::Off).await;
    browser.narrow().await;
    browser.open(&service.url(&link)).await;
    shows(&browser, "1").await;
    let fits = "return [innerWidth, document.documentElement.scrollWidth]";
    assert_eq!(
        browser.ask(fits).await,
        json!([320, 320]),
        "nothing is wider than a small phone"
    );
    browser.click("button").await;
    eventually(PATIENCE, "the page says that the user left", async || {
        (browser.text("h1").await? == "You have left the line").then_some(())
    })
    .await;
    let room = service.get("/v1/rooms/leave").await.body;
    assert_has!(room, {"left": 1, "waiting": 0});
    browser.click("a").await;
    eventually(PATIENCE, "the user is back at the site", async || {
        (browser.url().await == site.url("/play")).then_some(())
    })
    .await;
}

#[tokio::test]
async fn heavy_the_page_is_there_for_everyone_and_its_reader() {
    let service = service().await;
    let site = site_and_room(&service, "everyone", 60).await;
    let change = json!({"name": "The spring lobby", "back": "https://shop.example/", "return_origins": [site.url("")]});
    room(&service, "everyone", 1, &change).await;
    let _first = join(&service, "everyone", "ann").await;
    let browser = Browser::start(Scripts::On).await;
    let axe = pages::axe();
    browser
        .open(&service.url(&link(&service, "everyone", "bob", &site.url("/play")).await))
        .await;
    shows(&browser, "1").await;
    let place = browser.url().await;
    let refused = service.url("/rooms/everyone/wait");
    for (name, address) in [("waiting", &place), ("waiting-refused", &refused)] {
        for (width, scheme) in [(1280, "light"), (390, "dark"), (1280, "dark"), (390, "light")] {
            browser.screen(width, 900).await;
            browser.scheme(scheme).await;
            browser.open(address).await;
            let found = pages::barriers(&browser, &axe).await;
            assert!(found.is_empty(), "{name}: {found:#?}");
            let wide = browser
                .ask("return document.documentElement.scrollWidth - innerWidth")
                .await;
            assert_eq!(wide, 0, "{name} at {width}");
            pages::keep(&browser, &format!("room-{name}"), width, scheme).await;
        }
    }
}
