//! The first steps: define from a template, try an entry, watch.

use actix_web::HttpResponse;
use actix_web::http::Method;
use actix_web::http::header::IF_NONE_MATCH;
use actix_web::web::ServiceConfig;
use jackpot_api::entry::{Entry, PrizeName};
use jackpot_ui::Words;
use jackpot_ui::money::{money, parse};
use maud::{Markup, html};
use serde_json::{Value, json};

use super::action::{self, Action, Change, REASON};
use super::define::templates;
use super::{Desk, Failure, Field, Form, Kind, Page, Posted, Section, form_routes, links};
use jackpot_api::jackpot::Jackpot;
use jackpot_kernel::http::code::Code;
use jackpot_kernel::http::page::PageBody;

pub fn routes(config: &mut ServiceConfig) {
    config
        .configure(form_routes("/console/guide", get, play))
        .configure(form_routes("/console/guide/queue", get_queue, post_queue));
}

async fn get(desk: Desk) -> Result<HttpResponse, Failure> {
    let mut form = Form::default();
    form.set("player_id", "player-7");
    form.set("stake", "1");
    shown(&desk, form, None).await
}

/// Plays one entry, as a game's back end does.
async fn play(Posted { desk, mut form }: Posted) -> Result<HttpResponse, Failure> {
    let jackpot: Jackpot = desk.get(&links::jackpot_api(form.get("jackpot"))).await?;
    let stake = parse(form.get("stake"), jackpot.currency).and_then(|stake| u64::try_from(stake).ok());
    let Some(stake) = stake else {
        let digits = u64::from(jackpot.currency.digits());
        form.refuse("stake", desk.words.tv("form-amount", [("digits", digits.into())]));
        return shown(&desk, form, None).await;
    };
    let body = json!({ "entry_id": form.get("entry_id"), "player_id": form.get("player_id"), "stake": stake });
    let path = format!("{}/entries", links::jackpot_api(&jackpot.id));
    match desk.call::<Entry>(Method::POST, &path, Some(&body)).await {
        Ok(entry) => shown(&desk, form, Some(outcome(&desk, &jackpot, &entry))).await,
        Err(problem) => {
            form.refused_by(&problem, str::to_owned);
            shown(&desk, form, None).await
        }
    }
}

fn outcome(desk: &Desk, jackpot: &Jackpot, entry: &Entry) -> String {
    let words = desk.words;
    let outcome = match (&entry.outcome.amount, &entry.outcome.tier) {
        (Some(amount), Some(tier)) => {
            let amount = money(words.0, jackpot.currency.amount(*amount));
            words.tv("guide-played-prize", [("amount", amount.into()), ("tier", tier.into())])
        }
        _ if entry.outcome.prize == PrizeName::Coupon => words.t("guide-played-coupon"),
        _ => words.t("guide-played-nothing"),
    };
    words.tv(
        "guide-played",
        [("sequence", entry.sequence.into()), ("outcome", outcome.into())],
    )
}

/// The three steps. `played`: what the entry won.
async fn shown(desk: &Desk, mut form: Form, played: Option<String>) -> Result<HttpResponse, Failure> {
    let words = desk.words;
    let list: PageBody<Jackpot> = desk.get("/v1/jackpots?limit=100").await?;
    // A new id for the next entry. A form that is sent again has its own, and gets the same answer.
    form.set("entry_id", desk.new_id()?);
    let page = Page::new(Section::Guide, words.t("guide")).of_form(&form);
    let content = html! {
        p { (words.t("guide-about")) }
        (form.summary(words))
        ol.steps {
            li.stack { h2 { (words.t("guide-define")) } (templates_step(desk)) }
            li.stack { h2 { (words.t("guide-try")) } p { (words.t("guide-try-text")) }
                @if let Some(played) = played { p.note.good role="status" { (played) } }
                (try_step(desk, &list, &form)) }
            li.stack { h2 { (words.t("guide-watch")) } p { (words.t("guide-watch-text")) }
                p.row { a.button href="/console/" { (words.t("overview")) } @for jackpot in list.items.iter().take(3) {
                    a.button href=(links::jackpot(&jackpot.id)) { (jackpot.name) } } } }
        }
    };
    Ok(desk.page(&page, &content))
}

fn templates_step(desk: &Desk) -> Markup {
    let words = desk.words;
    html! {
        p { (words.t("guide-define-text")) }
        div.cards { @for (name, href) in [("single", "/console/new-jackpot?template=single"), ("tiers", "/console/new-jackpot?template=tiers"), ("queue", "/console/guide/queue")] {
            a.card href=(href) { b { (words.t(&format!("guide-{name}"))) } span { (words.t(&format!("guide-{name}-text"))) } }
        } }
    }
}

fn try_step(desk: &Desk, list: &PageBody<Jackpot>, form: &Form) -> Markup {
    let words = desk.words;
    if list.items.is_empty() {
        return html! { p.empty { (words.t("guide-try-none")) } };
    }
    let jackpots: Vec<_> = list
        .items
        .iter()
        .map(|jackpot| (jackpot.id.to_string(), jackpot.name.clone()))
        .collect();
    html! {
        @if desk.may_operate() {
            form.panel.stack method="post" action="/console/guide" {
                (desk.form_token())
                input type="hidden" name="entry_id" value=(form.get("entry_id"));
                div.fields {
                    (Field::new("jackpot", &words.t("jackpot"), Kind::Choice(&jackpots)).of(form))
                    (Field::new("player_id", &words.t("player"), Kind::Text).of(form))
                    (Field::new("stake", &words.t("guide-stake"), Kind::Amount).of(form))
                }
                button.primary { (words.t("guide-try-do")) }
            }
        }
    }
}

