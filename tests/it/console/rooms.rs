//! The pages of rooms.

use super::fixture::{Operator, Page, audited, between, bound_key, key};
use crate::support::prelude::*;

const NEW: &str = "/console/new-room";
const DEFINED: [(&str, &str); 8] = [
    ("id", "lobby"),
    ("name", "The <spring> lobby"),
    ("capacity", "1,000"),
    ("admissions_per_minute", "600"),
    ("session_s", "300"),
    ("waiting_timeout_s", "60"),
    ("back", "https://shop.example/"),
    ("return_origins", "https://shop.example\nhttp://localhost:3000"),
];

async fn room(service: &Service, id: &str) -> Value {
    service.get(&format!("/v1/rooms/{id}")).await.body
}

async fn define(service: &Service, id: &str, change: &Value) {
    let mut room = json!({"capacity": 2, "session_s": 600, "waiting_timeout_s": 600});
    for (field, value) in change.as_object().expect("an object") {
        room[field] = value.clone();
    }
    service.put(&format!("/v1/rooms/{id}"), room).await.done();
}

async fn join(service: &Service, id: &str, users: usize) {
    for i in 0..users {
        let path = format!("/v1/rooms/{id}/tickets");
        service.post(&path, json!({"user_id": format!("u{i}")})).await.is(201);
    }
}

fn is_wrong(page: &Page, field: &str) {
    page.is(422);
    assert!(
        page.html.contains(&format!("id=\"f-{field}-error\"")),
        "{field}: {}",
        page.html
    );
}

#[tokio::test]
async fn a_room_is_defined_with_every_field_and_shown() {
    let service = Service::start().await;
    let operator = Operator::sign_in(&service).await;
    operator
        .page("/console/rooms")
        .await
        .says("There is no waiting room yet.");
    for (field, value) in [
        ("capacity", "many"),
        ("capacity", "1000001"),
        ("session_s", "0"),
        ("admissions_per_minute", "0"),
        ("opens_at", "soon"),
        ("back", "http://shop.example"),
        ("return_origins", "https://shop.example/path"),
        ("id", "-"),
    ] {
        let others = DEFINED.into_iter().filter(|(of, _)| *of != field);
        let fields: Vec<_> = others.chain([(field, value)]).collect();
        is_wrong(&operator.submit(NEW, &fields).await, field);
    }
    let preview = operator.submit(NEW, &DEFINED).await;
    let text = preview.text();
    for part in [
        "At most 1,000 users are in at once.",
        "at most 600 users in any 60 s.",
        "https://shop.example, http://localhost:3000",
    ] {
        text.says(part);
    }
    assert_eq!(room(&service, "lobby").await["code"], "room-not-found");
    is_wrong(&operator.submit_on(&preview, NEW, &[("reason", "")]).await, "reason");
    let done = operator.submit_on(&preview, NEW, &[("reason", "launch")]).await;
    assert_eq!(
        done.location(),
        "/console/rooms/lobby?done=done-room-new",
        "{}",
        done.text()
    );
    let defined = room(&service, "lobby").await;
    assert_has!(defined, {"capacity": 1000, "admissions_per_minute": 600, "opens_at": null,
        "return_origins": ["https://shop.example", "http://localhost:3000"]});
    let page = operator.page(done.leads_to()).await;
    assert!(page.html.contains("The &lt;spring&gt; lobby") && !page.html.contains("<spring>"));
    page.says("0 / 1,000 Inside");
    audited(&service, "room_id=lobby", "operator", "launch").await;
}

