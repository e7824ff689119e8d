//! Rooms: the list, one of them, its definition, its throttle, links to its waiting page.

use actix_web::HttpResponse;
use actix_web::http::Method;
use actix_web::web::{Path, ServiceConfig};
use jackpot_api::room::{JoinToken, Room, RoomStatus, Status};
use jackpot_ui::Words;
use jackpot_ui::money::grouped;
use jackpot_ui::time::time;
use maud::{Markup, html};
use serde_json::{Value, json};

use super::document::{Shape, Spec, Thing, name_of};
use super::list::{self, heads, number_heads, status, wide};
use super::{Desk, Failure, Field, Form, Kind, Page, Posted, Section, form_routes, links};
use jackpot_kernel::http::page::PageBody;

const CAPACITY: Spec = Spec::new("capacity", Shape::Number);
const RATE: Spec = Spec::new("admissions_per_minute", Shape::MaybeNumber);

/// The definition, as the API has it.
const FIELDS: &[Spec] = &[
    Spec::new("name", Shape::MaybeText),
    CAPACITY,
    RATE,
    Spec::new("session_s", Shape::Number),
    Spec::new("waiting_timeout_s", Shape::Number),
    Spec::new("opens_at", Shape::MaybeTime),
    Spec::new("back", Shape::MaybeText),
    Spec::new("return_origins", Shape::Lines),
];

const CHANGE: Thing = Thing {
    section: Section::Rooms,
    name: "room",
    fields: FIELDS,
    asked: FIELDS,
    verb: "change",
    effects,
};

const NEW: Thing = Thing { verb: "new", ..CHANGE };

/// Capacity and rate alone.
const THROTTLE: Thing = Thing {
    verb: "throttle",
    asked: &[CAPACITY, RATE],
    ..CHANGE
};

pub fn routes(config: &mut ServiceConfig) {
    config
        .route("/console/rooms", jackpot_kernel::http::get().to(list))
        .configure(form_routes("/console/new-room", ask_new, put_new))
        .configure(form_routes(
            "/console/rooms/{id}/{verb:change|throttle}",
            ask_change,
            put_change,
        ))
        .configure(form_routes("/console/rooms/{id}/link", ask_link, make_link))
        .route("/console/rooms/{id}", jackpot_kernel::http::get().to(show));
}

fn name(room: &Room) -> &str {
    room.definition.name.as_deref().unwrap_or(&room.id)
}

/// Whether it opens later. The seed is shown once the opening is in the ledger.
fn collects(room: &Room) -> bool {
    room.status == Status::Open && room.definition.opens_at.is_some() && room.seed.is_none()
}

/// The room in the API.
fn api(id: &str) -> String {
    format!("/v1/rooms/{}", links::part(id))
}

fn page_path(id: &str) -> String {
    format!("/console/rooms/{}", links::part(id))
}

/// What a definition means for users.
fn effects(words: Words, before: Option<&Value>, after: &Value) -> Vec<String> {
    let number = |value: &Value, name: &str| value[name].as_u64();
    let (capacity, rate) = (number(after, CAPACITY.name).unwrap_or(0), number(after, RATE.name));
    let of_before = |name: &str| before.and_then(|before| number(before, name)).unwrap_or(0);
    let (active, waiting) = (of_before("active"), of_before("waiting"));
    let mut effects = vec![words.t("room-effect-at-once")];
    effects.push(match capacity {
        0 => words.t("room-effect-shut"),
        _ => words.tv("room-effect-capacity", [("capacity", capacity.into())]),
    });
    if active > capacity {
        effects.push(words.tv("room-effect-over", [("active", active.into())]));
    }
    effects.push(match rate {
        Some(rate) => words.tv("room-effect-rate", [("rate", rate.into())]),
        None => words.t("room-effect-no-rate"),
    });
    if let Some(rate) = rate.filter(|rate| waiting > *rate && *rate > 0) {
        let minutes = waiting.div_ceil(rate) - 1;
        effects.push(words.tv(
            "room-effect-wait",
            [("waiting", waiting.into()), ("minutes", minutes.into())],
        ));
    }
    let opens = |value: Option<&Value>| value.map(|value| value["opens_at"].clone()).filter(|at| !at.is_null());
    if opens(Some(after)).is_some_and(|at| opens(before).is_none_or(|was| !is_same_time(&was, &at))) {
        effects.push(words.t("room-effect-opens"));
    }
    effects
}

/// The API writes milliseconds, the form does not.
fn is_same_time(one: &Value, other: &Value) -> bool {
    let plain = |value: &Value| {
        let text = value.as_str().unwrap_or_default().trim_end_matches('Z');
        text.strip_suffix(".000").unwrap_or(text).to_owned()
    };
    plain(one) == plain(other)
}

async fn list(desk: Desk) -> Result<HttpResponse, Failure> {
    let table = |list: &PageBody<Room>| table(&desk, &list.items);
    list::all(&desk, Section::Rooms, "room", table).await
}