async fn get_queue(desk: Desk) -> HttpResponse {
    let mut form = Form::default();
    form.set("id", "first-come");
    form.set("stock", "100");
    form.set("capacity", "50");
    ask_queue(&desk, &form)
}

fn queue_page(words: Words) -> Page {
    let guide = (words.t("guide"), "/console/guide".to_owned());
    Page::new(Section::Guide, words.t("guide-queue-title")).under([guide])
}

fn ask_queue(desk: &Desk, form: &Form) -> HttpResponse {
    let words = desk.words;
    let page = queue_page(words);
    let fields = html! {
        p { (words.t("guide-queue-about")) }
        div.fields {
            (Field::new("id", &words.t("guide-queue-id"), Kind::Text).of(form))
            (Field::new("stock", &words.t("guide-queue-stock"), Kind::Number).of(form))
            (Field::new("capacity", &words.t("guide-queue-capacity"), Kind::Number).of(form))
        }
    };
    action::ask(desk, page, form, "/console/guide", &fields)
}

async fn post_queue(Posted { desk, mut form }: Posted) -> Result<HttpResponse, Failure> {
    for name in ["stock", "capacity"] {
        if form.get(name).parse::<u64>().is_err() {
            form.refuse(name, desk.words.t("form-number"));
        }
    }
    if jackpot_core::ids::Id::parse(form.get("id")).is_err() {
        form.refuse("id", desk.words.t("form-id"));
    }
    if form.is_refused() {
        return Ok(ask_queue(&desk, &form));
    }
    if action::is_confirmed(&form) {
        match make_queue(&desk, &mut form).await {
            Made::All => return Ok(action::done(&desk, &links::jackpot(form.get("id")), "done-guide-queue")),
            Made::NoReason => {}
            Made::Refused => return Ok(ask_queue(&desk, &form)),
        }
    }
    Ok(preview_queue(&desk, &form))
}

enum Made {
    All,
    NoReason,
    Refused,
}

/// Makes the room, the coupon and the jackpot, in the order in which they name one another. What the first try of this
/// form made is found again by the next one, with the same content.
async fn make_queue(desk: &Desk, form: &mut Form) -> Made {
    if let Err(problem) = desk.keep_reason(form.get(REASON)).await {
        form.refused_by(&problem, str::to_owned);
        return Made::NoReason;
    }
    let (id, number) = (form.get("id").to_owned(), |name: &str| {
        form.get(name).parse::<u64>().unwrap_or(0)
    });
    let part = links::part(&id);
    let room = json!({ "capacity": number("capacity"), "session_s": 120, "waiting_timeout_s": 60 });
    let coupon = json!({ "name": id, "stock": number("stock"), "per_user": 1, "starts_at": "2026-01-01T00:00:00.000Z", "ends_at": "2100-01-01T00:00:00.000Z" });
    let wishes = [
        (format!("/v1/rooms/{part}"), room),
        (format!("/v1/coupons/{part}"), coupon),
        (format!("/v1/jackpots/{part}"), templates::queue(&id)),
    ];
    for (path, body) in wishes {
        let put = desk
            .call_if::<Value>(Method::PUT, &path, Some(&body), IF_NONE_MATCH, "*")
            .await;
        match put {
            Ok(_) => {}
            Err(problem) if problem.code == Code::PreconditionFailed && is_there(desk, &path, &body).await => {}
            Err(problem) => {
                form.refused_by(&problem, str::to_owned);
                return Made::Refused;
            }
        }
    }
    Made::All
}

/// Whether the first try of a form that was sent twice made it.
async fn is_there(desk: &Desk, path: &str, body: &Value) -> bool {
    let is_in = |found: &Value| {
        body.as_object()
            .is_some_and(|of| of.iter().all(|(name, value)| holds(&found[name], value)))
    };
    desk.ask::<Value>(path).await.is_ok_and(|found| is_in(&found))
}

/// Whether an answer says what was put: it has defaults beside it.
fn holds(found: &Value, put: &Value) -> bool {
    match (found, put) {
        (Value::Object(found), Value::Object(put)) => put
            .iter()
            .all(|(name, value)| found.get(name).is_some_and(|found| holds(found, value))),
        (Value::Array(found), Value::Array(put)) => {
            found.len() == put.len() && found.iter().zip(put).all(|(found, put)| holds(found, put))
        }
        (found, put) => found == put,
    }
}

fn preview_queue(desk: &Desk, form: &Form) -> HttpResponse {
    let words = desk.words;
    let id = form.get("id");
    let made = |name: &str, after: String| Change {
        what: words.tv(name, [("id", id.into())]),
        before: words.t("nothing"),
        after,
    };
    let changes = [
        made(
            "guide-queue-room",
            format!("{} {}", words.t("guide-queue-capacity"), form.get("capacity")),
        ),
        made(
            "guide-queue-coupon",
            format!("{} {}", words.t("guide-queue-stock"), form.get("stock")),
        ),
        made("guide-queue-jackpot", words.t("status-open")),
    ];
    let action = Action {
        page: queue_page(words),
        effects: &[words.t("guide-queue-effect")],
        changes: &changes,
        button: &words.t("guide-queue-do"),
        is_final: false,
        back: "/console/guide/queue",
    };
    action.page(desk, form)
}
