//! The units of a coupon: in their order, one by its request, the way back to the stock, and all of them as a file.

use actix_web::HttpResponse;
use actix_web::http::header::LOCATION;
use actix_web::http::{Method, StatusCode};
use actix_web::web::{Path, ServiceConfig};
use jackpot_api::coupon::{Coupon, IssueBody, IssueRow, RequestState};
use jackpot_ui::money::grouped;
use jackpot_ui::time::time;
use maud::{Markup, html};
use serde_json::Value;

use super::{api, page_path, tabs, trail};
use crate::console::action::{self, Action, Change};
use crate::console::links::{part, with_query};
use crate::console::list::{ROWS, files, next_page, wide};
use crate::console::{Desk, Failure, Field, Form, Kind, Page, Posted, Section, form_routes};
use jackpot_kernel::http::page::PageBody;

pub fn routes(config: &mut ServiceConfig) {
    config
        .route("/console/coupons/{id}/issues", jackpot_kernel::http::get().to(list))
        .route(
            "/console/coupons/{id}/issues/{request_id}",
            jackpot_kernel::http::get().to(show),
        )
        .configure(form_routes("/console/coupons/{id}/issues/{request_id}/void", ask, void));
}

/// The page of a request.
pub(super) fn issue_path(id: &str, request_id: &str) -> String {
    format!("{}/issues/{}", page_path(id), part(request_id))
}

fn issue_api(id: &str, request_id: &str) -> String {
    format!("{}/issues/{}", api(id), part(request_id))
}

async fn list(desk: Desk, id: Path<String>) -> Result<HttpResponse, Failure> {
    let words = desk.words;
    let coupon: Coupon = desk.get(&api(&id)).await?;
    let mut form = Form::default();
    let wanted = desk.query("request_id");
    form.set("request_id", wanted);
    if !wanted.is_empty() {
        match desk.ask::<Value>(&issue_api(&id, wanted)).await {
            Ok(_) => {
                let to = issue_path(&id, wanted);
                return Ok(HttpResponse::SeeOther().insert_header((LOCATION, to)).finish());
            }
            // What is no id at all is none of a request either.
            Err(problem) if matches!(problem.status, 404 | 422) => form.refuse("request_id", words.t("issue-none")),
            Err(problem) => return Err(Failure::of_api(words, problem)),
        }
    }
    let path = format!("{}/issues", api(&id));
    let path = with_query(&path, &[("limit", ROWS), ("cursor", desk.query("cursor"))]);
    let list: PageBody<IssueRow> = desk.get(&path).await?;
    let here = format!("{}/issues", page_path(&id));
    let content = html! {
        (tabs(&desk, &id, "issues"))
        form.panel method="get" action=(here) role="search" {
            div.row.bottom {
                (Field::new("request_id", &words.t("issue-search"), Kind::Text).of(&form))
                button.primary { (words.t("issue-find")) }
            }
        }
        section.panel {
            div.row.apart {
                p.muted { (words.t("issues-about")) }
                (files(&desk, &format!("coupons/{}/issues", part(&id))))
            }
            (table(&desk, &id, &list.items))
        }
        (next_page(&desk, &here, list.next_cursor.as_deref()))
    };
    let page = super::page(&desk, &coupon, "issues-title");
    let status = if form.is_refused() {
        StatusCode::NOT_FOUND
    } else {
        StatusCode::OK
    };
    Ok(desk.page(&page.status(status), &content))
}

fn table(desk: &Desk, id: &str, rows: &[IssueRow]) -> Markup {
    let words = desk.words;
    if rows.is_empty() {
        return html! { div.empty { p { (words.t("issues-none")) } } };
    }
    wide(
        &words.t("coupon-tab-issues"),
        &html! { table {
            thead { tr {
                th.number scope="col" { (words.t("issue-sequence")) }
                @for column in ["request", "user", "code", "issued-at", "voided-at", "redeemed-at"] {
                    th scope="col" { (words.t(&format!("issue-{column}"))) }
                }
            } }
            tbody { @for row in rows { tr {
                td.number { (row.sequence) }
                th scope="row" { a.id href=(issue_path(id, &row.request_id)) { (row.request_id) } }
                td { span.id { (row.user_id) } }
                td { span.id { (row.code.as_deref().unwrap_or("—")) } }
                td { (time(&row.issued_at)) }
                td { @if let Some(at) = &row.voided_at { (time(at)) } @else { "—" } }
                td { @if let Some(used) = &row.redeemed { (time(&used.at)) } @else { "—" } }
            } } }
        } },
    )
}

async fn show(desk: Desk, path: Path<(String, String)>) -> Result<HttpResponse, Failure> {
    let (id, request_id) = (path.0.as_str(), path.1.as_str());
    let words = desk.words;
    let issue: IssueBody = desk.get(&issue_api(id, request_id)).await?;
    let here = issue_path(id, request_id);
    let redrive = with_query(&format!("{}/redrive", page_path(id)), &[("only", request_id)]);
    let side = desk.may_operate().then(|| {
        html! {
            @if issue.result == RequestState::Issued && issue.redeemed.is_none() { a.button.danger href=(format!("{here}/void")) { (words.t("void")) } }
            @if issue.result == RequestState::Dead { a.button href=(redrive) { (words.t("redrive")) } }
        }
    });
    let title = words.tv("issue-title", [("id", request_id.into())]);
    let content = html! { section.panel { div id="issue" data-live="1000" { (facts(&desk, id, &issue)) } } };
    let page = Page::new(Section::Coupons, title)
        .under(trail_of(&desk, id))
        .beside(side);
    Ok(desk.page(&page, &content))
}

