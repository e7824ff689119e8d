//! Units for a list of users: a file, passed on to the API as it arrives. With scripts the page shows how far it is;
//! without them the next page has the result.

use jackpot_api::coupon::{BulkLine, Coupon, LineAnswer, LineResult, RequestState};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::time::{Duration, Instant};

use actix_http::error::PayloadError;
use actix_multipart::{Field as Part, Multipart};
use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::Payload;
use actix_web::http::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use actix_web::http::{Method, StatusCode};
use actix_web::web::{self, Bytes, BytesMut, Path, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse};
use futures_util::stream::poll_fn;
use futures_util::{Stream, StreamExt, TryStreamExt};
use jackpot_ui::Words;
use jackpot_ui::money::grouped;
use maud::{Markup, html};
use serde_json::json;

use super::issues::issue_path;
use super::{UPLOAD, api, page_path, tabs};
use crate::console::action::{self, REASON};
use crate::console::desk::{FORM_TOKEN, is_from_here};
use crate::console::list::{heads, number_heads, wide};
use crate::console::{Desk, Failure, Field, Form, Kind, Page, form_routes};
use jackpot_kernel::http::{Asked, ConnectionState};

/// The file, which is the last field of the form.
const LIST: &str = "list";
const NDJSON: HeaderValue = HeaderValue::from_static("application/x-ndjson");
/// Longest field before the file: a reason has at most four times its characters.
const MAX_FIELD_BYTES: usize = 4_096;
/// What a browser may send before any of it is read.
const AHEAD_BYTES: u64 = 64 * 1024;
/// Lines without a unit that the result names, so that it stays a page.
const MAX_NAMED: usize = 200;
/// Longest line of the API: an issue has a twentieth of it.
const MAX_LINE_BYTES: usize = 16 * 1024;
/// How often the script hears of it.
const TELL_EVERY: Duration = Duration::from_millis(250);

pub fn routes(config: &mut ServiceConfig) {
    config.configure(form_routes("/console/coupons/{id}/bulk", get, post));
}

async fn get(desk: Desk, id: Path<String>) -> Result<HttpResponse, Failure> {
    let coupon: Coupon = desk.get(&api(&id)).await?;
    Ok(ask(&desk, &coupon, &Form::default()))
}

fn page(desk: &Desk, coupon: &Coupon) -> Page {
    super::page(desk, coupon, "bulk-title").script(&UPLOAD)
}

fn ask(desk: &Desk, coupon: &Coupon, form: &Form) -> HttpResponse {
    let words = desk.words;
    let content = html! {
        (tabs(desk, &coupon.id, "bulk"))
        (form.summary(words))
        form.panel.stack method="post" enctype="multipart/form-data" data-upload data-broken=(words.t("bulk-broken")) {
            (desk.form_token())
            h2 { (words.t("action-effect")) }
            p { (words.tv("bulk-effect", [("remaining", coupon.remaining.into())])) }
            p { (words.t("bulk-again")) }
            p { (words.t("bulk-format")) }
            pre tabindex="0" { "{\"request_id\": \"spring-0001\", \"user_id\": \"p7\"}\n{\"request_id\": \"spring-0002\", \"user_id\": \"p8\"}" }
            (Field::new(REASON, &words.t("action-reason"), Kind::Text).hint(&words.t("action-reason-hint")).of(form))
            div.field.wrong[form.error(LIST).is_some()] {
                label for="f-list" { (words.t("bulk-list")) }
                @if let Some(error) = form.error(LIST) { p.error id="f-list-error" { (error) } }
                input id="f-list" type="file" name=(LIST) required accept=".ndjson,.jsonl,.json,.txt"
                    aria-describedby=[form.error(LIST).map(|_| "f-list-error")];
            }
            div.row { button.primary { (words.t("bulk-do")) } a.button href=(page_path(&coupon.id)) { (words.t("action-cancel")) } }
        }
        section.panel.stack-small id="progress" hidden {
            h2 { (words.t("bulk-progress")) }
            label for="sent" { (words.t("bulk-sent")) }
            progress id="sent" max="1" value="0" {}
            p id="decided" role="status" {}
        }
        div id="result" {}
    };
    desk.page(&page(desk, coupon).of_form(form), &content)
}

