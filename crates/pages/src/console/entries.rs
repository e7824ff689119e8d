//! Entries: those of a player, and one with its draw.

use actix_web::HttpResponse;
use actix_web::http::header::LOCATION;
use actix_web::web::{Path, ServiceConfig};
use jackpot_api::entry::{Draw, Entry, EntryRow, Outcome, PrizeName};
use jackpot_ui::Words;
use jackpot_ui::money::money;
use jackpot_ui::time::time;
use maud::{Markup, html};

use super::list::{Listing, heads, number_heads, wide};
use super::{Desk, Failure, Field, Form, Kind, Page, Section, links};
use jackpot_api::jackpot::Jackpot;
use jackpot_kernel::http::page::PageBody;

pub fn routes(config: &mut ServiceConfig) {
    config
        .route("/console/entries", jackpot_kernel::http::get().to(list))
        .route("/console/entries/one", jackpot_kernel::http::get().to(to_one))
        .route(
            "/console/jackpots/{id}/entries/{entry_id}",
            jackpot_kernel::http::get().to(show),
        );
}

async fn list(desk: Desk) -> Result<HttpResponse, Failure> {
    let filters = [
        ("player_id", "player-id", Kind::Text),
        ("jackpot_id", "jackpot-id", Kind::Text),
        ("source_id", "source-id", Kind::Text),
        ("from", "from-utc", Kind::Time),
        ("to", "to-utc", Kind::Time),
    ];
    let listing = Listing {
        page: "/console/entries",
        api: "entries",
        filters: &filters,
    };
    let page = Page::new(Section::Entries, desk.words.t("entries"));
    if !listing.is_filtered(&desk) {
        let content = html! {
            (super::list::filters(&desk, listing.page, &filters))
            div.empty { p { (desk.words.t("entries-ask")) } }
            (one_form(&desk))
        };
        return Ok(desk.page(&page, &content));
    }
    let found = listing.read::<EntryRow>(&desk).await?;
    let content = html! {
        (listing.filters(&desk, &found))
        @if let Some(list) = &found.list {
            section.panel { div id="entries" data-live=[desk.live()] { (table(&desk, list)) } }
            (listing.pages(&desk, list))
        }
        (one_form(&desk))
    };
    let files = found.list.is_some().then(|| listing.files(&desk));
    Ok(desk.page(&page.beside(files).of_form(&found.form), &content))
}

/// The way to an entry whose id is known.
fn one_form(desk: &Desk) -> Markup {
    let words = desk.words;
    let mut form = Form::default();
    form.set("jackpot", desk.query("jackpot_id"));
    html! {
        section.panel.stack {
            h2 { (words.t("entry-find")) }
            form.stack method="get" action="/console/entries/one" {
                div.fields {
                    (Field::new("jackpot", &words.t("jackpot-id"), Kind::Text).of(&form))
                    (Field::new("entry", &words.t("entry-id"), Kind::Text).of(&form))
                }
                div.row { button { (words.t("entry-show")) } }
            }
        }
    }
}

async fn to_one(desk: Desk) -> HttpResponse {
    let (jackpot, entry) = (desk.query("jackpot").trim(), desk.query("entry").trim());
    HttpResponse::SeeOther()
        .insert_header((LOCATION, links::entry(jackpot, entry)))
        .finish()
}

fn table(desk: &Desk, list: &PageBody<EntryRow>) -> Markup {
    let words = desk.words;
    if list.items.is_empty() && list.next_cursor.is_none() {
        return html! { div.empty { p { (words.t("entries-none")) } } };
    }
    let rows = html! { table {
        thead { tr {
            (heads(words, &["entry", "jackpot"]))
            (number_heads(words, &["sequence"]))
            (heads(words, &["entered-at"]))
            (number_heads(words, &["stake-minor"]))
            (heads(words, &["source-id", "outcome"]))
        } }
        tbody { @for entry in &list.items { tr {
            th.id scope="row" { a href=(links::entry(&entry.jackpot_id, &entry.entry_id)) { (entry.entry_id) } }
            td.id { a href=(links::jackpot(&entry.jackpot_id)) { (entry.jackpot_id) } }
            td.number { (entry.sequence) }
            td { (time(&entry.entered_at)) }
            td.number { (jackpot_ui::money::grouped(u128::from(entry.stake.unsigned_abs()))) }
            td.id { (entry.source_id.as_deref().unwrap_or("")) }
            td { (short(words, entry.outcome.as_ref())) }
        } } }
    } };
    wide(&words.t("entries"), &rows)
}

/// The outcome in a row of a list, whose jackpots may have several currencies.
fn short(words: Words, outcome: Option<&Outcome>) -> Markup {
    let Some(outcome) = outcome else {
        return html! { span.badge.warn { (words.t("outcome-pending")) } };
    };
    html! {
        @if outcome.prize == PrizeName::None { span.muted { (prize(words, outcome.prize)) } }
        @else {
            (prize(words, outcome.prize))
            @if outcome.rank > 0 { " · " (words.tv("rank-n", [("rank", u64::from(outcome.rank).into())])) }
            @if let Some(id) = &outcome.payout_id { " · " a href=(links::payout(id)) { (words.t("receipt")) } }
        }
    }
}