fn table(desk: &Desk, rooms: &[Room]) -> Markup {
    let words = desk.words;
    if rooms.is_empty() {
        return html! { div.empty { p { (words.t("rooms-none")) } } };
    }
    wide(
        &words.t("rooms"),
        &html! { table {
            thead { tr {
                (heads(words, &["room", "status"]))
                (number_heads(words, &["room-inside", "room-capacity", "room-waiting", "room-rate"]))
                th scope="col" { (words.t("room-opens-at")) }
            } }
            tbody { @for room in rooms { tr {
                th scope="row" { a href=(page_path(&room.id)) { (name(room)) } br; span.id.muted { (room.id) } }
                td { (status(desk, if collects(room) { "collecting" } else { room.status.as_str() }, room.stopped.as_ref())) }
                td.number { strong { (grouped(room.active.into())) } }
                td.number { (grouped(room.definition.capacity.into())) }
                td.number { (grouped(room.waiting.into())) }
                td.number { (rate(words, room)) }
                td { @if let Some(at) = &room.definition.opens_at { (time(at)) } @else { "—" } }
            } } }
        } },
    )
}

fn rate(words: Words, room: &Room) -> String {
    let rate = room.definition.admissions_per_minute;
    rate.map_or_else(|| words.t("room-no-rate"), |rate| grouped(rate.into()))
}

async fn show(desk: Desk, id: Path<String>) -> Result<HttpResponse, Failure> {
    let whole: Value = desk.get(&api(&id)).await?;
    let room: Room = desk.parsed(&whole)?;
    let state: RoomStatus = desk.get(&format!("{}/status", api(&id))).await?;
    let words = desk.words;
    let content = html! {
        div.stack id="numbers" data-live="1000" {
            p.row { (status(&desk, state.status.as_str(), state.stopped.as_ref())) span.id.muted { (room.id) } }
            @if let Some(at) = &room.held_until { p.note.warn { (words.t("room-held")) " " (time(at)) } }
            (numbers(words, &room, &state))
        }
        section.panel { h2 { (words.t("definition")) } (CHANGE.facts(words, &whole)) }
        @if room.definition.opens_at.is_some() || state.joined.is_some() {
            section.panel { div.stack id="order" data-live="2000" { (order(words, &room, &state)) } }
        }
    };
    let page = Page::new(Section::Rooms, name_of(&whole))
        .under([trail(&desk)])
        .beside(actions(&desk, &room));
    Ok(desk.page(&page, &content))
}

/// The list, above a room.
fn trail(desk: &Desk) -> (String, String) {
    (desk.words.t("rooms"), "/console/rooms".to_owned())
}

fn actions(desk: &Desk, room: &Room) -> Option<Markup> {
    let words = desk.words;
    let here = page_path(&room.id);
    desk.may_operate().then(|| {
        html! { div.row {
            a.button href=(format!("{here}/throttle")) { (words.t("room-throttle")) }
            a.button href=(format!("{here}/change")) { (words.t("change")) }
            a.button href=(format!("{here}/link")) { (words.t("room-link")) }
        } }
    })
}

fn numbers(words: Words, room: &Room, state: &RoomStatus) -> Markup {
    let card = |name: &str, value: String| html! { div.card { b { (value) } span { (words.t(name)) } } };
    let count = |name: &str, value: u64| card(name, grouped(value.into()));
    let seconds = |value: Option<String>| value.unwrap_or_else(|| "—".to_owned());
    let mean = room
        .mean_wait_s
        .map(|mean| words.tv("room-seconds", [("value", format!("{mean:.1}").into())]));
    let eta = state
        .eta_s
        .map(|eta| words.tv("room-seconds", [("value", grouped(eta.into()).into())]));
    html! {
        div.cards {
            (card("room-inside", format!("{} / {}", grouped(room.active.into()), grouped(room.definition.capacity.into()))))
            (count("room-waiting", room.waiting))
            (card("room-rate", rate(words, room)))
            (card("room-eta", seconds(eta)))
            (card("room-mean-wait", seconds(mean)))
            (count("room-admitted", room.admitted))
            (count("room-expired", room.expired))
            (count("room-abandoned", room.abandoned))
            (count("room-left", room.left))
        }
        @if room.definition.capacity > 0 {
            p {
                label for="inside" { (words.tv("room-filled", [("active", room.active.into()), ("capacity", room.definition.capacity.into())])) }
                progress id="inside" max=(room.definition.capacity) value=(room.active.min(room.definition.capacity)) {}
            }
        }
    }
}

/// The order of those who joined before the opening, and how anybody checks it.
fn order(words: Words, room: &Room, state: &RoomStatus) -> Markup {
    let file = format!("/console/files/ndjson/rooms/{}/pre-queue", links::part(&room.id));
    let name = format!("room-{}-pre-queue.ndjson", room.id);
    html! {
        h2 { (words.t("order")) }
        p.muted { (words.t("order-about")) }
        dl.facts {
            dt { (words.t("order-nonce")) } dd { span.id { (room.nonce) } }
            dt { (words.t("order-commitment")) } dd { span.id { (room.commitment) } }
            dt { (words.t("order-seed")) } dd { @if let Some(seed) = &room.seed { span.id { (seed) } } @else { (words.t("order-no-seed")) } }
            @if let Some(joined) = state.joined { dt { (words.t("order-joined")) } dd { (grouped(joined.into())) } }
            @if let Some(sha256) = &state.sha256 { dt { (words.t("order-hash")) } dd { span.id { (sha256) } } }
        }
        @if state.joined.is_some() && room.seed.is_some() {
            p { a.button href=(file) download=(name) { (words.t("order-file")) } }
            p { (words.t("order-check")) }
            pre tabindex="0" { "jackpot verify " (name) " --commitment " (room.commitment) " --sha256 " (state.sha256.as_deref().unwrap_or_default()) }
        }
    }
}