/// The pages above a request.
fn trail_of(desk: &Desk, id: &str) -> [(String, String); 3] {
    let issues = (desk.words.t("coupon-tab-issues"), format!("{}/issues", page_path(id)));
    [trail(desk), (id.to_owned(), page_path(id)), issues]
}

fn facts(desk: &Desk, id: &str, issue: &IssueBody) -> Markup {
    let words = desk.words;
    let class = match issue.result {
        RequestState::Issued => "badge good",
        RequestState::Dead => "badge bad",
        RequestState::Queued => "badge warn",
        _ => "badge",
    };
    let at =
        |name: &str, at: Option<&String>| html! { @if let Some(at) = at { dt { (words.t(name)) } dd { (time(at)) } } };
    let number = |name: &str, of: Option<u64>| html! { @if let Some(of) = of { dt { (words.t(name)) } dd { (grouped(of.into())) } } };
    html! { dl.facts {
        dt { (words.t("issue-result")) } dd { span class=(class) { (words.t(&format!("result-{}", issue.result.as_str()))) } }
        @if let Some(user) = &issue.user_id { dt { (words.t("issue-user")) } dd { span.id { (user) } } }
        @if let Some(metadata) = &issue.metadata {
            dt { (words.t("issue-metadata")) }
            dd { @for (name, text) in metadata { div { span.muted { (name) } " " (text) } } }
        }
        (number("issue-sequence", issue.sequence))
        @if let Some(code) = issue.code.as_ref().and_then(|shown| shown.0.as_ref()) { dt { (words.t("issue-code")) } dd { span.id { (code) } } }
        (at("issue-issued-at", issue.issued_at.as_ref()))
        (at("issue-voided-at", issue.voided_at.as_ref()))
        @if let Some(used) = &issue.redeemed {
            (at("issue-redeemed-at", Some(&used.at)))
            dt { (words.t("issue-redemption")) } dd { span.id { (used.redemption_id) } }
            dt { (words.t("issue-reference")) } dd { (used.reference) }
        }
        (at("issue-decided-at", issue.decided_at.as_ref()))
        (number("issue-position", issue.position))
        (at("issue-queued-at", issue.queued_at.as_ref()))
        (number("issue-attempts", issue.attempts.map(u64::from)))
        @if let Some(first) = &issue.issue {
            dt { (words.t("issue-first")) } dd { a.id href=(issue_path(id, &first.request_id)) { (first.request_id) } }
        }
    } }
}

async fn ask(desk: Desk, path: Path<(String, String)>) -> Result<HttpResponse, Failure> {
    preview(&desk, &path, &Form::default()).await
}

async fn void(Posted { desk, mut form }: Posted, path: Path<(String, String)>) -> Result<HttpResponse, Failure> {
    let (id, request_id) = (path.0.as_str(), path.1.as_str());
    if action::keep_reason(&desk, &mut form).await {
        let voided = desk
            .call::<Value>(Method::DELETE, &issue_api(id, request_id), None)
            .await;
        match voided {
            Ok(_) => return Ok(action::done(&desk, &issue_path(id, request_id), "done-void")),
            Err(problem) => form.refused_by(&problem, str::to_owned),
        }
    }
    preview(&desk, &path, &form).await
}

/// The step that shows what a void changes.
async fn preview(desk: &Desk, path: &(String, String), form: &Form) -> Result<HttpResponse, Failure> {
    let (id, request_id) = (path.0.as_str(), path.1.as_str());
    let words = desk.words;
    let issue: IssueBody = desk.get(&issue_api(id, request_id)).await?;
    let coupon: Coupon = desk.get(&api(id)).await?;
    let back = issue_path(id, request_id);
    let remaining = |count: u64| grouped(count.into());
    let changes = [
        Change {
            what: words.t("issue-result"),
            before: words.t(&format!("result-{}", issue.result.as_str())),
            after: words.t("result-voided"),
        },
        Change {
            what: words.t("coupon-remaining"),
            before: remaining(coupon.remaining),
            after: remaining(coupon.remaining + u64::from(issue.result == RequestState::Issued)),
        },
    ];
    let user = issue.user_id.as_deref().unwrap_or_default();
    let action = Action {
        page: Page::new(Section::Coupons, words.tv("void-title", [("id", request_id.into())]))
            .under(trail_of(desk, id)),
        effects: &[words.tv(
            "void-effect",
            [("user", user.into()), ("sequence", issue.sequence.unwrap_or(0).into())],
        )],
        changes: &changes,
        button: &words.t("void"),
        is_final: true,
        back: &back,
    };
    Ok(action.page(desk, form))
}
