//! The list of jackpots.

use actix_web::HttpResponse;
use actix_web::web::ServiceConfig;
use jackpot_ui::money::money;
use maud::{Markup, html};

use super::list::{self, heads, number_heads, status, wide};
use super::{Desk, Failure, Page, Section, links};
use jackpot_api::jackpot::Jackpot;
use jackpot_kernel::http::page::PageBody;

pub fn routes(config: &mut ServiceConfig) {
    config.route("/console/jackpots", jackpot_kernel::http::get().to(list));
}

async fn list(desk: Desk) -> Result<HttpResponse, Failure> {
    let table = |list: &PageBody<Jackpot>| table(&desk, list);
    list::all(&desk, Section::Jackpots, "jackpot", table).await
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
