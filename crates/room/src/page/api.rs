//! The routes of the waiting page, and of the tokens that open it.
//!
//! The page needs no key: the token in its address authorizes its holder. Errors are pages too.

use actix_web::http::StatusCode;
use actix_web::http::header::{
    ACCEPT_LANGUAGE, CACHE_CONTROL, CONTENT_LANGUAGE, CONTENT_SECURITY_POLICY, LOCATION, REFERRER_POLICY, RETRY_AFTER,
    VARY, X_CONTENT_TYPE_OPTIONS,
};
use actix_web::web::{self, Data, Path, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use jackpot_api::room::JoinToken;
use jackpot_core::clock::rfc3339;
use jackpot_core::ids::{Id, PersonId};
use jackpot_ui::Words;
use serde::Deserialize;
use url::form_urlencoded;
use utoipa::{OpenApi, ToSchema};

use super::claims::{JoinClaims, NotHere, PLACE, PlaceClaims};
use super::html::{self, Refresh, Sign};
use super::listeners::Listeners;
use super::sight::{Sight, notice_of};
use super::stream;
use super::words::Notice;
use crate::error::RoomError;
use crate::pass;
use crate::return_to::ReturnTo;
use crate::rooms::Rooms;
use crate::tokens::TokenError;
use jackpot_kernel::http::Web;
use jackpot_kernel::http::auth;
use jackpot_kernel::http::body::{Body, Described};
use jackpot_kernel::http::code::Code;
use jackpot_kernel::http::html::Reader;
use jackpot_kernel::http::problem::{FieldError, Problem};
use jackpot_kernel::http::query::PathOf;
use jackpot_kernel::random;
use jackpot_kernel::telemetry::request;

/// When a page that could not be made is loaded again, in seconds.
const RETRY_S: u64 = 3;

#[derive(Debug, Clone)]
pub struct Api {
    rooms: Rooms,
    join_token_s: u64,
    listeners: Listeners,
}

/// The routes, described. Every route must be listed.
#[derive(OpenApi)]
#[openapi(paths(issue, wait, events, leave))]
pub struct ApiDoc;

/// Mounts the routes.
pub fn routes(config: &mut ServiceConfig, api: &Api) {
    config
        .app_data(Data::new(api.clone()))
        .route("/v1/rooms/{id}/join-tokens", web::post().to(issue))
        .route("/rooms/{id}/wait", jackpot_kernel::http::acting_get().to(wait))
        .route("/rooms/{id}/wait/events", web::get().to(events))
        .route("/rooms/{id}/wait/leave", web::post().to(leave));
}

/// A user to be sent to the waiting page.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct JoinTokenWish {
    /// The user who joins.
    #[schema(value_type = String, example = "u-1", pattern = "^[A-Za-z0-9][A-Za-z0-9._@|:+=-]{0,127}$")]
    user_id: PersonId,
    /// Where the page sends the admitted user, with the pass as the parameter `room_pass`: an absolute https URL
    /// without user, password and fragment; http only for localhost and 127.0.0.1. Its origin must be one of the room's
    /// `return_origins`, now and when the page sends the user.
    #[schema(value_type = String, format = "uri", max_length = 2_000, example = "https://shop.example/play")]
    return_to: ReturnTo,
}

impl Described for JoinTokenWish {}

/// Makes a short-lived token with which a user opens the waiting page. The user joins when the page opens.
#[utoipa::path(post, path = "/v1/rooms/{id}/join-tokens", operation_id = "create_join_token", tag = "rooms", security(("bearer" = [])),
    params(("id" = String, Path)),
    request_body(content = JoinTokenWish),
    responses((status = 201, description = "A token", body = JoinToken)),
    extensions(("x-problems" = json!([
        (Code::InvalidRequest, "`errors` names each field, `return_to` too if the room's `return_origins` lack its origin")]))))]
pub(crate) async fn issue(
    _: auth::Play,
    PathOf(id): PathOf<Id>,
    api: Data<Api>,
    Body(wish): Body<JoinTokenWish>,
) -> Result<HttpResponse, Problem> {
    request::room(id.shared());
    let room = api.rooms.shown(&id).await?;
    if !api.rooms.sends_to(&id, &wish.return_to).await? {
        let rule = format!(
            "{} is not in the return_origins of room '{id}'. Add it with PUT /v1/rooms/{id}, or send an address of a listed origin.",
            wish.return_to.origin().as_str()
        );
        return Err(Problem::invalid_request(vec![FieldError::new("return_to", rule)]));
    }
    let iat = room.snapshot.now_ms.div_euclid(1_000);
    let claims = JoinClaims {
        iss: api.rooms.tokens.issuer().to_owned(),
        room: id.clone(),
        sub: wish.user_id,
        iat,
        exp: iat.saturating_add_unsigned(api.join_token_s),
        jti: hex::encode(random::bytes::<16>().map_err(RoomError::from)?),
        return_to: wish.return_to,
    };
    let token = api.rooms.tokens.sign(pass::JOIN, &claims);
    Ok(HttpResponse::Created().json(JoinToken {
        url: format!("/rooms/{id}/wait?token={token}"),
        token,
        expires_at: rfc3339(claims.exp.saturating_mul(1_000)),
    }))
}

