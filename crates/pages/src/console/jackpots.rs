//! The list of jackpots.

use actix_web::HttpResponse;
use actix_web::web::ServiceConfig;
use jackpot_ui::money::money;
use maud::{Markup, html};

use super::desk::{Desk, Page, Section};
use super::failure::Failure;
use super::links;
use super::list::{heads, next_page, number_heads, status, wide};
use jackpot_api::jackpot::Jackpot;
use jackpot_kernel::http::page::PageBody;

/// Rows of a page.
const ROWS: &str = "50";

pub fn routes(config: &mut ServiceConfig) {
    config.route("/console/jackpots", jackpot_kernel::http::get().to(list));
}

async fn list(desk: Desk) -> Result<HttpResponse, Failure> {
    let words = desk.words;
    let path = links::with_query("/v1/jackpots", &[("limit", ROWS), ("cursor", desk.query("cursor"))]);
    let list: PageBody<Jackpot> = desk.get(&path).await?;
    let new =
        html! { @if desk.may_operate() { a.button.primary href="/console/new-jackpot" { (words.t("jackpot-new")) } } };
    let page = Page::new(Section::Jackpots, words.t("jackpots")).beside(new);
    let content = html! {
        section.panel { div id="jackpots" data-live="2000" { (table(&desk, &list)) } }
        (next_page(&desk, "/console/jackpots", &[], list.next_cursor.as_deref()))
    };
    Ok(desk.page(page, &content))
}

/// The list, above a jackpot.
pub fn trail(desk: &Desk) -> (String, String) {
    (desk.words.t("jackpots"), "/console/jackpots".to_owned())
}

/// A page under that of a jackpot. `title`: a text with its name.
pub fn page(desk: &Desk, jackpot: &Jackpot, title: &str) -> Page {
    let title = desk.words.tv(title, [("name", (&jackpot.name).into())]);
    let above = (jackpot.name.clone(), links::jackpot(&jackpot.id));
    Page::new(Section::Jackpots, title).under([trail(desk), above])
}

/// Jackpots with their pools.
pub fn table(desk: &Desk, list: &PageBody<Jackpot>) -> Markup {
    let words = desk.words;
    if list.items.is_empty() {
        return html! { div.empty.stack { p { (words.t("jackpots-none")) } p { a.button.primary href="/console/guide" { (words.t("guide")) } } } };
    }
    let table = html! { table {
        thead { tr {
            (heads(words, &["jackpot", "status", "tier"]))
            (number_heads(words, &["pool", "reserve", "wins"]))
        } }
        @for jackpot in &list.items { tbody { (rows(desk, jackpot)) } }
    } };
    wide(&words.t("jackpots"), &table)
}

fn rows(desk: &Desk, jackpot: &Jackpot) -> Markup {
    let money = |amount: u64| money(desk.words.0, jackpot.currency.amount(amount));
    let span = jackpot.meters.len().max(1);
    html! {
        @for (index, meter) in jackpot.meters.iter().enumerate() {
            tr {
                @if index == 0 {
                    th scope="rowgroup" rowspan=(span) { a href=(links::jackpot(&jackpot.id)) { (jackpot.name) } br; span.id.muted { (jackpot.id) } }
                    td rowspan=(span) { (status(desk, jackpot.status.as_str(), jackpot.stopped.as_ref())) }
                }
                td.id { (meter.tier) }
                td.number { strong { (money(meter.pool)) } }
                td.number { (money(meter.reserve)) }
                td.number { (meter.wins) }
            }
        }
    }
}
