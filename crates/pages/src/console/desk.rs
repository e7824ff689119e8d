//! What every page has: the operator, the texts, the calls of the API, the frame.

use std::collections::HashMap;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use actix_web::body::{BodySize, BoxBody, MessageBody, to_bytes_limited};
use actix_web::dev::Payload;
use actix_web::http::header::{
    ACCEPT, CACHE_CONTROL, CONTENT_TYPE, COOKIE, ETAG, HOST, HeaderName, HeaderValue, ORIGIN,
};
use actix_web::http::{Method, StatusCode};
use actix_web::web::{self, Bytes, BytesMut, Data};
use actix_web::{FromRequest, HttpMessage as _, HttpRequest, HttpResponse};
use futures_util::StreamExt as _;
use futures_util::future::LocalBoxFuture;
use jackpot_ui::frame::{Frame, ICON_FILE};
use jackpot_ui::{Asset, Words};
use jiff::Timestamp;
use maud::{Markup, html};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::{MissedTickBehavior, interval};
use url::form_urlencoded;

use super::SCRIPT;
use super::failure::Failure;
use super::form::Form;
use super::links;
use super::session::{KEY_BYTES, Token};
use super::state::Console;
use jackpot_kernel::http::auth::{Caller, Role};
use jackpot_kernel::http::code::Code;
use jackpot_kernel::http::inside::{ApiCall, Inside};
use jackpot_kernel::http::problem::ProblemBody;
use jackpot_kernel::http::{Asked, ConnectionState};
use jackpot_kernel::http::{html, peer};
use jackpot_kernel::random;
use jackpot_kernel::telemetry::request;

/// The cookie over plain HTTP. Over TLS the prefix keeps other hosts of the domain from setting it (RFC 6265bis, 4.1.3.2).
const COOKIE_NAME: &str = "jackpot_session";
const TLS_COOKIE_NAME: &str = "__Host-jackpot_session";

/// Largest answer of the API that a page reads: a page of 1,000 rows has a tenth of it.
const MAX_ANSWER_BYTES: usize = 8 << 20;

/// Header of the script that keeps a page's live parts fresh.
const LIVE: &str = "x-live";

/// How often an open stream looks whether its session was signed out.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The operator of a page.
#[derive(Debug, Clone)]
pub struct Session {
    pub token: Token,
    pub caller: Caller,
}

/// The page's side of the service.
#[derive(Clone)]
pub struct Desk {
    pub words: Words,
    pub session: Session,
    pub console: Data<Console>,
    inside: Inside,
    query: HashMap<String, String>,
    /// Whether only the live parts of the page are wanted.
    pub is_live: bool,
}

/// Name of the session's cookie for this client.
pub fn cookie_name(is_tls: bool) -> &'static str {
    if is_tls { TLS_COOKIE_NAME } else { COOKIE_NAME }
}

/// Whether the client came over TLS, to this instance or to a trusted proxy.
pub fn is_tls(console: &Console, request: &HttpRequest) -> bool {
    console.takes_tls || peer::is_proxied_tls(request)
}

/// The value of a cookie.
pub fn cookie(request: &HttpRequest, name: &str) -> Option<String> {
    let all = request
        .headers()
        .get_all(COOKIE)
        .filter_map(|header| header.to_str().ok());
    let mut pairs = all
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='));
    pairs.find_map(|(of, value)| (of == name).then(|| value.to_owned()))
}

/// Whether a form was sent by a page of this service, as far as the browser says it.
pub fn is_from_here(request: &HttpRequest) -> bool {
    let header = |name: &str| request.headers().get(name).map(|value| value.to_str().unwrap_or("?"));
    let site = header("sec-fetch-site").is_none_or(|site| site == "same-origin");
    let host = header(HOST.as_str()).unwrap_or_default();
    // Chromium sends `null` from pages without a referrer.
    let origin = header(ORIGIN.as_str()).filter(|origin| *origin != "null");
    site && origin.is_none_or(|origin| origin.split_once("://").is_some_and(|(_, of)| of == host))
}

/// The session of a request, if there is one.
pub async fn session(console: &Console, request: &HttpRequest) -> Option<Session> {
    let text = cookie(request, cookie_name(is_tls(console, request)))?;
    let token = console.sessions.read(&text, Timestamp::now())?;
    let known = console.keys.find_named(&token.key)?;
    if console.signed_out.contains(&token).await {
        return None;
    }
    let caller = Caller::of_session(known);
    request::caller(caller.shared_name());
    Some(Session { token, caller })
}