async fn post(
    desk: Desk,
    id: Path<String>,
    request: HttpRequest,
    payload: web::Payload,
) -> Result<HttpResponse, Failure> {
    if !is_from_here(&request) {
        return Err(Failure::new(desk.words, StatusCode::FORBIDDEN, "failure-form"));
    }
    let mut parts = Multipart::new(request.headers(), asked_for(&request, payload.into_inner()));
    let mut form = Form::default();
    let list = fields(&desk, &mut parts, &mut form).await?;
    if !desk.is_own_form(form.get(FORM_TOKEN)) {
        return Err(Failure::new(desk.words, StatusCode::FORBIDDEN, "failure-form"));
    }
    let coupon: Coupon = desk.get(&api(&id)).await?;
    let has_reason = action::keep_reason(&desk, &mut form).await;
    let Some(list) = list else {
        form.set(LIST, "");
        form.refuse(LIST, desk.words.t("bulk-no-list"));
        return Ok(ask(&desk, &coupon, &form));
    };
    if !has_reason {
        return Ok(ask(&desk, &coupon, &form));
    }
    tracing::info!(coupon_id = %coupon.id, reason = form.get(REASON), "units for a list of users from the console");
    let content: Pin<Box<dyn Stream<Item = Result<Bytes, PayloadError>>>> = Box::pin(content(parts, list));
    let path = format!("{}/bulk-issues", api(&id));
    let headers = vec![(CONTENT_TYPE, NDJSON)];
    let answer = desk.answer(Method::POST, &path, Payload::from(content), headers).await;
    let answer = answer.map_err(|problem| Failure::of_api(desk.words, problem))?;
    if answer.status() != StatusCode::OK {
        return Err(desk.refusal(answer).await);
    }
    let lines = lines(answer.into_body());
    if request.headers().get(ACCEPT) == Some(&NDJSON) {
        let told = Box::pin(told(desk.words, coupon.id.to_string(), lines));
        return Ok(HttpResponse::Ok().content_type(NDJSON).streaming(told));
    }
    let mut lines = std::pin::pin!(lines);
    let mut tally = Tally::default();
    while let Some(line) = lines.next().await {
        tally.add(line);
    }
    let content = html! {
        (tabs(&desk, &coupon.id, "bulk"))
        (tally.html(desk.words, &coupon.id))
        p { a href=(format!("{}/bulk", page_path(&coupon.id))) { (desk.words.t("bulk-another")) } }
    };
    Ok(desk.page(&page(&desk, &coupon), &content))
}

/// The content, which a browser may send as it is read.
fn asked_for(request: &HttpRequest, payload: Payload) -> impl Stream<Item = Result<Bytes, PayloadError>> + use<> {
    let connection = ConnectionState::of(request);
    if let Some(connection) = &connection {
        connection.ask(Asked::Chunked(AHEAD_BYTES));
    }
    payload.inspect_ok(move |chunk| {
        if let Some(connection) = &connection {
            connection.ask(Asked::Chunked(chunk.len() as u64));
        }
    })
}

/// Reads the fields before the file. Returns the file.
async fn fields(desk: &Desk, parts: &mut Multipart, form: &mut Form) -> Result<Option<Part>, Failure> {
    let broken = || Failure::new(desk.words, StatusCode::BAD_REQUEST, "failure-form");
    while let Some(part) = parts.next().await {
        let mut part = part.map_err(|_| broken())?;
        let name = part.name().unwrap_or_default().to_owned();
        if name == LIST {
            // A browser sends a file without a name where none was chosen.
            let file = part.content_disposition().and_then(|about| about.get_filename());
            return Ok(file.is_some_and(|file| !file.is_empty()).then_some(part));
        }
        let read = part.bytes(MAX_FIELD_BYTES).await;
        let bytes = read.ok().and_then(Result::ok).ok_or_else(broken)?;
        form.set(&name, String::from_utf8_lossy(&bytes));
    }
    Ok(None)
}

