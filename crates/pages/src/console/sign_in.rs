//! Signing in with an API key, and signing out.

use actix_web::body::MessageBody as _;
use actix_web::cookie::{Cookie, SameSite};
use actix_web::http::StatusCode;
use actix_web::http::header::{LOCATION, SET_COOKIE};
use actix_web::web::{self, Data};
use actix_web::{HttpRequest, HttpResponse};
use jackpot_ui::Words;
use jackpot_ui::frame::{Frame, ICON_FILE};
use jiff::Timestamp;
use maud::html;
use serde::Deserialize;

use super::desk::{FORM_TOKEN, cookie, cookie_name, is_from_here, is_tls, key_name, read_form, session};
use super::session::LASTS;
use super::state::Console;
use super::{Failure, Field, Form, Kind, Posted, links};
use jackpot_kernel::http::auth::Role;
use jackpot_kernel::http::html::{self, Reader};
use jackpot_kernel::http::peer::Peer;
use jackpot_kernel::random;
use jackpot_kernel::rate::Moment;

/// The cookie that ties the form to this browser before there is a session.
const FORM_COOKIE: &str = "jackpot_sign_in";

/// Longer keys can't be valid.
const MAX_KEY_BYTES: usize = 256;

#[derive(Debug, Deserialize)]
pub struct Next {
    next: Option<String>,
}

/// The form. Someone who is signed in goes on.
pub async fn get(
    Reader(words): Reader,
    next: web::Query<Next>,
    request: HttpRequest,
    console: Data<Console>,
) -> Result<HttpResponse, Failure> {
    let next = safe(next.next.as_deref());
    if session(&console, &request).await.is_some() {
        return Ok(to(next));
    }
    let mut form = Form::default();
    form.set("next", next);
    shown(words, &console, &request, &form, StatusCode::OK)
}

/// Only pages of the console: a link must not lead elsewhere after it took a key.
fn safe(next: Option<&str>) -> &str {
    next.filter(|next| next.starts_with("/console/") && !next.contains(['\\', '\n', '\r']))
        .unwrap_or("/console/")
}

fn to(path: &str) -> HttpResponse {
    HttpResponse::SeeOther().insert_header((LOCATION, path)).finish()
}

/// The form, with a token that only this browser's cookie fits.
fn shown(
    words: Words,
    console: &Console,
    request: &HttpRequest,
    form: &Form,
    status: StatusCode,
) -> Result<HttpResponse, Failure> {
    let broken = |_| Failure::new(words, StatusCode::INTERNAL_SERVER_ERROR, "failure-request");
    let tie = hex::encode(random::bytes::<16>().map_err(broken)?);
    let token = console.sessions.form_token(tie.as_bytes());
    let (label, hint) = (words.t("sign-in-key"), words.t("sign-in-key-hint"));
    let title = words.t("sign-in");
    let frame = Frame::new(words, &title, "single");
    let markup = frame.around(&html! {
        main {
            p.row { img src=(ICON_FILE.path()) alt="" width="28" height="28"; strong { (words.t("console")) } }
            h1 { (title) }
            (form.summary(words))
            form.stack method="post" action="/console/sign-in" {
                input type="hidden" name=(FORM_TOKEN) value=(token);
                input type="hidden" name="next" value=(form.get("next"));
                // Password managers keep a key under a name.
                input.hidden type="text" name="username" value="jackpot" autocomplete="username" tabindex="-1" aria-hidden="true" readonly;
                (Field::new("key", &label, Kind::Password).hint(&hint).of(form))
                button.primary { (title) }
            }
            p.hint { (words.t("sign-in-where")) " " code { "jackpot key new --role read --name NAME" } }
        }
    });
    let mut answer = html::page(status, words, markup);
    let cookie = built(FORM_COOKIE, tie, is_tls(console, request))
        .path("/console/sign-in")
        .finish();
    set(&mut answer, &cookie);
    Ok(answer)
}