/// The part of a key's digest that a token holds.
pub fn key_name(digest: &[u8; 32]) -> [u8; KEY_BYTES] {
    let mut name = [0; KEY_BYTES];
    name.copy_from_slice(&digest[..KEY_BYTES]);
    name
}

impl FromRequest for Desk {
    type Error = Failure;
    type Future = LocalBoxFuture<'static, Result<Self, Failure>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let words = html::words_of(request);
        let console = request.app_data::<Data<Console>>().cloned();
        let inside = Inside::from_request(request, payload).into_inner();
        let request = request.clone();
        Box::pin(async move {
            let inside = inside.map_err(|problem| Failure::of_problem(words, &problem))?;
            let console = console.ok_or(Failure::SignIn { next: None })?;
            let next = || (request.method() == Method::GET).then(|| request.uri().to_string());
            let session = session(&console, &request).await;
            let session = session.ok_or_else(|| Failure::SignIn { next: next() })?;
            let query = form_urlencoded::parse(request.query_string().as_bytes())
                .into_owned()
                .collect();
            Ok(Self {
                words,
                session,
                console,
                inside,
                query,
                is_live: request.headers().contains_key(LIVE),
            })
        })
    }
}

/// A form that the operator sent, checked to be from a page of this session.
pub struct Posted {
    pub desk: Desk,
    pub form: Form,
}

impl FromRequest for Posted {
    type Error = Failure;
    type Future = LocalBoxFuture<'static, Result<Self, Failure>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let desk = Desk::from_request(request, payload);
        let mut payload = payload.take();
        let request = request.clone();
        Box::pin(async move {
            let desk = desk.await?;
            let is_form = request.content_type() == "application/x-www-form-urlencoded";
            if !is_form || !is_from_here(&request) {
                return Err(Failure::new(desk.words, StatusCode::FORBIDDEN, "failure-form"));
            }
            // Over HTTP/1 a client may send a large body only when it is asked for.
            if let Some(connection) = ConnectionState::of(&request) {
                connection.ask(Asked::Chunked(MAX_FORM_BYTES as u64));
            }
            let form = read_form(desk.words, &mut payload).await?;
            if !desk.is_own_form(form.get(FORM_TOKEN)) {
                return Err(Failure::new(desk.words, StatusCode::FORBIDDEN, "failure-form"));
            }
            Ok(Self { desk, form })
        })
    }
}

/// The field of every form that shows that a page of this session sent it.
pub const FORM_TOKEN: &str = "form_token";

/// Largest form: a definition with a thousand ranks has a fifth of it.
const MAX_FORM_BYTES: usize = 1 << 20;

/// The fields of a body.
pub async fn read_form(words: Words, payload: &mut Payload) -> Result<Form, Failure> {
    let mut body = BytesMut::new();
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|_| Failure::new(words, StatusCode::BAD_REQUEST, "failure-form"))?;
        if body.len() + chunk.len() > MAX_FORM_BYTES {
            return Err(Failure::new(words, StatusCode::PAYLOAD_TOO_LARGE, "failure-too-large"));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Form::of(form_urlencoded::parse(&body).into_owned().collect()))
}

/// A page without its content.
pub struct Page {
    section: Section,
    title: String,
    trail: Vec<(String, String)>,
    side: Option<Markup>,
    status: StatusCode,
    scripts: Vec<&'static Asset>,
}

impl Page {
    pub fn new(section: Section, title: impl Into<String>) -> Self {
        Self {
            section,
            title: title.into(),
            trail: Vec::new(),
            side: None,
            status: StatusCode::OK,
            scripts: vec![&SCRIPT],
        }
    }

    /// Under these pages: texts and addresses.
    pub fn under(self, trail: impl Into<Vec<(String, String)>>) -> Self {
        let trail = trail.into();
        Self { trail, ..self }
    }

    /// With this beside the heading.
    pub fn beside(self, side: impl Into<Option<Markup>>) -> Self {
        let side = side.into();
        Self { side, ..self }
    }

    pub fn status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }

    /// With the status of a form: 422 once it was refused.
    pub fn of_form(self, form: &Form) -> Self {
        if form.is_refused() {
            return self.status(StatusCode::UNPROCESSABLE_ENTITY);
        }
        self
    }

    /// With a script beside the one of every page.
    pub fn script(mut self, script: &'static Asset) -> Self {
        self.scripts.push(script);
        self
    }
}

/// A part of the console, in its side bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    Overview,
    Guide,
    Jackpots,
    Coupons,
    Rooms,
    Payouts,
    Entries,
    Ledger,
    Reports,
    Subscriptions,
    Audit,
    Keys,
    Instances,
    Emergency,
    Commands,
}