/// The waiting page.
///
/// With a join token it joins its user, as `POST …/tickets` does. Then it goes on to the page of the place, whose own
/// token names no user and ends with the ticket. That page shows the place. When the user is admitted, it goes on to
/// `return_to` with the pass.
#[utoipa::path(get, path = "/rooms/{id}/wait", operation_id = "waiting_page", tag = "rooms", extensions(("x-acts" = json!(true))),
    params(("id" = String, Path),
        ("token" = Option<String>, Query, description = "Of `POST /v1/rooms/{id}/join-tokens`"),
        ("place" = Option<String>, Query, description = "Where the page itself goes on")),
    responses((status = 200, description = "A place in the queue", content_type = "text/html", body = String),
        (status = 303, description = "To the page of the place, or to `return_to` with `room_pass`"),
        (status = 400, description = "Not a token of this service for this room", content_type = "text/html", body = String),
        (status = 403, description = "The room's `return_origins` do not have the origin of `return_to`", content_type = "text/html", body = String),
        (status = 404, description = "There is no such room", content_type = "text/html", body = String),
        (status = 410, description = "The join token has expired or was used, or the ticket has ended", content_type = "text/html", body = String),
        (status = 429, description = "The user has left the room too often; the page tries again after `Retry-After`", content_type = "text/html", body = String),
        (status = 503, description = "Redis does not answer, or the room takes no joins; the page tries again", content_type = "text/html", body = String)))]
pub(crate) async fn wait(
    id: Path<String>,
    Reader(words): Reader,
    request: HttpRequest,
    api: Data<Api>,
) -> HttpResponse {
    let link = Link::of(&request);
    let answer = match (Id::parse(&id), link) {
        (Err(_), _) => Err(Refusal::from(Notice::NoRoom)),
        (_, None) => Err(Refusal::from(Notice::BadLink)),
        (Ok(room), Some(Link::Join(token))) => api.join(&room, &token).await,
        (Ok(room), Some(Link::Place(token))) => api.place(words, &room, &token).await,
    };
    match answer {
        Ok(page) => page,
        Err(refusal) => api.refuse(words, &id, refusal).await,
    }
}

/// Keeps an open page of a place up to date.
#[utoipa::path(get, path = "/rooms/{id}/wait/events", operation_id = "waiting_page_events", tag = "rooms",
    params(("id" = String, Path), ("place" = String, Query)),
    responses((status = 200, description = "`place` with the texts of the page; `moved`: load the page again", content_type = "text/event-stream", body = String),
        (status = 400, description = "Not a token of this service for this room", content_type = "text/html", body = String),
        (status = 404, description = "There is no such room", content_type = "text/html", body = String)),
    extensions(("x-problems" = json!([
        (Code::TooManyStreams, "or a page, where the keys of other instances can't be read")]))))]
pub(crate) async fn events(
    id: Path<String>,
    Reader(words): Reader,
    request: HttpRequest,
    api: Data<Api>,
    web: Data<Web>,
) -> Result<HttpResponse, Problem> {
    let place = match api.place_of(&id, &request).await {
        Ok((place, _)) => place,
        Err(refusal) => return Ok(api.refuse_at(words, html::ROOT_OF_LEAVE, &id, refusal).await),
    };
    let listener = api
        .listeners
        .open(place.jti)
        .ok_or_else(|| Problem::too_many_streams("this place has as many open streams as it may"))?;
    let stream = web.open_stream()?;
    let events = stream::events(
        words,
        api.rooms.clone(),
        place,
        web.stopping.clone(),
        (stream, listener),
    );
    Ok(with_headers(StatusCode::OK)
        .content_type("text/event-stream")
        .streaming(Box::pin(events)))
}

/// Gives the place up, and goes back to its page, which confirms it.
#[utoipa::path(post, path = "/rooms/{id}/wait/leave", operation_id = "leave_by_page", tag = "rooms",
    params(("id" = String, Path), ("place" = String, Query)),
    responses((status = 303, description = "To the page of the place"),
        (status = 400, description = "Not a token of this service for this room", content_type = "text/html", body = String),
        (status = 404, description = "There is no such room", content_type = "text/html", body = String),
        (status = 410, description = "The ticket is no longer remembered", content_type = "text/html", body = String),
        (status = 503, description = "Redis does not answer; the page of the place is loaded again", content_type = "text/html", body = String)))]
