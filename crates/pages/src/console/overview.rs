//! The first page: whether the service is well, what needs an operator, and every pool.

use actix_web::HttpResponse;
use actix_web::http::header::LOCATION;
use jackpot_api::subscription::SubscriptionState;
use jackpot_ui::Words;
use jackpot_ui::money::grouped;
use jiff::Timestamp;
use maud::{Markup, html};

use super::compared::{self, Compared};
use super::shared::Readiness;
use super::waiting::{self, Counted, Waiting};
use super::{Desk, Failure, Page, Section, api_keys, jackpots, links};
use jackpot_kernel::http::problem::{FieldError, ProblemBody};
use jackpot_kernel::subject::kinds;

/// Alarms of one sort: after a total loss there may be a thousand.
const MAX_ALARMS: usize = 20;

/// `/console` without its end.
pub async fn to_overview() -> HttpResponse {
    HttpResponse::PermanentRedirect()
        .insert_header((LOCATION, "/console/"))
        .finish()
}

pub async fn get(desk: Desk) -> Result<HttpResponse, Failure> {
    let page = Page::new(Section::Overview, desk.words.t("overview"));
    let content = html! {
        div.stack id="health" data-live="2000" { (health(&desk).await) }
        section.panel {
            h2 { (desk.words.t("jackpots")) }
            div id="jackpots" data-live="2000" { (jackpots(&desk).await) }
        }
    };
    Ok(desk.page(&page, &content))
}

async fn jackpots(desk: &Desk) -> Markup {
    match &desk.jackpots().await.value {
        Ok(list) => html! {
            (jackpots::table(desk, list))
            @if list.next_cursor.is_some() { p { a href="/console/jackpots" { (desk.words.t("jackpots-all")) } } }
        },
        Err(problem) => away(problem),
    }
}

fn away(problem: &ProblemBody) -> Markup {
    html! { p.note.bad role="alert" { (problem.title) ": " (problem.detail) } }
}

/// Whether this instance is ready, and everything that needs an operator.
async fn health(desk: &Desk) -> Markup {
    let words = desk.words;
    let readiness = desk.readiness().await;
    let state = match &readiness.value {
        Ok(state) => state,
        Err(problem) => return away(problem),
    };
    let is_ready = state.errors.is_empty();
    // Comparisons are in the ledger's database, which takes seconds to say that it is away.
    let is_up = state.told.ledger.as_ref().is_some_and(|ledger| ledger.up);
    let (told, waiting) = if is_up {
        (Some(desk.older_comparisons().await), Some(desk.waiting().await))
    } else {
        (None, None)
    };
    let compared = told.as_ref().map(|told| told.value.as_ref());
    let all = compared.and_then(Result::ok).map(Vec::as_slice).unwrap_or_default();
    let wrong: Vec<_> = all.iter().filter(|one| one.is_wrong()).collect();
    html! {
        div.cards {
            div.card { b.good[is_ready].bad[!is_ready] { @if is_ready { (words.t("overview-ready")) } @else { (words.t("overview-not-ready")) } }
                span { (words.t("overview-instance")) } }
            @if let Some(ledger) = &state.told.ledger {
                div.card { b.bad[!ledger.up] { @if ledger.up { (words.t("overview-ledger-up")) } @else { (words.t("overview-ledger-down")) } }
                    span { (words.t("overview-ledger")) } }
                div.card { b { (words.tv("n-events", [("count", ledger.lag_events.into())])) } span { (words.t("overview-lag")) } }
            }
            div.card { b.bad[state.told.emergency_stop.is_some()] { a href=(links::EMERGENCY) {
                @if state.told.emergency_stop.is_some() { (words.t("overview-stopped")) } @else { (words.t("overview-not-stopped")) } } }
                span { (words.t("emergency")) } }
            div.card { b.bad[!wrong.is_empty()] { (wrong.len()) } span { (words.t("overview-mismatches")) } }
            div.card { b.bad[!state.refused().is_empty()] { (state.refused().len()) } span { (words.t("overview-refused")) } }
        }
        (alarms(desk, state, &wrong, waiting.as_ref().and_then(|told| told.value.as_ref().ok())))
        @if let Some(Err(problem)) = compared { (away(problem)) }
        @if let Some(Err(problem)) = waiting.as_ref().map(|told| &told.value) { (away(problem)) }
    }
}