/// A section in the side bar: the text of its name, and its address.
type Entry = (Section, &'static str, &'static str);

/// The groups of the side bar: the texts of their names, and their sections.
const SIDE_BAR: [(&str, &[Entry]); 3] = [
    (
        "nav-play",
        &[
            (Section::Overview, "nav-overview", "/console/"),
            (Section::Guide, "guide", "/console/guide"),
            (Section::Jackpots, "nav-jackpots", "/console/jackpots"),
            (Section::Coupons, "nav-coupons", "/console/coupons"),
            (Section::Rooms, "nav-rooms", "/console/rooms"),
        ],
    ),
    (
        "nav-money",
        &[
            (Section::Payouts, "nav-payouts", "/console/payouts"),
            (Section::Entries, "nav-entries", "/console/entries"),
            (Section::Ledger, "nav-ledger", "/console/ledger"),
            (Section::Reports, "nav-reports", "/console/reports"),
        ],
    ),
    (
        "nav-service",
        &[
            (Section::Subscriptions, "nav-subscriptions", "/console/subscriptions"),
            (Section::Audit, "nav-audit", "/console/audit"),
            (Section::Keys, "nav-keys", "/console/keys"),
            (Section::Instances, "nav-instances", "/console/instances"),
            (Section::Emergency, "emergency", links::EMERGENCY),
            (Section::Commands, "nav-commands", "/console/commands"),
        ],
    ),
];

impl Desk {
    /// A parameter of the page's address; empty without it.
    pub fn query(&self, name: &str) -> &str {
        self.query.get(name).map_or("", String::as_str)
    }

    /// Whether the key may name only some jackpots, coupons and rooms.
    pub fn is_bound(&self) -> bool {
        self.session.caller.own_of_all_kinds().is_some()
    }

    /// Whether the operator may act, or only look.
    pub fn may_operate(&self) -> bool {
        self.session.caller.role() == Role::Operate
    }

    /// Whether the operator approves, and sees no more than what waits for that.
    pub fn may_approve(&self) -> bool {
        self.session.caller.role() == Role::Approve
    }

    /// Asks the API.
    pub async fn ask<T: DeserializeOwned>(&self, path: &str) -> Result<T, ProblemBody> {
        self.call(Method::GET, path, None).await
    }

    /// Asks the API for what the page is about.
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Failure> {
        self.ask(path)
            .await
            .map_err(|problem| Failure::of_api(self.words, problem))
    }

    /// Acts by the API. For an action whose body has no reason call `keep_reason` first.
    pub async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<T, ProblemBody> {
        read(path, self.answer(method, path, content(body), Vec::new()).await?).await
    }

    /// Asks the API for something that it tells even with a problem of this status.
    pub async fn ask_also<T: DeserializeOwned>(&self, path: &str, also: StatusCode) -> Result<T, ProblemBody> {
        let mut answer = self.answer(Method::GET, path, Payload::None, Vec::new()).await?;
        if answer.status() == also {
            *answer.status_mut() = StatusCode::OK;
        }
        read(path, answer).await
    }

    /// Asks the API for a file, to be passed on as it comes.
    pub async fn file(&self, path: &str, accept: &'static str) -> Result<HttpResponse, Failure> {
        let wish = vec![(ACCEPT, HeaderValue::from_static(accept))];
        let failed = |problem| Failure::of_api(self.words, problem);
        let answer = self
            .answer(Method::GET, path, Payload::None, wish)
            .await
            .map_err(failed)?;
        if answer.status() == StatusCode::OK {
            return Ok(answer);
        }
        Err(self.refusal(answer).await)
    }

