//! Jackpots: the list, and one of them.

use actix_web::HttpResponse;
use actix_web::web::{Path, ServiceConfig};
use jackpot_ui::money::money;
use maud::{Markup, html};

use super::answer::{Jackpot, List, Meter};
use super::desk::{Desk, Page, Section};
use super::failure::Failure;
use super::links;
use super::list::{next_page, status};

/// Rows of a page.
const ROWS: &str = "50";

pub fn routes(config: &mut ServiceConfig) {
    config
        .route("/console/jackpots", crate::http::get().to(list))
        .route("/console/jackpots/{id}", crate::http::get().to(show));
}

async fn list(desk: Desk) -> Result<HttpResponse, Failure> {
    let words = desk.words;
    let path = links::with_query("/v1/jackpots", &[("limit", ROWS), ("cursor", desk.query("cursor"))]);
    let list: List<Jackpot> = desk.get(&path).await?;
    let title = words.t("jackpots");
    let page = Page {
        section: Section::Jackpots,
        title: &title,
        trail: &[],
        side: None,
    };
    let content = html! {
        section.panel { div id="jackpots" data-live="2000" { (table(&desk, &list)) } }
        (next_page(&desk, "/console/jackpots", &[], list.next_cursor.as_deref()))
    };
    Ok(desk.page(&page, &content))
}

/// Jackpots with their pools.
pub fn table(desk: &Desk, list: &List<Jackpot>) -> Markup {
    let words = desk.words;
    if list.items.is_empty() {
        return html! { div.empty { p { (words.t("jackpots-none")) } } };
    }
    html! {
        div.scroll tabindex="0" role="region" aria-label=(words.t("jackpots")) { table {
            thead { tr {
                th scope="col" { (words.t("jackpot")) }
                th scope="col" { (words.t("status")) }
                th scope="col" { (words.t("tier")) }
                th.number scope="col" { (words.t("pool")) }
                th.number scope="col" { (words.t("reserve")) }
                th.number scope="col" { (words.t("wins")) }
            } }
            @for jackpot in &list.items { tbody { (rows(desk, jackpot)) } }
        } }
    }
}

fn rows(desk: &Desk, jackpot: &Jackpot) -> Markup {
    let money = |amount: u64| money(desk.words.0, i128::from(amount), &jackpot.currency);
    let span = jackpot.meters.len().max(1);
    html! {
        @for (index, meter) in jackpot.meters.iter().enumerate() {
            tr {
                @if index == 0 {
                    th scope="rowgroup" rowspan=(span) { a href=(links::jackpot(&jackpot.id)) { (jackpot.name) } br; span.id.muted { (jackpot.id) } }
                    td rowspan=(span) { (status(desk, &jackpot.status)) }
                }
                td.id { (meter.tier) }
                td.number { strong { (money(meter.pool)) } }
                td.number { (money(meter.reserve)) }
                td.number { (meter.wins) }
            }
        }
    }
}

async fn show(desk: Desk, id: Path<String>) -> Result<HttpResponse, Failure> {
    let jackpot: Jackpot = desk.get(&links::jackpot_api(&id)).await?;
    let words = desk.words;
    let page = Page {
        section: Section::Jackpots,
        title: &jackpot.name,
        trail: &[trail(&desk)],
        side: Some(actions(&desk, &jackpot)),
    };
    let content = html! {
        p.row { (status(&desk, &jackpot.status)) span.id.muted { (jackpot.id) }
            span.muted { (words.tv("jackpot-version", [("version", jackpot.version.into())])) } }
        section.panel {
            h2 { (words.t("meters")) }
            div id="meters" data-live="2000" { (meters(&desk, &jackpot)) }
        }
    };
    Ok(desk.page(&page, &content))
}

/// The list, above a jackpot.
pub fn trail(desk: &Desk) -> (String, String) {
    (desk.words.t("jackpots"), "/console/jackpots".to_owned())
}

/// What an operator can do with a jackpot now.
fn actions(desk: &Desk, jackpot: &Jackpot) -> Markup {
    let words = desk.words;
    let at = |action: &str| format!("{}/{action}", links::jackpot(&jackpot.id));
    let is = |status: &str| jackpot.status == status;
    html! {
        @if desk.may_operate() && !is("closed") {
            div.row {
                @if is("open") { a.button href=(at("pause")) { (words.t("pause")) } }
                @if is("paused") || is("suspended") { a.button href=(at("resume")) { (words.t("resume")) } }
                a.button href=(at("adjust")) { (words.t("adjust")) }
                a.button.danger href=(at("close")) { (words.t("close")) }
            }
        }
    }
}

fn meters(desk: &Desk, jackpot: &Jackpot) -> Markup {
    let words = desk.words;
    let money = |amount: i128| money(words.0, amount, &jackpot.currency);
    let unsigned = |amount: u64| money(i128::from(amount));
    html! {
        div.scroll tabindex="0" role="region" aria-label=(words.t("meters")) { table {
            thead { tr {
                th scope="col" { (words.t("tier")) }
                @for column in ["pool", "reserve", "overflow", "contributed", "funded", "paid", "wins"] {
                    th.number scope="col" { (words.t(column)) }
                }
            } }
            tbody { @for meter in &jackpot.meters { (meter_row(meter, &unsigned, &money)) } }
        } }
    }
}

fn meter_row(meter: &Meter, unsigned: &dyn Fn(u64) -> String, money: &dyn Fn(i128) -> String) -> Markup {
    html! {
        tr {
            th.id scope="row" { (meter.tier) }
            td.number { strong { (unsigned(meter.pool)) } }
            td.number { (unsigned(meter.reserve)) }
            td.number { (unsigned(meter.overflow)) }
            td.number { (unsigned(meter.contributed)) }
            td.number { (money(i128::from(meter.funded))) }
            td.number { (unsigned(meter.paid)) }
            td.number { (meter.wins) }
        }
    }
}