pub(crate) async fn leave(
    id: Path<String>,
    Reader(words): Reader,
    request: HttpRequest,
    api: Data<Api>,
) -> HttpResponse {
    let root = html::ROOT_OF_LEAVE;
    let (place, token) = match api.place_of(&id, &request).await {
        Ok(found) => found,
        Err(refusal) => return api.refuse_at(words, root, &id, refusal).await,
    };
    let page = format!("../wait?place={token}");
    match api.rooms.leave(&place.room, place.jti).await {
        Ok(_) => see_other(&page),
        // A reload must load the place's page: this address has no GET, and the user may change their mind.
        Err(error) => {
            let refusal = Refusal::new(notice_of(error), place.return_to);
            let sign = api.sign_of(&id, &refusal).await;
            refusal.page_at(words, root, &sign, &page)
        }
    }
}

impl Api {
    /// Pages of these rooms. `join_token_s`: how long a join token opens one.
    pub fn new(rooms: Rooms, join_token_s: u64) -> Self {
        Self {
            rooms,
            join_token_s,
            listeners: Listeners::default(),
        }
    }

    /// Joins the user of a join token.
    async fn join(&self, room: &Id, token: &str) -> Result<HttpResponse, Refusal> {
        let (rooms, issuer) = (&self.rooms, self.rooms.tokens.issuer());
        let claims: JoinClaims = rooms.tokens.open(pass::JOIN, token).await?;
        request::room(room.shared());
        let back = claims.return_to.clone();
        let refused = |error| Refusal::new(notice_of(error), back.clone());
        // By Redis' clock, like all times of rooms, so that instances with other clocks agree. At most a second old.
        let now_ms = rooms.shown(room).await.map_err(refused)?.snapshot.now_ms;
        let claims = claims.check(issuer, room, now_ms)?;
        if !rooms.sends_to(room, &claims.return_to).await.map_err(refused)? {
            return Err(Notice::NotSent.into());
        }
        let joined = rooms
            .join_by_token(room, &claims.sub, &claims.jti)
            .await
            .map_err(refused)?;
        let joined = joined.ok_or_else(|| Refusal::new(Notice::LinkUsed, back.clone()))?;
        let place = PlaceClaims {
            iss: issuer.to_owned(),
            room: claims.room,
            jti: joined.seen.ticket,
            return_to: claims.return_to,
        };
        Ok(see_other(&format!("?place={}", rooms.tokens.sign(PLACE, &place))))
    }

    /// The page of a place.
    async fn place(&self, words: Words, room: &Id, token: &str) -> Result<HttpResponse, Refusal> {
        let place = self.open_place(room, token).await?;
        let refused = |notice| Refusal::new(notice, place.return_to.clone());
        match Sight::of(words, &self.rooms, &place).await {
            Ok(Sight::Waiting { texts, refresh_s, .. }) => {
                let sign = self.sign(room, None).await;
                let leave = format!("wait/leave?place={token}");
                let page = html::line(words, &texts, &sign, &leave, refresh_s);
                Ok(html_page(StatusCode::OK, words).body(page))
            }
            Ok(Sight::LetIn(address)) => Ok(see_other(&address)),
            Ok(Sight::Over(notice)) => Err(refused(notice)),
            Err(error) => Err(refused(notice_of(error))),
        }
    }

    /// The place of a request that accepts no join token, and its token.
    async fn place_of(&self, room: &str, request: &HttpRequest) -> Result<(PlaceClaims, String), Refusal> {
        let room = Id::parse(room).map_err(|_| Notice::NoRoom)?;
        let Some(Link::Place(token)) = Link::of(request) else {
            return Err(Notice::BadLink.into());
        };
        Ok((self.open_place(&room, &token).await?, token))
    }

    /// A refusal as a page. It names the room and links back, if these are known.
    async fn refuse(&self, words: Words, room: &str, refusal: Refusal) -> HttpResponse {
        self.refuse_at(words, html::ROOT, room, refusal).await
    }

    /// The same for an address from which this path leads to the root of the service.
    async fn refuse_at(&self, words: Words, base: &str, room: &str, refusal: Refusal) -> HttpResponse {
        let sign = self.sign_of(room, &refusal).await;
        refusal.page_at(words, base, &sign, "")
    }

    async fn sign_of(&self, room: &str, refusal: &Refusal) -> Sign {
        match (Id::parse(room), refusal.notice) {
            // The token is missing or unreadable.
            (Err(_), _) | (_, Notice::NoRoom | Notice::Unavailable) => Sign::default(),
            (Ok(room), _) => self.sign(&room, refusal.back.as_ref()).await,
        }
    }