#[tokio::test]
async fn a_room_is_throttled_after_a_look_at_what_that_means() {
    let service = Service::start().await;
    let fields = json!({"name": "Lobby", "back": "https://shop.example/", "return_origins": ["https://shop.example"], "capacity": 4});
    define(&service, "lobby", &fields).await;
    join(&service, "lobby", 9).await;
    let operator = Operator::sign_in(&service).await;
    let page = operator.page("/console/rooms/lobby").await;
    page.says("4 / 4 Inside 5 Waiting");
    let path = "/console/rooms/lobby/throttle";
    let form = operator.page(path).await;
    assert!(!form.html.contains("name=\"session_s\"") && form.html.contains("name=\"capacity\""));
    let preview = operator
        .submit_on(&form, path, &[("capacity", "2"), ("admissions_per_minute", "1")])
        .await;
    let text = preview.text();
    for part in [
        "The 4 users who are in stay.",
        "The room admits at most 1 user in any 60 s.",
        "the last of the 5 users who wait now waits at least 4 minutes.",
        "Capacity 4 2",
        "Admissions per minute none 1",
    ] {
        text.says(part);
    }
    assert_eq!(room(&service, "lobby").await["capacity"], 4);
    // Another operator changes it meanwhile.
    define(&service, "lobby", &{
        let mut other = fields.clone();
        other["capacity"] = json!(3);
        other["session_s"] = json!(500);
        other
    })
    .await;
    let again = operator.submit_on(&preview, path, &[("reason", "too fast")]).await;
    again.is(422);
    again.says("Someone changed it meanwhile");
    again.says("Capacity 3 2");
    let done = operator.submit_on(&again, path, &[("reason", "too fast")]).await;
    assert_eq!(
        done.location(),
        "/console/rooms/lobby?done=done-room-throttle",
        "{}",
        done.text()
    );
    let throttled = room(&service, "lobby").await;
    assert_has!(throttled, {"capacity": 2, "admissions_per_minute": 1, "session_s": 500, "name": "Lobby",
        "version": 3}, "what the form does not ask for stays");
    assert_has!(throttled, {"active": 4, "waiting": 5}, "nobody loses a place");
    audited(&service, "room_id=lobby", "operator", "too fast").await;
    // The same form again changes nothing.
    operator.submit_on(&again, path, &[("reason", "too fast")]).await;
    assert_eq!(room(&service, "lobby").await["version"], 3);
}

#[tokio::test]
async fn an_opening_shows_its_commitment_and_later_the_list() {
    let service = Service::start().await;
    define(&service, "launch", &json!({"opens_at": "2999-01-01T00:00:00Z"})).await;
    join(&service, "launch", 3).await;
    let operator = Operator::sign_in(&service).await;
    let page = operator.page("/console/rooms/launch").await;
    let commitment = room(&service, "launch").await["commitment"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        page.html.contains(&commitment) && page.text().contains("Seed shown after the opening"),
        "{}",
        page.text()
    );
    assert!(page.text().contains("not open yet") && !page.html.contains("pre-queue.ndjson"));
    // An opening at once: the time is that of the clock that the room goes by.
    let path = "/console/rooms/launch/change";
    let form = operator.page(path).await;
    let now = service.get("/v1/rooms/launch/status").await.body["at"]
        .as_str()
        .unwrap()
        .to_owned();
    let soon = now.trim_end_matches('Z');
    let fields = [
        ("name", ""),
        ("capacity", "2"),
        ("session_s", "600"),
        ("waiting_timeout_s", "600"),
        ("opens_at", soon),
    ];
    let preview = operator.submit_on(&form, path, &fields).await;
    preview.says("by lot, under a new commitment");
    operator.submit_on(&preview, path, &[("reason", "now")]).await.is(303);
    let page = eventually(PATIENCE, "the list is there", async || {
        let page = operator.page("/console/rooms/launch").await;
        page.html.contains("pre-queue.ndjson\"").then_some(page)
    })
    .await;
    page.says("Joined before it 3");
    page.says("jackpot verify room-launch-pre-queue.ndjson");
    let file = operator.page("/console/files/ndjson/rooms/launch/pre-queue").await;
    assert_eq!(file.headers["content-type"], "application/x-ndjson");
    assert_eq!(file.html.lines().count(), 4, "{}", file.html);
}