fn prize(words: Words, prize: PrizeName) -> String {
    words.t(&format!("won-{}", prize.as_str()))
}

async fn show(desk: Desk, path: Path<(String, String)>) -> Result<HttpResponse, Failure> {
    let words = desk.words;
    let (id, entry_id) = path.into_inner();
    let jackpot: Jackpot = desk.get(&links::jackpot_api(&id)).await?;
    let api = format!("{}/entries/{}", links::jackpot_api(&id), links::part(&entry_id));
    let entry: Entry = desk.get(&api).await?;
    let title = words.tv("entry-title", [("id", (&entry.entry_id).into())]);
    let page = Page::new(Section::Entries, title).under([
        (words.t("entries"), "/console/entries".to_owned()),
        (entry.player_id.to_string(), links::entries_of(&entry.player_id)),
    ]);
    let content = html! {
        section.panel { h2 { (words.t("outcome")) } (outcome(&desk, &jackpot, &entry.outcome)) }
        section.panel { h2 { (words.t("entry")) } dl.facts {
            dt { (words.t("jackpot")) } dd { a href=(links::jackpot(&jackpot.id)) { (jackpot.name) } " " span.id.muted { (jackpot.id) } }
            dt { (words.t("payout-player")) } dd { a.id href=(links::entries_of(&entry.player_id)) { (entry.player_id) } }
            dt { (words.t("sequence")) } dd { (entry.sequence) }
            @if let Some(reversed) = &entry.reversed {
                dt { (words.t("reversed")) } dd { (time(&reversed.at)) " " span.id.muted { (reversed.reversal_id) } }
            }
        }
            @if desk.may_operate() && entry.reversed.is_none() && entry.outcome.prize == PrizeName::None {
                div.row { a.button href=(format!("{}/reverse", links::entry(&jackpot.id, &entry.entry_id))) { (words.t("reverse")) } }
            }
        }
        section.panel { h2 { (words.t("contributions")) } (contributions(&desk, &jackpot, &entry)) }
        section.panel.stack { h2 { (words.t("draw")) } (draw(&desk, &entry.draw)) }
    };
    Ok(desk.page(&page, &content))
}

fn outcome(desk: &Desk, jackpot: &Jackpot, outcome: &Outcome) -> Markup {
    let words = desk.words;
    let shown = |amount: u64| money(words.0, jackpot.currency.amount(amount));
    html! { dl.facts {
        dt { (words.t("prize")) } dd { strong { (prize(words, outcome.prize)) }
            @if outcome.rank > 0 { " · " (words.tv("rank-n", [("rank", u64::from(outcome.rank).into())])) } }
        @if let Some(amount) = outcome.amount { dt { (words.t("amount")) } dd { strong { (shown(amount)) } } }
        @if let Some(tier) = &outcome.tier { dt { (words.t("tier")) } dd.id { (tier) } }
        @if let Some(order) = outcome.claim_order { dt { (words.t("claim-order")) } dd { (order) } }
        @if let Some(id) = &outcome.payout_id { dt { (words.t("payout")) } dd { a.id href=(links::payout(id)) { (id) } } }
        @if let Some(coupon) = &outcome.coupon {
            dt { (words.t("entry-coupon")) } dd { a.id href=(links::coupon(&coupon.coupon_id)) { (coupon.coupon_id) } }
            dt { (words.t("coupon-issue")) } dd { "#" (coupon.sequence) " " span.id.muted { (coupon.request_id) } }
            dt { (words.t("entry-code")) } dd { @match &coupon.code { Some(code) => code { (code) }, None => span.muted { (words.t("code-hidden")) } } }
        }
    } }
}

fn contributions(desk: &Desk, jackpot: &Jackpot, entry: &Entry) -> Markup {
    let words = desk.words;
    let shown = |amount: u64| money(words.0, jackpot.currency.amount(amount));
    let rows = html! { table {
        thead { tr { (heads(words, &["tier"])) (number_heads(words, &["contributed", "pool-then"])) } }
        tbody { @for one in &entry.contributions {
            tr { th.id scope="row" { (one.tier) } td.number { (shown(one.amount)) } td.number { (shown(one.pool)) } }
        } }
    } };
    wide(&words.t("contributions"), &rows)
}

fn draw(desk: &Desk, draw: &Draw) -> Markup {
    let words = desk.words;
    let rows = html! { table {
        thead { tr { (heads(words, &["attempt", "rank", "result"])) } }
        tbody { @for one in &draw.attempts {
            tr { td { (one.attempt) } td { (one.rank) } td { (words.t(&format!("drawn-{}", one.result.as_str()))) } }
        } }
    } };
    html! {
        dl.facts {
            dt { (words.t("epoch")) } dd { (draw.epoch) }
            dt { (words.t("commitment")) } dd.id { (draw.commitment) }
            dt { (words.t("draw-version")) } dd { (words.tv("jackpot-version", [("version", draw.definition_version.into())])) }
        }
        (wide(&words.t("draw"), &rows))
        p.hint { (words.t("draw-hint")) }
    }
}
