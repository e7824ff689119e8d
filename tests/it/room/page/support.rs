//! What these tests share: a service whose signing key is known, a browser that follows no redirect, and tokens that
//! the tests sign.

use std::borrow::Cow;
use std::path::Path;

use jackpot::room::page::claims::{JoinClaims, PLACE, PlaceClaims};
use jackpot::room::pass;
use jackpot::room::return_to::ReturnTo;
use jackpot::room::ticket::Ticket;
use jackpot::signing::SigningKeys;
use jackpot_core::ids::{Id, PersonId};
use reqwest::Url;
use reqwest::header::HeaderMap;
use reqwest::redirect::Policy;
use serde::Serialize;

use crate::support::client_builder;
use crate::support::local::LocalServer;
use crate::support::prelude::*;

/// The address that users come from and go to.
pub const SHOP: &str = "https://shop.example/play?a=1";

/// The seed of the key that signs.
const SIGNING_KEY: &str = "5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f";

/// A service that signs with the key of these tests.
pub async fn service() -> Service {
    service_with(&[]).await
}

/// The same with more environment.
pub async fn service_with(more: &[(&str, &str)]) -> Service {
    Service::start_with(&[&[("JACKPOT__LEDGER__SIGNING_KEY", SIGNING_KEY)], more].concat()).await
}

/// The same on a Redis that the test may look into and kill.
pub async fn service_and_redis() -> (Service, LocalServer) {
    let redis = own_redis(&[]).await;
    let service = service_on(redis.url(), &[("JACKPOT__LEDGER__SIGNING_KEY", SIGNING_KEY)]).await;
    (service, redis)
}

/// The origin of [`SHOP`].
pub const SHOP_ORIGIN: &str = "https://shop.example";

/// Creates or changes a room of this capacity that sends users to the shop, changed by `change`.
pub async fn room(service: &Service, id: &str, capacity: u64, change: &Value) {
    let mut room = json!({"capacity": capacity, "session_s": 600, "waiting_timeout_s": 60,
        "return_origins": [SHOP_ORIGIN]});
    for (field, value) in change.as_object().expect("an object") {
        room[field] = value.clone();
    }
    service.put(&format!("/v1/rooms/{id}"), room).await.done();
}

/// Asks for a join token; returns the answer.
pub async fn join_token(service: &Service, id: &str, user: &str, return_to: &str) -> Answer {
    let wish = json!({"user_id": user, "return_to": return_to});
    service.post(&format!("/v1/rooms/{id}/join-tokens"), wish).await
}

/// The path of the waiting page that a join token opens.
pub async fn link(service: &Service, id: &str, user: &str, return_to: &str) -> String {
    let answer = join_token(service, id, user, return_to).await;
    answer.is(201);
    answer.body["url"].as_str().expect("a path").to_owned()
}

/// A page, or a redirect.
#[derive(Debug)]
pub struct Page {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub text: String,
    /// The page's own address.
    url: Url,
}

impl Page {
    /// The address to which it redirects.
    pub fn location(&self) -> String {
        self.is(303);
        let location = self.headers["location"].to_str().expect("text");
        self.url.join(location).expect("an address").into()
    }

    /// The text between two others.
    pub fn between(&self, before: &str, after: &str) -> &str {
        let (_, rest) = self
            .text
            .split_once(before)
            .unwrap_or_else(|| panic!("{before} in {}", self.text));
        rest.split_once(after).unwrap_or_else(|| panic!("{after} in {rest}")).0
    }

    /// The text of the element with this id.
    pub fn shows(&self, id: &str) -> &str {
        self.between(&format!("id=\"{id}\">"), "</")
    }

    /// It has this status.
    #[track_caller]
    pub fn is(&self, status: u16) {
        assert_eq!(self.status, status, "{}", self.text);
    }

    /// It is a page with this status and this heading.
    #[track_caller]
    pub fn is_headed(&self, status: u16, heading: &str) {
        self.is(status);
        assert_eq!(self.headers["content-type"], "text/html; charset=utf-8");
        let start = if self.text.contains("<h1 id=") {
            "<h1 id=\"heading\">"
        } else {
            "<h1>"
        };
        assert_eq!(self.between(start, "</h1>"), heading);
    }
}

impl Says for Page {
    fn words(&self) -> Cow<'_, str> {
        (&self.text).into()
    }
}

/// One request of a browser: no key, no redirect followed. `address`: an address, or a path of the service.
pub async fn browse(service: &Service, method: Method, address: &str) -> Page {
    browse_in(service, method, address, None).await
}

/// Opens an address in the browser of a reader of these languages.
pub async fn open_in(service: &Service, address: &str, languages: &str) -> Page {
    browse_in(service, Method::GET, address, Some(languages)).await
}

async fn browse_in(service: &Service, method: Method, address: &str, languages: Option<&str>) -> Page {
    let client = client_builder().redirect(Policy::none()).build().expect("a client");
    let url = if address.starts_with('/') {
        service.url(address)
    } else {
        address.to_owned()
    };
    let mut request = client.request(method, url);
    if let Some(languages) = languages {
        request = request.header("accept-language", languages);
    }
    let answer = request.send().await.expect("an answer");
    Page {
        status: answer.status(),
        headers: answer.headers().clone(),
        url: answer.url().clone(),
        text: answer.text().await.expect("a body"),
    }
}

/// Opens an address.
pub async fn open(service: &Service, address: &str) -> Page {
    browse(service, Method::GET, address).await
}

/// Joins by the page; returns the address of the place.
pub async fn wait(service: &Service, id: &str, user: &str) -> String {
    let link = link(service, id, user, SHOP).await;
    open(service, &link).await.location()
}

/// A token of this type, signed by the service's key, as another instance would.
pub fn signed<C: Serialize>(typ: &str, claims: &C) -> String {
    let keys = SigningKeys::load(SIGNING_KEY, Path::new("")).expect("a key");
    pass::sign(&keys.current(), typ, claims)
}

/// Claims of a join token with these times, in seconds.
pub fn join_claims(room: &str, iat: i64, exp: i64) -> JoinClaims {
    JoinClaims {
        iss: "jackpot".to_owned(),
        room: Id::parse(room).expect("an id"),
        sub: PersonId::parse("ann").expect("an id"),
        iat,
        exp,
        jti: "of-a-test".to_owned(),
        return_to: ReturnTo::parse(SHOP).expect("an address"),
    }
}

/// The path of the place of a ticket.
pub fn place_of(room: &str, ticket: Ticket) -> String {
    let claims = PlaceClaims {
        iss: "jackpot".to_owned(),
        room: Id::parse(room).expect("an id"),
        jti: ticket,
        return_to: ReturnTo::parse(SHOP).expect("an address"),
    };
    format!("/rooms/{room}/wait?place={}", signed(PLACE, &claims))
}