/// The file as it arrives.
fn content(parts: Multipart, mut list: Part) -> impl Stream<Item = Result<Bytes, PayloadError>> {
    async_stream::stream! {
        // The file is read through it.
        let _parts = parts;
        while let Some(chunk) = list.next().await {
            let is_broken = chunk.is_err();
            yield chunk.map_err(|_| PayloadError::Incomplete(None));
            if is_broken {
                return;
            }
        }
    }
}

/// The name of what came of a line.
fn result(answer: &LineAnswer) -> &'static str {
    match answer {
        LineAnswer::Issue(issue) => issue.result.as_str(),
        LineAnswer::Refused { result, .. } => result.as_str(),
    }
}

/// The lines of the API's answer as they come.
fn lines(mut body: BoxBody) -> impl Stream<Item = BulkLine> {
    let mut chunks = poll_fn(move |context| Pin::new(&mut body).poll_next(context));
    async_stream::stream! {
        let mut held = BytesMut::new();
        while let Some(Ok(chunk)) = chunks.next().await {
            held.extend_from_slice(&chunk);
            while let Some(end) = held.iter().position(|byte| *byte == b'\n') {
                let line = held.split_to(end + 1);
                if let Ok(line) = serde_json::from_slice(&line) {
                    yield line;
                }
            }
            if held.len() > MAX_LINE_BYTES {
                return;
            }
        }
    }
}

/// For the script: how far it is, and at the end the result.
fn told(
    words: Words,
    id: String,
    lines: impl Stream<Item = BulkLine>,
) -> impl Stream<Item = Result<Bytes, Infallible>> {
    async_stream::stream! {
        let mut lines = std::pin::pin!(lines);
        let (mut tally, mut last) = (Tally::default(), Instant::now());
        while let Some(line) = lines.next().await {
            tally.add(line);
            if last.elapsed() >= TELL_EVERY {
                last = Instant::now();
                yield Ok(Bytes::from(format!("{}\n", json!({ "text": tally.text(words) }))));
            }
        }
        let html = tally.html(words, &id).into_string();
        yield Ok(Bytes::from(format!("{}\n", json!({ "text": tally.text(words), "html": html }))));
    }
}

/// What came of the lines so far.
#[derive(Debug, Default)]
struct Tally {
    by_result: BTreeMap<&'static str, u64>,
    /// Lines whose units were issued before this list.
    before: u64,
    /// The first lines that got no unit.
    named: Vec<BulkLine>,
    without: u64,
    /// The line at which the work ended early, and why.
    stopped: Option<(u64, String)>,
}

impl Tally {
    fn add(&mut self, line: BulkLine) {
        let is_good = match &line.answer {
            LineAnswer::Refused {
                result: LineResult::Stopped,
                detail,
                ..
            } => {
                self.stopped = Some((line.line, detail.clone()));
                return;
            }
            LineAnswer::Refused { .. } => false,
            LineAnswer::Issue(issue) if line.replayed && issue.result == RequestState::Issued => {
                self.before += 1;
                return;
            }
            LineAnswer::Issue(issue) => matches!(issue.result, RequestState::Issued | RequestState::Queued),
        };
        *self.by_result.entry(result(&line.answer)).or_default() += 1;
        if !is_good {
            self.without += 1;
            if self.named.len() < MAX_NAMED {
                self.named.push(line);
            }
        }
    }

    fn lines(&self) -> u64 {
        self.by_result.values().sum::<u64>() + self.before
    }