/// What needs an operator, the worst first.
/// `waiting`: `None` while it can't be read. Then nobody knows that all is well.
fn alarms(desk: &Desk, state: &Readiness, wrong: &[&Compared], waiting: Option<&Waiting>) -> Markup {
    let words = desk.words;
    let now = Timestamp::now();
    let is_refused = |one: &&&Compared| {
        state
            .refused()
            .iter()
            .any(|of| of.kind == one.kind && of.id.as_str() == one.id)
    };
    let others: Vec<_> = wrong.iter().filter(|one| !is_refused(one)).collect();
    let keys: Vec<_> = api_keys::visible(desk)
        .into_iter()
        .filter(|known| api_keys::ends_soon(&known.key, now))
        .collect();
    let stop = state.told.emergency_stop.as_ref();
    let count = usize::from(stop.is_some()) + state.errors.len() + state.refused().len() + others.len() + keys.len();
    html! {
        @if count == 0 && waiting.is_some_and(|waiting| waiting.count() == 0) { p.note.good { (words.t("overview-well")) } }
        @if let Some(stop) = stop {
            p.note.bad role="alert" { (words.tv("overview-stopped-since", [("since", stop.since.as_str().into())])) " "
                @if stop.unreached > 0 { (words.tv("overview-unreached", [("count", stop.unreached.into())])) " " }
                a href=(links::EMERGENCY) { (words.t("emergency")) } }
        }
        @for cause in &state.errors { p.note.bad role="alert" { (self::cause(desk, cause)) } }
        @for refused in state.refused().iter().take(MAX_ALARMS) {
            p.note.bad { (subject(desk, refused.kind.as_str(), &refused.id)) " · " strong { (compared::reason(desk, refused.reason)) } ": " (compared::why_refused(desk, refused)) }
        }
        @for one in others.iter().take(MAX_ALARMS) {
            p.note.bad { (subject(desk, one.kind.as_str(), &one.id)) " · " strong { (words.t("verdict-mismatch")) } }
        }
        @for known in keys.iter().take(MAX_ALARMS) {
            p.note.warn { (words.tv("overview-key-ends", [("name", known.key.name.as_str().into())])) " " a href="/console/keys" { (words.t("keys")) } }
        }
        @if let Some(waiting) = waiting { (waits(words, waiting)) }
        @if count > MAX_ALARMS { p.hint { a href="/console/ledger" { (words.t("overview-more")) } } }
    }
}

/// What waits for a person, each with the way to it.
fn waits(words: Words, waiting: &Waiting) -> Markup {
    let payouts = waiting::STATES.into_iter().zip(&waiting.payouts);
    let number = |counted: &Counted| {
        let rows = grouped(u128::try_from(counted.rows).unwrap_or(0));
        if counted.has_more { format!("{rows}+") } else { rows }
    };
    let more = |count: usize| html! { @if count > MAX_ALARMS { " · " (words.tv("overview-and-more", [("count", (count - MAX_ALARMS).into())])) } };
    html! {
        @for (state, counted) in payouts.filter(|(_, counted)| counted.rows > 0) {
            p.note.warn { a href=(links::with_query("/console/payouts", &[("state", state.as_str())])) {
                (words.tv(&format!("overview-payouts-{}", state.as_str()), [("count", number(counted).into())])) } }
        }
        @if !waiting.limits.is_empty() {
            p.note.warn { (words.t("overview-limits")) " "
                @for id in waiting.limits.iter().take(MAX_ALARMS) { a.id href=(links::jackpot(id)) { (id) } " " } (more(waiting.limits.len())) }
        }
        @for late in waiting.subscriptions.iter().take(MAX_ALARMS) {
            @let class = if late.state == SubscriptionState::Disabled { "note bad" } else { "note warn" };
            p class=(class) { a.id href=(links::subscription(&late.id)) { (late.id) } " · " (words.t(&format!("subscription-state-{}", late.state.as_str()))) " · "
                (words.tv("overview-late", [("count", late.events.into())])) }
        }
        @for (id, count) in waiting.dead_letters.iter().take(MAX_ALARMS) {
            p.note.warn { a.id href=(format!("{}/dead-letters", links::coupon(id))) { (id) } " · " (words.tv("overview-dead", [("count", (*count).into())])) }
        }
    }
}

/// Why this instance is not ready. The refused subjects themselves come after it.
fn cause(desk: &Desk, cause: &FieldError) -> Markup {
    let is_of_subjects = kinds::all().any(|kind| kind.plural == cause.field);
    html! {
        @if is_of_subjects { (desk.words.t("overview-none-playable")) }
        @else { code { (cause.field) } ": " (cause.rule) }
    }
}

/// The subject, with the way to its answer.
fn subject(desk: &Desk, kind: &str, id: &str) -> Markup {
    html! { (compared::kind_name(desk, kind)) " " a.id href=(links::compared(kind, id)) { (id) } }
}