    /// The same under a precondition.
    pub async fn call_if<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        condition: HeaderName,
        tag: &str,
    ) -> Result<T, ProblemBody> {
        let tag = HeaderValue::from_str(tag).map_err(|_| unreadable(StatusCode::PRECONDITION_FAILED))?;
        read(
            path,
            self.answer(method, path, content(body), vec![(condition, tag)]).await?,
        )
        .await
    }

    /// What the page is about, and the tag of its version.
    pub async fn get_tagged<T: DeserializeOwned>(&self, path: &str) -> Result<(T, String), Failure> {
        let failed = |problem| Failure::of_api(self.words, problem);
        let answer = self
            .answer(Method::GET, path, Payload::None, Vec::new())
            .await
            .map_err(failed)?;
        let tag = answer
            .headers()
            .get(ETAG)
            .and_then(|tag| tag.to_str().ok())
            .unwrap_or_default()
            .to_owned();
        Ok((read(path, answer).await.map_err(failed)?, tag))
    }

    /// The API's answer as it is: a stream, a file, a problem. The content may still be arriving.
    pub async fn answer(
        &self,
        method: Method,
        path: &str,
        content: Payload,
        headers: Vec<(HeaderName, HeaderValue)>,
    ) -> Result<HttpResponse, ProblemBody> {
        let call = ApiCall {
            method,
            path,
            caller: Some(&self.session.caller),
            content,
            headers,
        };
        let called = self.inside.call(call).await;
        called.map_err(|problem| unreadable(problem.code.status()))
    }

    /// The API's refusal, as a page.
    pub async fn refusal(&self, answer: HttpResponse) -> Failure {
        Failure::of_api(self.words, self.problem(answer).await)
    }

    /// The problem of an answer that refuses.
    pub async fn problem(&self, answer: HttpResponse) -> ProblemBody {
        let problem = read::<Value>("", answer).await.err();
        problem.unwrap_or_else(|| unreadable(StatusCode::INTERNAL_SERVER_ERROR))
    }

    /// Whether a form with this token is from a page of this session.
    pub fn is_own_form(&self, sent: &str) -> bool {
        self.console.sessions.is_form_token(&self.session.token.id, sent)
    }

    /// An answer as a page reads it.
    /// Errors: the answer is another one: the page and the API are of different versions.
    pub fn parsed<T: DeserializeOwned>(&self, answer: &Value) -> Result<T, Failure> {
        T::deserialize(answer).map_err(|error| {
            tracing::error!(%error, "a page can't read an answer of the API");
            Failure::of_api(self.words, unreadable(StatusCode::INTERNAL_SERVER_ERROR))
        })
    }

    /// What an action of this session did, for the address of the page after it.
    pub fn flash(&self, done: &str) -> String {
        let id = &self.session.token.id;
        self.console.sessions.flash(id, done, Timestamp::now())
    }

    /// An id for an action of a form, which makes a repeat of it harmless.
    pub fn new_id(&self) -> Result<String, Failure> {
        let broken = |_| Failure::new(self.words, StatusCode::INTERNAL_SERVER_ERROR, "failure-request");
        Ok(format!(
            "console-{}",
            hex::encode(random::bytes::<8>().map_err(broken)?)
        ))
    }

    /// The hidden field of every form.
    pub fn form_token(&self) -> Markup {
        let token = self.console.sessions.form_token(&self.session.token.id);
        html! { input type="hidden" name=(FORM_TOKEN) value=(token); }
    }

    /// The whole page.
    pub fn page(&self, page: &Page, content: &Markup) -> HttpResponse {
        let words = self.words;
        let title = format!("{} · {}", page.title, words.t("console"));
        let frame = Frame {
            scripts: &page.scripts,
            ..Frame::new(words, &title, "console")
        };
        html::page(page.status, words, frame.around(&self.around(page, content)))
    }

    fn around(&self, page: &Page, content: &Markup) -> Markup {
        let words = self.words;
        html! {
            a.skip href="#content" { (words.t("skip")) }
            header.side { div {
                a.brand href=(if self.may_approve() { links::HELD } else { "/console/" }) { img src=(ICON_FILE.path()) alt=""; (words.t("console")) }
                nav aria-label=(words.t("nav")) { (sections(words, page.section, self.may_approve())) }
                div.who {
                    p { (words.t("signed-in-as")) " " strong { (self.session.caller.name()) } br; span.muted { (self.session.caller.role()) } }
                    form method="post" action="/console/sign-out" { (self.form_token()) button.plain { (words.t("sign-out")) } }
                }
            } }
            main id="content" tabindex="-1" {
                @if !page.trail.is_empty() {
                    nav.trail aria-label=(words.t("trail")) { ol {
                        @for (text, href) in &page.trail { li { a href=(href) { (text) } } }
                    } }
                }
                div.heading { h1 { (page.title) } @if let Some(side) = &page.side { (side) } }
                (self.done())
                (content)
            }
        }
    }

    /// What the action did that led to this page.
    fn done(&self) -> Markup {
        let (sessions, id) = (&self.console.sessions, &self.session.token.id);
        let name = sessions.read_flash(id, self.query("done"), Timestamp::now());
        html! { @if let Some(name) = name { p.note.good role="status" { (self.words.t(name)) } } }
    }
}