    fn text(&self, words: Words) -> String {
        let issued = self
            .by_result
            .get(RequestState::Issued.as_str())
            .copied()
            .unwrap_or_default();
        words.tv(
            "bulk-decided",
            [("lines", self.lines().into()), ("issued", issued.into())],
        )
    }

    fn html(&self, words: Words, id: &str) -> Markup {
        html! {
            section.panel.stack {
                h2 { (words.t("bulk-result")) }
                @if let Some((line, why)) = &self.stopped {
                    p.note.bad role="alert" { (words.tv("bulk-stopped", [("line", (*line).into())])) " " (why) }
                } @else {
                    p.note.good role="status" { (self.text(words)) }
                }
                div.cards { @for (result, count) in &self.by_result {
                    div.card { b { (grouped((*count).into())) } span { (words.t(&format!("result-{result}"))) } }
                }
                @if self.before > 0 {
                    div.card { b { (grouped(self.before.into())) } span { (words.t("bulk-before")) } }
                } }
                @if !self.named.is_empty() { (self.without_unit(words, id)) }
            }
        }
    }

    fn without_unit(&self, words: Words, id: &str) -> Markup {
        html! {
            h3 { (words.t("bulk-without")) }
            @if self.without > self.named.len() as u64 {
                p.hint { (words.tv("bulk-first", [("shown", self.named.len().into()), ("count", self.without.into())])) }
            }
            (wide(&words.t("bulk-without"), &html! { table {
                thead { tr { (number_heads(words, &["bulk-line"])) (heads(words, &["issue-request", "issue-result", "dead-why"])) } }
                tbody { @for line in &self.named { tr {
                    td.number { (grouped(line.line.into())) }
                    td { @if let LineAnswer::Issue(issue) = &line.answer { a.id href=(issue_path(id, &issue.request_id)) { (issue.request_id) } } @else { "—" } }
                    td { (words.t(&format!("result-{}", result(&line.answer)))) }
                    td.text { @if let LineAnswer::Refused { detail, errors, .. } = &line.answer {
                        (detail)
                        @for wrong in errors { " " code { (wrong.field) } " " (wrong.rule) }
                    } }
                } } }
            } }))
        }
    }
}

#[cfg(test)]
mod tests {
    use jackpot_api::coupon::IssueBody;

    use super::*;

    fn issue(line: u64, result: RequestState) -> BulkLine {
        let issue = IssueBody {
            result,
            request_id: "<r>".to_owned(),
            ..IssueBody::default()
        };
        BulkLine {
            line,
            replayed: false,
            answer: LineAnswer::Issue(Box::new(issue)),
        }
    }

    fn refused(line: u64, result: LineResult) -> BulkLine {
        let answer = LineAnswer::Refused {
            result,
            code: "invalid-request".into(),
            detail: "a <b>".to_owned(),
            errors: Vec::new(),
        };
        BulkLine {
            line,
            replayed: false,
            answer,
        }
    }

    #[test]
    fn a_result_counts_every_line_and_names_the_first_without_a_unit() {
        let words = jackpot_ui::Language::En.words();
        let mut tally = Tally::default();
        for number in 1..=300 {
            tally.add(match number % 3 {
                0 => issue(number, RequestState::Issued),
                1 => issue(number, RequestState::OutOfStock),
                _ => refused(number, LineResult::Refused),
            });
        }
        let html = tally.html(words, "coffee").into_string();
        assert_eq!((tally.lines(), tally.named.len(), tally.without), (300, 200, 200));
        assert!(
            html.contains("&lt;r&gt;") && html.contains("a &lt;b&gt;") && !html.contains("<r>"),
            "{html}"
        );
        tally.add(refused(301, LineResult::Refused));
        let html = tally.html(words, "coffee").into_string();
        assert!(html.contains("201") && tally.named.len() == 200);
        tally.add(refused(302, LineResult::Stopped));
        assert!(tally.html(words, "coffee").into_string().contains("role=\"alert\""));
    }
}