fn built(name: &str, value: String, is_tls: bool) -> actix_web::cookie::CookieBuilder<'_> {
    Cookie::build(name, value)
        .http_only(true)
        .secure(is_tls)
        .same_site(SameSite::Strict)
}

fn set(answer: &mut HttpResponse, cookie: &Cookie<'_>) {
    if let Ok(value) = cookie.encoded().to_string().parse() {
        answer.headers_mut().append(SET_COOKIE, value);
    }
}

/// Opens a session. It always has a new id, so nobody can know it before.
pub async fn post(
    Reader(words): Reader,
    request: HttpRequest,
    peer: Peer,
    console: Data<Console>,
    payload: web::Payload,
) -> Result<HttpResponse, Failure> {
    let mut form = read_form(words, &mut payload.into_inner()).await?;
    let tie = cookie(&request, FORM_COOKIE).unwrap_or_default();
    let is_ours = console.sessions.is_form_token(tie.as_bytes(), form.get(FORM_TOKEN));
    if !is_from_here(&request) || !is_ours {
        return Err(Failure::new(words, StatusCode::FORBIDDEN, "failure-form"));
    }
    let key = form.get("key");
    let known = (key.len() <= MAX_KEY_BYTES).then(|| console.keys.find(key)).flatten();
    let Some(known) = known else {
        if let Some(Err(wait)) = peer.address.map(|address| address.failed_key(Moment::now())) {
            return Err(Failure::too_many(words, wait.as_secs() + 1));
        }
        form.set("key", "");
        form.refuse("key", words.t("sign-in-wrong-key"));
        return shown(words, &console, &request, &form, StatusCode::UNAUTHORIZED);
    };
    if known.key.role == Role::Play {
        form.set("key", "");
        form.refuse("key", words.t("sign-in-play-key"));
        return shown(words, &console, &request, &form, StatusCode::FORBIDDEN);
    }
    let broken = |_| Failure::new(words, StatusCode::INTERNAL_SERVER_ERROR, "failure-request");
    let opened = console.sessions.open(key_name(&known.key.sha256), Timestamp::now());
    let (token, text) = opened.map_err(broken)?;
    tracing::info!(
        key = known.key.name.as_str(),
        session = token.name(),
        "signed in to the console"
    );
    let mut answer = match known.key.role {
        Role::Approve => to(links::HELD),
        _ => to(safe(Some(form.get("next")))),
    };
    let is_tls = is_tls(&console, &request);
    let lasts = i64::try_from(LASTS.as_secs()).unwrap_or(i64::MAX);
    let cookie = built(cookie_name(is_tls), text, is_tls).path(path(is_tls));
    let cookie = cookie
        .max_age(actix_web::cookie::time::Duration::seconds(lasts))
        .finish();
    set(&mut answer, &cookie);
    Ok(answer)
}

/// The prefix of the cookie over TLS asks for `/`.
fn path(is_tls: bool) -> &'static str {
    if is_tls { "/" } else { "/console" }
}

/// Ends the session on every instance.
pub async fn leave(request: HttpRequest, posted: Posted) -> Result<HttpResponse, Failure> {
    let desk = posted.desk;
    if let Err(error) = desk.console.signed_out.add(&desk.session.token).await {
        tracing::error!(%error, "a session could not be signed out");
        return Err(Failure::new(
            desk.words,
            StatusCode::SERVICE_UNAVAILABLE,
            "failure-sign-out",
        ));
    }
    tracing::info!(
        key = desk.session.caller.name(),
        session = desk.session.token.name(),
        "signed out of the console"
    );
    let mut answer = to("/console/sign-in");
    let is_tls = is_tls(&desk.console, &request);
    let mut cookie = built(cookie_name(is_tls), String::new(), is_tls)
        .path(path(is_tls))
        .finish();
    cookie.make_removal();
    set(&mut answer, &cookie);
    debug_assert!(answer.body().size().is_eof());
    Ok(answer)
}