#[tokio::test]
async fn a_link_opens_the_waiting_page_for_one_user() {
    let service = Service::start().await;
    define(&service, "lobby", &json!({})).await;
    let operator = Operator::sign_in(&service).await;
    let path = "/console/rooms/lobby/link";
    operator.page(path).await.says("The room sends users nowhere yet.");
    define(&service, "lobby", &json!({"return_origins": ["https://shop.example"]})).await;
    is_wrong(
        &operator
            .submit(path, &[("user_id", "a b"), ("return_to", "https://shop.example/")])
            .await,
        "user_id",
    );
    is_wrong(
        &operator
            .submit(path, &[("user_id", "ann"), ("return_to", "https://evil.example/")])
            .await,
        "return_to",
    );
    let made = operator
        .submit(path, &[("user_id", "ann"), ("return_to", "https://shop.example/")])
        .await;
    made.is(200);
    let link = between(&made.html, "href=\"/rooms/lobby/wait?token=", "\"");
    assert_eq!(room(&service, "lobby").await["active"], 0, "a link joins nobody");
    let opened = operator.get(&format!("/rooms/lobby/wait?token={link}")).await;
    assert!(opened.location().starts_with("?place="), "{}", opened.text());
    assert_eq!(room(&service, "lobby").await["active"], 1);
}

#[tokio::test]
async fn a_reader_sees_all_and_does_nothing_and_a_bound_key_sees_its_own() {
    let service = Service::start().await;
    define(
        &service,
        "mine",
        &json!({"name": "Mine", "return_origins": ["https://shop.example"]}),
    )
    .await;
    define(&service, "other", &json!({"name": "Other"})).await;
    let reader = Operator::sign_in_with(&service, &key(&service, "read").await).await;
    for path in ["/console/rooms", "/console/rooms/mine"] {
        let page = reader.page(path).await;
        for action in ["new-room", "/change", "/throttle", "/link"] {
            assert!(!page.html.contains(&format!("{action}\"")), "{action} on {path}");
        }
    }
    let throttle = "/console/rooms/mine/throttle";
    let fields = [("capacity", "1"), ("confirmed", "yes"), ("reason", "curious")];
    reader.submit(throttle, &fields).await.is(422);
    let link = [("user_id", "ann"), ("return_to", "https://shop.example/")];
    reader.submit("/console/rooms/mine/link", &link).await.is(422);
    assert_eq!(room(&service, "mine").await["version"], 1);
    let bound = Operator::sign_in_with(&service, &bound_key(&service, "operate", "room:mine").await).await;
    let list = bound.page("/console/rooms").await;
    assert!(list.text().contains("Mine") && !list.text().contains("Other"));
    bound.get("/console/rooms/other").await.is(403);
    let preview = bound.submit(throttle, &[("capacity", "1")]).await;
    bound.submit_on(&preview, throttle, &[("reason", "mine")]).await.is(303);
}

#[tokio::test]
async fn rooms_page_by_the_cursor_and_what_is_not_there_is_a_page() {
    let service = Service::start().await;
    for i in 0..52 {
        define(&service, &format!("room-{i:02}"), &json!({})).await;
    }
    let operator = Operator::sign_in(&service).await;
    let first = operator.page("/console/rooms").await;
    assert!(first.html.contains("room-49\"") && !first.html.contains("room-50\""));
    let second = operator.page("/console/rooms?cursor=room-49").await;
    first.html.says("/console/rooms?cursor=room-49\"");
    assert!(second.html.contains("room-51\"") && !second.html.contains("rel=\"next\""));
    for path in [
        "/console/rooms/gone",
        "/console/rooms/gone/change",
        "/console/rooms/gone/throttle",
        "/console/rooms/gone/link",
        "/console/files/ndjson/rooms/gone/pre-queue",
        "/console/files/ndjson/rooms/room-01/pre-queue",
    ] {
        let page = operator.get(path).await;
        assert_eq!(page.status, StatusCode::NOT_FOUND, "{path}: {}", page.text());
        assert!(page.html.contains("<h1>"), "{path}");
    }
}

#[tokio::test]
async fn heavy_pages_of_rooms_say_when_redis_is_away() {
    let mut redis = own_redis(&[]).await;
    let service = service_on(redis.url(), &[]).await;
    define(&service, "away", &json!({})).await;
    let operator = Operator::sign_in(&service).await;
    redis.kill9();
    for path in ["/console/rooms", "/console/rooms/away", "/console/rooms/away/throttle"] {
        let page = operator.get(path).await;
        assert_eq!(page.status, StatusCode::SERVICE_UNAVAILABLE, "{path}: {}", page.text());
    }
}
