//! The ledger of a jackpot: its postings, and the signed head of its chain.

use actix_web::HttpResponse;
use actix_web::web::{Path, ServiceConfig};
use jackpot_api::ledger::PostingRow;
use jackpot_core::receipt::Head;
use jackpot_ui::money::money;
use jackpot_ui::time::time;
use maud::{Markup, html};

use super::compared::tabs;
use super::list::{Listing, heads, number_heads, wide};
use super::signature::Signed;
use super::{Desk, Failure, Kind, Page, Section, links};
use jackpot_api::jackpot::Jackpot;
use jackpot_kernel::http::page::PageBody;
use jackpot_kernel::subject::kinds::JACKPOT;

pub fn routes(config: &mut ServiceConfig) {
    config
        .route(
            "/console/ledger/jackpot/{id}/postings",
            jackpot_kernel::http::get().to(postings),
        )
        .route(
            "/console/ledger/jackpot/{id}/head",
            jackpot_kernel::http::get().to(head),
        );
}

fn trail(desk: &Desk, id: &str) -> [(String, String); 2] {
    [
        (desk.words.t("nav-ledger"), "/console/ledger".to_owned()),
        (id.to_owned(), links::compared("jackpot", id)),
    ]
}

async fn postings(desk: Desk, id: Path<String>) -> Result<HttpResponse, Failure> {
    let jackpot: Jackpot = desk.get(&links::jackpot_api(&id)).await?;
    let filters = [
        ("source_id", "source-id", Kind::Text),
        ("from", "from-utc", Kind::Time),
        ("to", "to-utc", Kind::Time),
    ];
    let listing = Listing {
        page: &format!("{}/postings", links::compared("jackpot", &id)),
        api: &format!("jackpots/{}/ledger", links::part(&id)),
        filters: &filters,
    };
    let found = listing.read::<PostingRow>(&desk).await?;
    let title = desk.words.tv("postings-title", [("name", (&jackpot.name).into())]);
    let page = Page::new(Section::Ledger, title)
        .under(trail(&desk, &id))
        .beside(listing.files(&desk))
        .of_form(&found.form);
    let content = html! {
        (tabs(&desk, JACKPOT, &id, "/postings"))
        p.hint { (desk.words.t("postings-about")) }
        (listing.filters(&desk, &found))
        @if let Some(list) = &found.list {
            section.panel { (table(&desk, &jackpot, list)) }
            (listing.pages(&desk, list))
        }
    };
    Ok(desk.page(&page, &content))
}

fn table(desk: &Desk, jackpot: &Jackpot, list: &PageBody<PostingRow>) -> Markup {
    let words = desk.words;
    if list.items.is_empty() && list.next_cursor.is_none() {
        return html! { div.empty { p { (words.t("postings-none")) } } };
    }
    let rows = html! { table {
        thead { tr {
            (number_heads(words, &["event"]))
            (heads(words, &["booked-at", "tier", "account"]))
            (number_heads(words, &["amount", "millionths"]))
        } }
        tbody { @for one in &list.items { tr {
            td.number { (one.n) }
            td { (time(&one.at)) }
            td.id { (one.tier) }
            td { (account(desk, &one.account)) }
            td.number { (money(words.0, jackpot.currency.amount(one.amount))) }
            td.number { @if one.micro == 0 { "–" } @else { (one.micro) } }
        } } }
    } };
    wide(&words.t("postings"), &rows)
}

fn account(desk: &Desk, account: &str) -> String {
    let name = format!("account-{account}");
    desk.words.t_or(&name, account)
}

async fn head(desk: Desk, id: Path<String>) -> Result<HttpResponse, Failure> {
    let words = desk.words;
    let head: Head = desk.get(&format!("{}/ledger/head", links::jackpot_api(&id))).await?;
    let title = words.tv("head-title", [("id", id.as_str().into())]);
    let file =
        |format: &str, name: &str| format!("/console/files/{format}/jackpots/{}/ledger/{name}", links::part(&id));
    let page = Page::new(Section::Ledger, title)
        .under(trail(&desk, &id))
        .beside(html! { a.button href=(file("ndjson", "export")) { (words.t("export")) } });
    let signed = Signed {
        key_id: &head.key_id,
        signature: &head.signature,
        text: &head.signed_text(),
        json: &file("json", "head"),
    };
    let content = html! {
        (tabs(&desk, JACKPOT, &id, "/head"))
        section.panel.stack {
            h2 { (words.t("head")) }
            p { (words.t("head-about")) }
            dl.facts {
                dt { (words.t("event")) } dd { (head.n) }
                dt { (words.t("hash")) } dd.id { (head.hash) }
                dt { (words.t("signed-at")) } dd { (time(&head.at)) }
                dt { (words.t("ledger-id")) } dd.id { (head.ledger_id) }
            }
        }
        (signed.checked(&desk, |keys| head.verify(keys)).await)
    };
    Ok(desk.page(&page, &content))
}
