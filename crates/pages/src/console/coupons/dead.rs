//! Dead letters: requests that the queue gave up, and their way back into it.

use actix_web::HttpResponse;
use actix_web::http::Method;
use actix_web::web::{Path, ServiceConfig};
use jackpot_api::coupon::{Coupon, DeadBody};
use jackpot_kernel::http::problem::ProblemBody;
use jackpot_ui::money::grouped;
use jackpot_ui::time::time;
use maud::{Markup, html};
use serde_json::Value;

use super::issues::issue_path;
use super::{above, api, page_path, tabs};
use crate::console::action::{self, Action, Change};
use crate::console::links::{part, with_query};
use crate::console::list::{ROWS, heads, next_page, number_heads, wide};
use crate::console::{Desk, Failure, Form, Page, Posted, Section, form_routes};
use jackpot_kernel::http::page::PageBody;

/// The hidden field of each letter.
const LETTER: &str = "request_id";

pub fn routes(config: &mut ServiceConfig) {
    config
        .route(
            "/console/coupons/{id}/dead-letters",
            jackpot_kernel::http::get().to(list),
        )
        .configure(form_routes("/console/coupons/{id}/redrive", ask, redrive));
}

async fn letters(desk: &Desk, id: &str) -> Result<PageBody<DeadBody>, Failure> {
    let path = format!("{}/dead-letters", api(id));
    desk.get(&with_query(&path, &[("limit", ROWS), ("cursor", desk.query("cursor"))]))
        .await
}

async fn list(desk: Desk, id: Path<String>) -> Result<HttpResponse, Failure> {
    let coupon: Coupon = desk.get(&api(&id)).await?;
    let list = letters(&desk, &id).await?;
    let here = page_path(&id);
    let all = with_query(&format!("{here}/redrive"), &[("cursor", desk.query("cursor"))]);
    let can_redrive = desk.may_operate() && !list.items.is_empty();
    let content = html! {
        (tabs(&desk, &id, "dead-letters"))
        section.panel {
            p.muted { (desk.words.t("dead-about")) }
            div id="letters" data-live="2000" { (table(&desk, &id, &list.items)) }
        }
        (next_page(&desk, &format!("{here}/dead-letters"), list.next_cursor.as_deref()))
    };
    let page = super::page(&desk, &coupon, "dead-title")
        .beside(can_redrive.then(|| html! { a.button href=(all) { (desk.words.t("redrive-all")) } }));
    Ok(desk.page(&page, &content))
}

fn table(desk: &Desk, id: &str, letters: &[DeadBody]) -> Markup {
    let words = desk.words;
    if letters.is_empty() {
        return html! { div.empty { p { (words.t("dead-none")) } } };
    }
    let redrive =
        |letter: &DeadBody| with_query(&format!("{}/redrive", page_path(id)), &[("only", &letter.request_id)]);
    wide(
        &words.t("coupon-tab-dead-letters"),
        &html! { table {
            thead { tr {
                @for column in ["request", "user"] { th scope="col" { (words.t(&format!("issue-{column}"))) } }
                (number_heads(words, &["dead-arrival"]))
                (heads(words, &["issue-queued-at", "dead-why"]))
                @if desk.may_operate() { th scope="col" { span.hidden { (words.t("action")) } } }
            } }
            tbody { @for letter in letters { tr {
                th scope="row" { a.id href=(issue_path(id, &letter.request_id)) { (letter.request_id) } }
                td { span.id { (letter.user_id.as_deref().unwrap_or("—")) } }
                td.number { @if let Some(arrival) = letter.arrival { (grouped(arrival.into())) } @else { "—" } }
                td { @if let Some(at) = &letter.queued_at { (time(at)) } @else { "—" } }
                td.text { (why(desk, letter)) }
                @if desk.may_operate() { td.nowrap { a href=(redrive(letter)) { (words.t("redrive")) span.hidden { " " (letter.request_id) } } } }
            } } }
        } },
    )
}

/// Why it died, as far as Redis knows: the log has the errors of each try.
fn why(desk: &Desk, letter: &DeadBody) -> String {
    match letter.attempts {
        Some(attempts) => desk.words.tv("dead-tries", [("count", attempts.into())]),
        None => desk.words.t("dead-unreadable"),
    }
}

async fn ask(desk: Desk, id: Path<String>) -> Result<HttpResponse, Failure> {
    let mut chosen = Vec::new();
    match desk.query("only") {
        "" => chosen.extend(
            letters(&desk, &id)
                .await?
                .items
                .into_iter()
                .map(|letter| letter.request_id),
        ),
        only => chosen.push(only.to_owned()),
    }
    let form = Form::of(chosen.into_iter().map(|letter| (LETTER.to_owned(), letter)).collect());
    preview(&desk, &id, &form).await
}

async fn redrive(Posted { desk, mut form }: Posted, id: Path<String>) -> Result<HttpResponse, Failure> {
    if !action::keep_reason(&desk, &mut form).await {
        return preview(&desk, &id, &form).await;
    }
    let chosen: Vec<_> = chosen(&form).map(str::to_owned).collect();
    for letter in &chosen {
        // Those before it are in the queue by now. Sending the form again is a repeat for them.
        if let Err(problem) = one(&desk, &id, letter).await {
            form.refused_by(&problem, str::to_owned);
            return preview(&desk, &id, &form).await;
        }
    }
    let to = match chosen.as_slice() {
        [one] => issue_path(&id, one),
        _ => format!("{}/dead-letters", page_path(&id)),
    };
    Ok(action::done(&desk, &to, "done-redrive"))
}

async fn one(desk: &Desk, id: &str, letter: &str) -> Result<Value, ProblemBody> {
    let path = format!("{}/dead-letters/{}/redrive", api(id), part(letter));
    desk.call(Method::POST, &path, None).await
}

fn chosen(form: &Form) -> impl Iterator<Item = &str> {
    form.iter()
        .filter(|(name, _)| *name == LETTER)
        .map(|(_, letter)| letter)
}

/// The step that shows which letters go back.
async fn preview(desk: &Desk, id: &str, form: &Form) -> Result<HttpResponse, Failure> {
    let words = desk.words;
    let coupon: Coupon = desk.get(&api(id)).await?;
    let here = page_path(id);
    let count = chosen(form).count();
    let change = |letter: &str| Change {
        what: letter.to_owned(),
        before: words.t("result-dead"),
        after: words.t("result-queued"),
    };
    let changes: Vec<_> = chosen(form).map(change).collect();
    let action = Action {
        page: Page::new(
            Section::Coupons,
            words.tv(
                "redrive-title",
                [("count", count.into()), ("name", (&coupon.definition.name).into())],
            ),
        )
        .under(above(desk, &coupon)),
        effects: &[words.t("redrive-effect")],
        changes: &changes,
        button: &words.t("redrive"),
        is_final: false,
        back: &format!("{here}/dead-letters"),
    };
    Ok(action.page(desk, form))
}