fn sections(words: Words, current: Section, approves: bool) -> Markup {
    let is_shown = |section: Section| !approves || section == Section::Payouts;
    let groups = SIDE_BAR
        .iter()
        .filter(|(_, sections)| sections.iter().any(|(section, ..)| is_shown(*section)));
    html! {
        @for (group, sections) in groups {
            h2 { (words.t(group)) }
            ul { @for (section, name, path) in sections.iter().filter(|(section, ..)| is_shown(*section)) {
                li { a href=(path) aria-current=[(*section == current).then_some("page")] { (words.t(name)) } }
            } }
        }
    }
}

fn content(body: Option<&Value>) -> Payload {
    body.map_or(Payload::None, |body| Payload::from(Bytes::from(body.to_string())))
}

/// The value of an answer, or its problem.
async fn read<T: DeserializeOwned>(path: &str, answer: HttpResponse) -> Result<T, ProblemBody> {
    let status = answer.status();
    let bytes = whole(answer.into_body()).await?;
    if status.is_client_error() || status.is_server_error() {
        return Err(serde_json::from_slice(&bytes).unwrap_or_else(|_| unreadable(status)));
    }
    serde_json::from_slice(&bytes).map_err(|error| {
        tracing::error!(path, %error, "a page can't read an answer of the API");
        unreadable(StatusCode::INTERNAL_SERVER_ERROR)
    })
}

async fn whole(body: BoxBody) -> Result<Bytes, ProblemBody> {
    match body.try_into_bytes() {
        Ok(bytes) => Ok(bytes),
        Err(body) => match to_bytes_limited(body, MAX_ANSWER_BYTES).await {
            Ok(Ok(bytes)) => Ok(bytes),
            Ok(Err(_)) | Err(_) => Err(unreadable(StatusCode::INTERNAL_SERVER_ERROR)),
        },
    }
}

/// A problem without a body that can be read.
pub fn unreadable(status: StatusCode) -> ProblemBody {
    ProblemBody {
        kind: String::new(),
        status: status.as_u16(),
        code: Code::Internal,
        title: status.canonical_reason().unwrap_or("Error").to_owned(),
        detail: "The service could not answer. Its log has the request's id.".to_owned(),
        errors: Vec::new(),
    }
}

/// Streams of the API for the script of a page, which can send no key. They end with the session.
pub async fn live(desk: Desk, path: web::Path<String>) -> Result<HttpResponse, Failure> {
    let path = format!("/v1/{path}");
    if !path.ends_with("/stream") {
        return Err(Failure::new(desk.words, StatusCode::NOT_FOUND, "failure-no-page"));
    }
    let answer = desk.answer(Method::GET, &path, Payload::None, Vec::new()).await;
    let answer = answer.map_err(|problem| Failure::of_api(desk.words, problem))?;
    let status = answer.status();
    let kind = answer.headers().get(CONTENT_TYPE).cloned();
    if status != StatusCode::OK {
        return Ok(answer);
    }
    let mut told = HttpResponse::Ok();
    if let Some(kind) = kind {
        told.insert_header((CONTENT_TYPE, kind));
    }
    let (_, body) = answer.into_parts();
    let body = until_signed_out(&desk, body, Early::Ends);
    Ok(told.insert_header((CACHE_CONTROL, "no-store")).body(body))
}

/// What becomes of a long answer whose session ends before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Early {
    /// It ends: a stream of events.
    Ends,
    /// It breaks off: a file that ends early must not look whole.
    Breaks,
}

/// A body that does not outlive the session.
pub fn until_signed_out(desk: &Desk, body: BoxBody, early: Early) -> BoxBody {
    let ended = signed_out(desk.console.clone(), desk.session.token.clone());
    BoxBody::new(UntilSignedOut {
        body,
        ended: Box::pin(ended),
        early,
    })
}

/// Returns when the session is over or its operator has signed out, on any instance.
async fn signed_out(console: Data<Console>, token: Token) {
    let mut ticks = interval(LOOK_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if Timestamp::now() >= token.until || console.signed_out.contains(&token).await {
            return;
        }
    }
}

/// A stream that ends with its session.
struct UntilSignedOut {
    body: BoxBody,
    ended: Pin<Box<dyn Future<Output = ()>>>,
    early: Early,
}

impl MessageBody for UntilSignedOut {
    type Error = <BoxBody as MessageBody>::Error;

    fn size(&self) -> BodySize {
        BodySize::Stream
    }

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, Self::Error>>> {
        let this = self.get_mut();
        if this.ended.as_mut().poll(context).is_ready() {
            return Poll::Ready(match this.early {
                Early::Ends => None,
                Early::Breaks => Some(Err("the session has ended".into())),
            });
        }
        Pin::new(&mut this.body).poll_next(context)
    }
}
