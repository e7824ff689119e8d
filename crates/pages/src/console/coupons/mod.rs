//! Coupons: the list, one of them, its definition. [`issues`]: its units. [`dead`]: its dead letters. [`bulk`]: many
//! units at once. [`standing`]: pause, resume and close.

mod bulk;
mod dead;
mod issues;
mod standing;

use actix_web::HttpResponse;
use actix_web::web::{Path, ServiceConfig};
use jackpot_api::coupon::{Coupon, Status};
use jackpot_ui::money::grouped;
use jackpot_ui::time::time;
use jackpot_ui::{Asset, Words};
use maud::{Markup, html};
use serde_json::Value;

use super::document::{Shape, Spec, Thing, name_of};
use super::list::{self, heads, status, wide};
use super::{Desk, Failure, Page, Posted, Section, form_routes, links};
use jackpot_kernel::http::page::PageBody;

/// The script of the upload.
pub static UPLOAD: Asset = Asset::new("upload", "js", include_str!("upload.js"));

/// The definition, as the API has it.
const FIELDS: &[Spec] = &[
    Spec::new("name", Shape::Text),
    Spec::new("stock", Shape::Number),
    Spec::new("per_user", Shape::Number),
    Spec::new("per_user_window_s", Shape::MaybeNumber),
    Spec::new("starts_at", Shape::MaybeTime),
    Spec::new("ends_at", Shape::MaybeTime),
];

const CHANGE: Thing = Thing {
    section: Section::Coupons,
    name: "coupon",
    fields: FIELDS,
    asked: FIELDS,
    verb: "change",
    effects: |words, _, _| vec![words.t("coupon-change-effect")],
};

const NEW: Thing = Thing {
    verb: "new",
    effects: |words, _, _| vec![words.t("coupon-new-effect")],
    ..CHANGE
};

pub fn routes(config: &mut ServiceConfig) {
    config
        .route("/console/coupons", jackpot_kernel::http::get().to(list))
        .configure(form_routes("/console/new-coupon", ask_new, put_new))
        .configure(form_routes("/console/coupons/{id}/change", ask_change, put_change))
        .configure(issues::routes)
        .configure(dead::routes)
        .configure(bulk::routes)
        .configure(standing::routes)
        .route("/console/coupons/{id}", jackpot_kernel::http::get().to(show));
}

/// What an operator can do with a coupon of this status.
fn verbs(status: Status) -> &'static [&'static str] {
    match status {
        Status::Open => &["pause", "close"],
        Status::Paused => &["resume", "close"],
        Status::Closed | Status::Suspended | Status::Ended => &[],
    }
}

/// The coupon in the API.
fn api(id: &str) -> String {
    format!("/v1/coupons/{}", links::part(id))
}

fn page_path(id: &str) -> String {
    format!("/console/coupons/{}", links::part(id))
}

async fn list(desk: Desk) -> Result<HttpResponse, Failure> {
    let table = |list: &PageBody<Coupon>| table(&desk, &list.items);
    list::all(&desk, Section::Coupons, "coupon", table).await
}

fn table(desk: &Desk, coupons: &[Coupon]) -> Markup {
    let words = desk.words;
    if coupons.is_empty() {
        return html! { div.empty { p { (words.t("coupons-none")) } } };
    }
    wide(
        &words.t("coupons"),
        &html! { table {
            thead { tr {
                (heads(words, &["coupon", "status"]))
                @for column in ["stock", "issued", "remaining", "queued", "dead"] {
                    th.number scope="col" { (words.t(&format!("coupon-{column}"))) }
                }
                th scope="col" { (words.t("coupon-time")) }
            } }
            tbody { @for coupon in coupons { tr {
                th scope="row" { a href=(page_path(&coupon.id)) { (coupon.definition.name) } br; span.id.muted { (coupon.id) } }
                td { (status(desk, coupon.status.as_str(), coupon.stopped.as_ref())) }
                td.number { (grouped(coupon.definition.stock.into())) }
                td.number { (grouped(coupon.issued.into())) }
                td.number { strong { (grouped(coupon.remaining.into())) } }
                td.number { (grouped(coupon.queued.into())) }
                td.number.bad[coupon.dead > 0] { (grouped(coupon.dead.into())) }
                td { (times(words, coupon)) }
            } } }
        } },
    )
}

