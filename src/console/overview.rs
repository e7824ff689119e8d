//! The first page: whether the service is well, and every pool.

use actix_web::HttpResponse;
use actix_web::http::header::LOCATION;
use maud::{Markup, html};

use super::answer::{Jackpot, List, Readiness};
use super::desk::{Desk, Page, Section};
use super::failure::Failure;
use super::jackpots;

/// `/console` without its end.
pub async fn to_overview() -> HttpResponse {
    HttpResponse::PermanentRedirect()
        .insert_header((LOCATION, "/console/"))
        .finish()
}

pub async fn get(desk: Desk) -> Result<HttpResponse, Failure> {
    let words = desk.words;
    let list: List<Jackpot> = desk.get("/v1/jackpots?limit=100").await?;
    let title = words.t("overview");
    let page = Page {
        section: Section::Overview,
        title: &title,
        trail: &[],
        side: None,
    };
    let content = html! {
        div id="health" data-live="2000" { (health(&desk).await) }
        section.panel {
            h2 { (words.t("jackpots")) }
            div id="jackpots" data-live="2000" { (jackpots::table(&desk, &list)) }
        }
    };
    Ok(desk.page(&page, &content))
}

/// Whether this instance is ready, and what it refuses.
async fn health(desk: &Desk) -> Markup {
    let words = desk.words;
    let state: Readiness = match desk.ask("/readyz").await {
        Ok(state) => state,
        Err(problem) => return html! { p.note.bad role="alert" { (problem.title) ": " (problem.detail) } },
    };
    let is_ready = state.status == "ready" && state.causes.is_empty();
    html! {
        div.cards {
            div.card { b.good[is_ready].bad[!is_ready] { @if is_ready { (words.t("overview-ready")) } @else { (words.t("overview-not-ready")) } }
                span { (words.t("overview-instance")) } }
            div.card { b.bad[!state.ledger.up] { @if state.ledger.up { (words.t("overview-ledger-up")) } @else { (words.t("overview-ledger-down")) } }
                span { (words.t("overview-ledger")) } }
            div.card { b { (words.tv("n-events", [("count", state.ledger.lag_events.into())])) } span { (words.t("overview-lag")) } }
        }
        @for cause in &state.causes { p.note.bad { code { (cause.field) } ": " (cause.message) } }
    }
}
