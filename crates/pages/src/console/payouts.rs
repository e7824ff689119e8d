//! Payouts: the list, and a receipt with its check.

use actix_web::HttpResponse;
use actix_web::http::header::LOCATION;
use actix_web::web::{Path, ServiceConfig};
use jackpot_api::payout::{ListedPayout, Payout};
use jackpot_core::jackpot::settlement::PayoutState;
use jackpot_core::receipt::Receipt;
use jackpot_ui::money::money;
use jackpot_ui::time::time;
use maud::{Markup, html};

use super::list::{Listing, heads, number_heads, wide};
use super::signature::Signed;
use super::{Desk, Failure, Kind, Page, Section, links, settle};
use jackpot_kernel::http::page::PageBody;

pub fn routes(config: &mut ServiceConfig) {
    config
        .route("/console/payouts", jackpot_kernel::http::get().to(list))
        .route("/console/payouts/{payout_id}", jackpot_kernel::http::get().to(show));
}

async fn list(desk: Desk) -> Result<HttpResponse, Failure> {
    let words = desk.words;
    if desk.may_approve() && desk.query("state") != "held" {
        return Ok(HttpResponse::SeeOther().insert_header((LOCATION, links::HELD)).finish());
    }
    let any = (String::new(), words.t("audit-any"));
    let states = PayoutState::ALL.map(|state| (state.as_str().to_owned(), settle::in_words(words, state)));
    let states: Vec<_> = [any].into_iter().chain(states).collect();
    let filters = [
        ("state", "payout-state", Kind::Choice(&states)),
        ("jackpot_id", "jackpot-id", Kind::Text),
        ("player_id", "player-id", Kind::Text),
        ("tier", "tier", Kind::Text),
        ("source_id", "source-id", Kind::Text),
        ("from", "from-utc", Kind::Time),
        ("to", "to-utc", Kind::Time),
        ("min_amount", "min-amount", Kind::Number),
    ];
    let listing = Listing {
        page: "/console/payouts",
        api: "payouts",
        filters: &filters,
    };
    let found = listing.read::<ListedPayout>(&desk).await?;
    let content = html! {
        (listing.filters(&desk, &found))
        @if let Some(list) = &found.list {
            section.panel { div id="payouts" data-live=[desk.live()] { (table(&desk, &listing, list)) } }
            (listing.pages(&desk, list))
        }
    };
    let page = Page::new(Section::Payouts, words.t("payouts"))
        .beside(listing.files(&desk))
        .of_form(&found.form);
    Ok(desk.page(&page, &content))
}

fn table(desk: &Desk, listing: &Listing<'_>, list: &PageBody<ListedPayout>) -> Markup {
    let words = desk.words;
    if list.items.is_empty() && list.next_cursor.is_none() {
        let text = if listing.is_filtered(desk) {
            "list-no-fit"
        } else {
            "payouts-none"
        };
        return html! { div.empty { p { (words.t(text)) } } };
    }
    let rows = html! { table {
        thead { tr {
            (heads(words, &["payout", "paid-at"]))
            (number_heads(words, &["amount"]))
            (heads(words, &["tier", "payout-player", "entry", "source-id", "payout-state"]))
        } }
        tbody { @for payout in &list.items { (row(desk, payout)) } }
    } };
    wide(&words.t("payouts"), &rows)
}

fn row(desk: &Desk, listed: &ListedPayout) -> Markup {
    let payout = &listed.receipt;
    let name = format!("{} #{}", payout.jackpot_id, payout.claim_order);
    html! { tr {
        th.nowrap scope="row" { a href=(links::payout(&payout.payout_id)) { (name) } }
        td { (time(&payout.paid_at)) }
        td.number { strong { (money(desk.words.0, payout.currency.amount(payout.amount.get()))) } }
        td.id { (payout.tier) }
        td.id { a href=(links::entries_of(&payout.player_id)) { (payout.player_id) } }
        td.id { a href=(links::entry(&payout.jackpot_id, &payout.entry_id)) { (payout.entry_id) } }
        td.id { (listed.source_id.as_deref().unwrap_or("")) }
        td { (settle::badge(desk.words, listed.state)) }
    } }
}

async fn show(desk: Desk, id: Path<String>) -> Result<HttpResponse, Failure> {
    let words = desk.words;
    let payout: Payout = desk.get(&format!("/v1/payouts/{}", links::part(&id))).await?;
    let receipt = &payout.payout.receipt;
    let title = words.tv(
        "receipt-title",
        [
            ("jackpot", receipt.jackpot_id.as_str().into()),
            ("order", receipt.claim_order.to_string().into()),
        ],
    );
    let page = Page::new(Section::Payouts, title).under([(words.t("payouts"), "/console/payouts".to_owned())]);
    let signed = Signed {
        key_id: &receipt.key_id,
        signature: &receipt.signature,
        text: &receipt.signed_text(),
        json: &format!(
            "/console/files/json/payouts/{}/receipt",
            links::part(&receipt.payout_id)
        ),
    };
    let content = html! {
        @if payout.payout.state != PayoutState::Paid { (settle::panel(&desk, &payout)) }
        section.panel { h2 { (words.t("receipt")) } (facts(&desk, receipt)) }
        (signed.checked(&desk, |keys| receipt.verify(keys)).await)
    };
    Ok(desk.page(&page, &content))
}

fn facts(desk: &Desk, receipt: &Receipt) -> Markup {
    let words = desk.words;
    let amount = |minor: u64| {
        let shown = money(words.0, receipt.currency.amount(minor));
        html! { strong { (shown) } " " span.muted { (words.tv("minor-units", [("count", minor.into())])) } }
    };
    let (jackpot, player) = (receipt.jackpot_id.as_str(), receipt.player_id.as_str());
    html! { dl.facts {
        dt { (words.t("amount")) } dd { (amount(receipt.amount.get())) }
        dt { (words.t("paid-at")) } dd { (time(&receipt.paid_at)) }
        dt { (words.t("jackpot")) } dd { a.id href=(links::jackpot(jackpot)) { (jackpot) } }
        dt { (words.t("tier")) } dd.id { (receipt.tier) }
        dt { (words.t("payout-player")) } dd { a.id href=(links::entries_of(player)) { (player) } }
        dt { (words.t("entry")) } dd { a.id href=(links::entry(jackpot, &receipt.entry_id)) { (receipt.entry_id) } }
        dt { (words.t("claim-order")) } dd { (receipt.claim_order) }
        dt { (words.t("pool-before")) } dd { (amount(receipt.pool_before.get())) }
        dt { (words.t("pool-after")) } dd { (amount(receipt.pool_after.get())) }
        dt { (words.t("currency")) } dd { (receipt.currency) }
        dt { (words.t("payout-id")) } dd.id { (receipt.payout_id) }
        dt { (words.t("event-id")) } dd.id { (receipt.event_id) }
        dt { (words.t("history")) } dd.id { (receipt.history) }
    } }
}