/// From when to when units are issued.
fn times(words: Words, coupon: &Coupon) -> Markup {
    html! {
        @if let Some(at) = &coupon.definition.starts_at { (words.t("coupon-from")) " " (time(at)) br; }
        @if let Some(at) = &coupon.definition.ends_at { (words.t("coupon-until")) " " (time(at)) }
        @if coupon.definition.starts_at.is_none() && coupon.definition.ends_at.is_none() { (words.t("coupon-always")) }
    }
}

async fn show(desk: Desk, id: Path<String>) -> Result<HttpResponse, Failure> {
    let whole: Value = desk.get(&api(&id)).await?;
    let coupon: Coupon = desk.parsed(&whole)?;
    let words = desk.words;
    let here = page_path(&coupon.id);
    let side = desk.may_operate().then(|| {
        html! { div.row {
            a.button href=(format!("{here}/change")) { (words.t("change")) }
            @for verb in verbs(coupon.status) { a.button href=(format!("{here}/{verb}")) { (words.t(verb)) } }
        } }
    });
    let content = html! {
        p.row { (status(&desk, coupon.status.as_str(), coupon.stopped.as_ref())) span.id.muted { (coupon.id) } }
        (tabs(&desk, &coupon.id, "numbers"))
        div.stack id="numbers" data-live="1000" { (numbers(words, &coupon)) }
        section.panel { h2 { (words.t("definition")) } (CHANGE.facts(words, &whole)) }
    };
    let page = Page::new(Section::Coupons, name_of(&whole))
        .under([trail(&desk)])
        .beside(side);
    Ok(desk.page(&page, &content))
}

/// A page under that of a coupon. `title`: a text with its name.
fn page(desk: &Desk, coupon: &Coupon, title: &str) -> Page {
    let title = desk.words.tv(title, [("name", (&coupon.definition.name).into())]);
    Page::new(Section::Coupons, title).under(above(desk, coupon))
}

/// The pages above one of a coupon.
fn above(desk: &Desk, coupon: &Coupon) -> [(String, String); 2] {
    [trail(desk), (coupon.definition.name.clone(), page_path(&coupon.id))]
}

/// The list, above a coupon.
fn trail(desk: &Desk) -> (String, String) {
    (desk.words.t("coupons"), "/console/coupons".to_owned())
}

/// The pages of a coupon.
fn tabs(desk: &Desk, id: &str, current: &str) -> Markup {
    let here = page_path(id);
    let tabs = [
        ("numbers", here.clone(), true),
        ("issues", format!("{here}/issues"), true),
        ("dead-letters", format!("{here}/dead-letters"), true),
        ("bulk", format!("{here}/bulk"), desk.may_operate()),
    ];
    html! { nav aria-label=(desk.words.t("coupon-pages")) { ul.tabs {
        @for (name, path, is_shown) in &tabs { @if *is_shown {
            li { a href=(path) aria-current=[(*name == current).then_some("page")] { (desk.words.t(&format!("coupon-tab-{name}"))) } }
        } }
    } } }
}

fn numbers(words: Words, coupon: &Coupon) -> Markup {
    let out = coupon.issued.saturating_sub(coupon.voided);
    let card = |name: &str, count: u64, is_bad: bool| {
        html! { div.card { b.bad[is_bad] { (grouped(count.into())) } span { (words.t(name)) } } }
    };
    html! {
        div.cards {
            (card("coupon-remaining", coupon.remaining, false))
            (card("coupon-issued", coupon.issued, false))
            (card("coupon-voided", coupon.voided, false))
            (card("coupon-queued", coupon.queued, false))
            (card("coupon-dead", coupon.dead, coupon.dead > 0))
        }
        @if coupon.definition.stock > 0 {
            p {
                label for="out" { (words.tv("coupon-out", [("out", out.into()), ("stock", coupon.definition.stock.into())])) }
                progress id="out" max=(coupon.definition.stock) value=(out) {}
            }
        }
    }
}

async fn ask_new(desk: Desk) -> HttpResponse {
    NEW.ask_new(&desk, &[("per_user", "1")])
}

async fn put_new(posted: Posted) -> Result<HttpResponse, Failure> {
    NEW.post(posted, None).await
}

async fn ask_change(desk: Desk, id: Path<String>) -> Result<HttpResponse, Failure> {
    CHANGE.ask_change(&desk, &id).await
}

async fn put_change(posted: Posted, id: Path<String>) -> Result<HttpResponse, Failure> {
    CHANGE.post(posted, Some(&id)).await
}