    /// What a page shows of its room. It links to the token's site only if the room sends users there.
    async fn sign(&self, room: &Id, back: Option<&ReturnTo>) -> Sign {
        let Ok(now) = self.rooms.shown(room).await else {
            return Sign::default();
        };
        let back = back
            .filter(|back| now.definition.sends_to(back))
            .or(now.definition.back());
        Sign {
            name: now.definition.document().name.clone(),
            back: back.cloned(),
            stopped: self.rooms.registry.stopped().map(|stopped| stopped.reason),
        }
    }

    async fn open_place(&self, room: &Id, token: &str) -> Result<PlaceClaims, Refusal> {
        let tokens = &self.rooms.tokens;
        let claims: PlaceClaims = tokens.open(PLACE, token).await?;
        request::room(room.shared());
        Ok(claims.check(tokens.issuer(), room)?)
    }
}

/// Reads the token in the address of a page. Other parameters, for example click counters, do no harm.
enum Link {
    Join(String),
    Place(String),
}

impl Link {
    fn of(request: &HttpRequest) -> Option<Self> {
        let query = request.query_string().as_bytes();
        let mut links = form_urlencoded::parse(query).filter_map(|(name, token)| match &*name {
            "token" => Some(Self::Join(token.into_owned())),
            "place" => Some(Self::Place(token.into_owned())),
            _ => None,
        });
        let first = links.next();
        // With two tokens it would be unclear which counts.
        if links.next().is_some() { None } else { first }
    }
}

/// Why there is no place to show, and the way back, if known.
#[derive(Debug)]
struct Refusal {
    notice: Notice,
    back: Option<ReturnTo>,
}

impl Refusal {
    fn new(notice: Notice, back: ReturnTo) -> Self {
        Self {
            notice,
            back: Some(back),
        }
    }

    /// As a page. It is loaded again, from this address, if that can help.
    fn page_at(self, words: Words, root: &str, sign: &Sign, address: &str) -> HttpResponse {
        let (status, retry_s) = match self.notice {
            Notice::BadLink => (StatusCode::BAD_REQUEST, None),
            Notice::NotSent => (StatusCode::FORBIDDEN, None),
            Notice::NoRoom => (StatusCode::NOT_FOUND, None),
            Notice::LinkExpired | Notice::LinkUsed | Notice::Forgotten | Notice::Ended(_) => (StatusCode::GONE, None),
            Notice::TooOften { wait_s } => (StatusCode::TOO_MANY_REQUESTS, Some(wait_s)),
            Notice::Closed | Notice::Unavailable => (StatusCode::SERVICE_UNAVAILABLE, Some(RETRY_S)),
        };
        let mut answer = html_page(status, words);
        if let Some(seconds) = retry_s {
            answer.insert_header((RETRY_AFTER, seconds));
        }
        let refresh = retry_s.map(|seconds| Refresh { seconds, address });
        answer.body(html::notice(words, root, self.notice, sign, refresh))
    }
}

impl From<Notice> for Refusal {
    fn from(notice: Notice) -> Self {
        Self { notice, back: None }
    }
}

impl From<NotHere> for Refusal {
    fn from(why: NotHere) -> Self {
        match why {
            NotHere::OtherRoom => Notice::BadLink.into(),
            NotHere::Expired(back) => Self::new(Notice::LinkExpired, back),
        }
    }
}

impl From<TokenError> for Refusal {
    fn from(error: TokenError) -> Self {
        match error {
            TokenError::Refused(_) => Notice::BadLink.into(),
            TokenError::NoKeys(_) => Notice::Unavailable.into(),
        }
    }
}

/// Not to be stored, framed or sniffed, and not sent as a referrer.
fn with_headers(status: StatusCode) -> HttpResponseBuilder {
    let mut answer = HttpResponse::build(status);
    answer
        .insert_header((CONTENT_SECURITY_POLICY, html::POLICY))
        .insert_header((REFERRER_POLICY, "no-referrer"))
        .insert_header((CACHE_CONTROL, "no-store"))
        .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"));
    answer
}

fn html_page(status: StatusCode, words: Words) -> HttpResponseBuilder {
    let mut answer = with_headers(status);
    answer
        .content_type("text/html; charset=utf-8")
        .insert_header((CONTENT_LANGUAGE, words.0.code()))
        .insert_header((VARY, ACCEPT_LANGUAGE.as_str()));
    answer
}

/// Addresses of this service are relative, so that they work behind a proxy that serves it under another path.
fn see_other(address: &str) -> HttpResponse {
    with_headers(StatusCode::SEE_OTHER)
        .insert_header((LOCATION, address))
        .finish()
}