async fn ask_new(desk: Desk) -> HttpResponse {
    NEW.ask_new(&desk, &[("session_s", "300"), ("waiting_timeout_s", "60")])
}

async fn put_new(posted: Posted) -> Result<HttpResponse, Failure> {
    NEW.post(posted, None).await
}

fn thing(verb: &str) -> Thing {
    if verb == "throttle" { THROTTLE } else { CHANGE }
}

async fn ask_change(desk: Desk, path: Path<(String, String)>) -> Result<HttpResponse, Failure> {
    thing(&path.1).ask_change(&desk, &path.0).await
}

async fn put_change(posted: Posted, path: Path<(String, String)>) -> Result<HttpResponse, Failure> {
    thing(&path.1).post(posted, Some(&path.0)).await
}

async fn ask_link(desk: Desk, id: Path<String>) -> Result<HttpResponse, Failure> {
    let room: Room = desk.get(&api(&id)).await?;
    let mut form = Form::default();
    form.set("user_id", "");
    form.set(
        "return_to",
        room.definition.return_origins.first().map_or("", String::as_str),
    );
    Ok(link(&desk, &room, &form, None))
}

async fn make_link(Posted { desk, mut form }: Posted, id: Path<String>) -> Result<HttpResponse, Failure> {
    let room: Room = desk.get(&api(&id)).await?;
    let body = json!({ "user_id": form.get("user_id"), "return_to": form.get("return_to") });
    let path = format!("{}/join-tokens", api(&id));
    let made = match desk.call::<JoinToken>(Method::POST, &path, Some(&body)).await {
        Ok(made) => Some(made),
        Err(problem) => {
            form.refused_by(&problem, str::to_owned);
            None
        }
    };
    Ok(link(&desk, &room, &form, made.as_ref()))
}

/// The form of a link. It changes nothing, so it asks for no reason: the user joins when the link is opened.
fn link(desk: &Desk, room: &Room, form: &Form, made: Option<&JoinToken>) -> HttpResponse {
    let words = desk.words;
    let here = page_path(&room.id);
    let content = html! {
        (form.summary(words))
        @if let Some(made) = made {
            section.panel.stack-small {
                p.note.good role="status" { (words.t("link-made")) " " (time(&made.expires_at)) }
                p { a.id href=(made.url) { (made.url) } }
            }
        }
        @if room.definition.return_origins.is_empty() {
            div.empty { p { (words.t("link-no-origins")) } p { a href=(format!("{here}/change")) { (words.t("change")) } } }
        } @else {
            form.panel.stack method="post" {
                (desk.form_token())
                p { (words.t("link-about")) }
                div.fields {
                    (Field::new("user_id", &words.t("link-user"), Kind::Text).of(form))
                    (Field::new("return_to", &words.t("link-return-to"), Kind::Text).hint(&room.definition.return_origins.join(", ")).of(form))
                }
                div.row { button.primary { (words.t("link-do")) } a.button href=(here) { (words.t("action-cancel")) } }
            }
        }
    };
    let title = words.tv("link-title", [("name", name(room).into())]);
    let page = Page::new(Section::Rooms, title)
        .under([trail(desk), (name(room).to_owned(), here.clone())])
        .of_form(form);
    desk.page(&page, &content)
}

#[cfg(test)]
mod tests {
    use jackpot_ui::Language;

    use super::*;

    #[test]
    fn a_throttle_says_what_it_means() {
        let before =
            json!({"active": 12, "waiting": 31, "capacity": 20, "admissions_per_minute": null, "opens_at": null});
        let after = json!({"capacity": 10, "admissions_per_minute": 10, "opens_at": null});
        let texts = effects(Language::En.words(), Some(&before), &after).join("\n");
        for part in [
            "10 users are in",
            "at most 10 users in any 60 s",
            "12 users who are in",
            "31 users",
            "3 minutes",
        ] {
            assert!(texts.contains(part), "{part} in {texts}");
        }
    }

    #[test]
    fn a_new_opening_is_told_and_the_same_is_not() {
        let at = |text: &str| json!({"capacity": 1, "opens_at": text});
        let count = |before: &Value, after: &Value| effects(Language::Ko.words(), Some(before), after).len();
        let (was, same) = (at("2026-12-01T00:00:00.000Z"), at("2026-12-01T00:00:00Z"));
        assert_eq!(count(&was, &same) + 1, count(&was, &at("2026-12-01T00:00:01Z")));
    }
}
