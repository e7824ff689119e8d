//! The limits of requests: by address for requests without a key and for wrong keys; and the headers that report
//! limits.
//!
//! The handler's arguments check a key, once. So a request with an `Authorization` header is counted when it is
//! answered: as a wrong key if no caller was identified, on whatever route.
//!
//! `/healthz` has no limit. `/readyz` and `/metrics` have one of their own ([`Address::probe`]).

use std::borrow::Cow;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use actix_web::HttpMessage;
use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::StatusCode;
use actix_web::http::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use actix_web::web::Bytes;

use super::addresses::{Address, Proxied};
use super::problem::Problem;
use super::{Web, auth, peer};
use crate::rate::{Left, Moment, Rate};
use crate::telemetry::Limit;

/// Fields of draft-ietf-httpapi-ratelimit-headers-10.
const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const STATE: HeaderName = HeaderName::from_static("ratelimit");

/// How long a client with too many requests in flight should wait.
const IN_FLIGHT_RETRY: Duration = Duration::from_secs(1);

/// The rest of a key's limit, in the request's extensions, if keys have one.
#[derive(Debug, Clone, Copy)]
pub(super) struct KeyLeft(pub(super) Rate, pub(super) Left);

/// An admitted request.
#[derive(Default)]
pub(super) struct Admitted {
    address: Option<Address>,
    sends_key: bool,
    told: Option<(Limit, Rate, Left)>,
    proxied: Option<Proxied>,
}

/// A refused request.
pub(super) struct Refused {
    problem: Problem,
    told: Option<(Limit, Rate, Left)>,
}

impl Refused {
    fn by(limit: Limit, rate: Option<Rate>, wait: Duration) -> Self {
        let detail = match limit {
            Limit::Public => "this address makes too many requests without a key",
            Limit::Probes => "this address reads the state of this instance too often",
            Limit::FailedKeys => "this address sends too many wrong keys; valid keys still work",
            Limit::InFlight => "this client has too many requests in flight",
            Limit::Key => "this key makes too many requests",
        };
        // Resets at the same time as Retry-After.
        let left = Left {
            tokens: 0,
            full_in: wait,
        };
        Self {
            problem: Problem::rate_limited(wait, detail),
            told: rate.map(|rate| (limit, rate, left)),
        }
    }

    /// The answer to the request.
    pub(super) fn answer(self, request: ServiceRequest) -> ServiceResponse<BoxBody> {
        self.into_answer(request.into_parts().0)
    }

    fn into_answer(self, request: actix_web::HttpRequest) -> ServiceResponse<BoxBody> {
        let mut answer = ServiceResponse::new(request, self.problem.into_response());
        if let Some((limit, rate, left)) = self.told {
            tell(answer.headers_mut(), limit, rate, left);
        }
        answer
    }
}

/// Counts a request before any other work.
pub(super) fn begin(web: &Web, request: &ServiceRequest, route: &str, now: Moment) -> Result<Admitted, Refused> {
    let (address, is_proxied) = peer::of(web, request.request());
    let sends_key = request.headers().contains_key(AUTHORIZATION);
    let Some(address) = address.map(Cow::into_owned) else {
        return Ok(Admitted {
            sends_key,
            ..Admitted::default()
        });
    };
    let counted = count(web, request, &address, route, sends_key, now);
    let (limit, counted) = counted.unwrap_or((Limit::Public, Ok(None)));
    let rate = address.limits().public;
    let left = counted.map_err(|wait| refused(web, limit, rate, wait))?;
    let proxied = if is_proxied {
        let begun = address.begin_proxied(now);
        Some(begun.ok_or_else(|| refused(web, Limit::InFlight, None, IN_FLIGHT_RETRY))?)
    } else {
        None
    };
    Ok(Admitted {
        told: rate.zip(left).map(|(rate, left)| (limit, rate, left)),
        address: Some(address),
        sends_key,
        proxied,
    })
}

type Counted = Result<Option<Left>, Duration>;

fn count(
    web: &Web,
    request: &ServiceRequest,
    address: &Address,
    route: &str,
    sends_key: bool,
    now: Moment,
) -> Option<(Limit, Counted)> {
    if sends_key {
        // If the address has used up its limit, it gets 429 for a wrong key too.
        let refuse = address.is_public_spent(now) && !auth::is_known(web, request.headers());
        return refuse.then(|| (Limit::Public, address.public(now)));
    }
    match route {
        "/healthz" => None,
        "/readyz" | "/metrics" => Some((Limit::Probes, address.probe(now))),
        _ => Some((Limit::Public, address.public(now))),
    }
}

fn refused(web: &Web, limit: Limit, rate: Option<Rate>, wait: Duration) -> Refused {
    web.metrics.rate_limited(limit);
    Refused::by(limit, rate, wait)
}

impl Admitted {
    /// Counts what could not be counted before, and adds the headers. `is_identified`: whether a valid key was sent.
    pub(super) fn finish(
        self,
        web: &Web,
        answer: ServiceResponse<BoxBody>,
        is_identified: bool,
        now: Moment,
    ) -> ServiceResponse<BoxBody> {
        let mut answer = answer;
        let mut told = self.told;
        if is_identified {
            if let Some(address) = &self.address {
                address.keyed(now);
            }
            if web.keys.is_limited() {
                let left = answer.request().extensions().get::<KeyLeft>().copied();
                told = left.map(|KeyLeft(rate, left)| (Limit::Key, rate, left));
            }
        } else if self.sends_key
            && let Some(address) = &self.address
        {
            // The route may need no key.
            let _ = address.public(now);
            let (rate, taken) = (address.limits().failed, address.failed_key(now));
            match taken {
                Err(wait) if answer.status() == StatusCode::UNAUTHORIZED => {
                    let (request, _) = answer.into_parts();
                    answer = refused(web, Limit::FailedKeys, rate, wait).into_answer(request);
                    told = None;
                }
                Ok(left) => told = rate.zip(left).map(|(rate, left)| (Limit::FailedKeys, rate, left)),
                Err(_) => {}
            }
        }
        if let Some((limit, rate, left)) = told {
            tell(answer.headers_mut(), limit, rate, left);
        }
        match self.proxied {
            None => answer,
            Some(proxied) => answer.map_body(|_, body| {
                BoxBody::new(Held {
                    body,
                    _proxied: proxied,
                })
            }),
        }
    }
}

/// `RateLimit-Policy: "key";q=100;w=1` and `RateLimit: "key";r=57;t=1`.
fn tell(headers: &mut HeaderMap, limit: Limit, rate: Rate, left: Left) {
    let name = limit.as_str();
    let whole_s = left.full_in.as_millis().div_ceil(1000);
    let policy = format!("\"{name}\";q={};w=1", rate.per_second());
    let state = format!("\"{name}\";r={};t={whole_s}", left.tokens);
    for (header, text) in [(POLICY, policy), (STATE, state)] {
        if let Ok(value) = HeaderValue::try_from(text) {
            headers.insert(header, value);
        }
    }
}

/// A body during which its request is in flight.
struct Held {
    body: BoxBody,
    _proxied: Proxied,
}

impl MessageBody for Held {
    type Error = <BoxBody as MessageBody>::Error;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, Self::Error>>> {
        Pin::new(&mut self.get_mut().body).poll_next(context)
    }
}
