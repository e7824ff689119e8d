//! Answers that pages of other sites may read (CORS, <https://fetch.spec.whatwg.org/#http-cors-protocol>). A capability
//! names the routes, and decides by the subject's id and the origin of the page.
//!
//! Every answer of such a route varies by origin, because shared caches may keep it. Credentials are never allowed: what
//! needs a key is not for pages. So a request with a key gets none of this.

use std::borrow::Cow;
use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Method;
use actix_web::http::header::{
    ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE,
    ACCESS_CONTROL_REQUEST_METHOD, AUTHORIZATION, HeaderMap, HeaderValue, ORIGIN, VARY,
};
use actix_web::web::Data;
use futures_util::future::BoxFuture;
use jackpot_core::ids::Id;

/// How long a browser may remember that it may ask, in seconds. An origin that is taken away still reads nothing: each
/// answer says again who may.
const MAX_AGE: HeaderValue = HeaderValue::from_static("600");
const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD");
/// Headers that pages may read, beside those that they always may.
const EXPOSED: HeaderValue =
    HeaderValue::from_static("ETag, Link, Retry-After, X-Request-Id, RateLimit, RateLimit-Policy");
const BY_ORIGIN: &str = "Origin";

/// Answers at once whether pages of an origin may read a subject.
type Allowed = dyn Fn(&Id, &str) -> bool + Send + Sync;
/// The same, and may ask.
type Allows = dyn Fn(Id, String) -> BoxFuture<'static, bool> + Send + Sync;

/// The answers of a capability that pages of other sites may read.
#[derive(Clone)]
pub struct CrossOrigin {
    /// Their paths in the document.
    pub routes: &'static [&'static str],
    /// Whether pages of an origin may read what is public of a subject.
    pub allows: Arc<Allows>,
    /// The same as far as it is known, without asking anyone: for refusals, which must cost nothing.
    pub allowed: Arc<Allowed>,
}

/// A request of such a route.
pub(super) struct Asked {
    cross: Data<CrossOrigin>,
    /// The subject and the page's origin, if it may be told anything.
    by: Option<(Id, String)>,
    is_preflight: bool,
}

impl Asked {
    pub(super) fn of(request: &ServiceRequest, route: &str) -> Option<Self> {
        let (method, headers) = (request.method(), request.headers());
        if !matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS) {
            return None;
        }
        let cross = request.app_data::<Data<CrossOrigin>>()?;
        if !cross.routes.contains(&route) {
            return None;
        }
        // `/v1/<kind>/<id>/…`
        let id = request.path().split('/').nth(3).and_then(|id| Id::parse(id).ok());
        let origin = one(headers).filter(|_| !headers.contains_key(AUTHORIZATION));
        Some(Self {
            cross: cross.clone(),
            by: id.zip(origin),
            is_preflight: *method == Method::OPTIONS && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD),
        })
    }

    /// The answer to a preflight of a page that may read. Any other `OPTIONS` goes on to the routes.
    pub(super) async fn preflight(&self) -> Option<HttpResponse> {
        let (id, origin) = self.by.as_ref().filter(|_| self.is_preflight)?;
        (self.cross.allows)(id.clone(), origin.clone()).await.then(|| {
            HttpResponse::NoContent()
                .insert_header((ACCESS_CONTROL_ALLOW_METHODS, METHODS))
                .insert_header((ACCESS_CONTROL_MAX_AGE, MAX_AGE))
                .finish()
        })
    }

    /// Adds the headers.
    pub(super) async fn finish<B>(self, mut answer: ServiceResponse<B>) -> ServiceResponse<B> {
        vary(answer.headers_mut());
        let Some((id, origin)) = self.by else { return answer };
        let failed = answer.status().is_client_error() || answer.status().is_server_error();
        let allowed = if failed {
            (self.cross.allowed)(&id, &origin)
        } else {
            (self.cross.allows)(id, origin.clone()).await
        };
        if let Some(origin) = HeaderValue::try_from(origin).ok().filter(|_| allowed) {
            let headers = answer.headers_mut();
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
        }
        answer
    }
}

/// The origin of a page; `None` without one, or with several.
fn one(headers: &HeaderMap) -> Option<String> {
    let mut all = headers.get_all(ORIGIN);
    let only = all.next().filter(|_| all.next().is_none())?;
    only.to_str().ok().map(str::to_owned)
}

/// One line, because some readers look only at the first.
fn vary(headers: &mut HeaderMap) {
    let before = headers.get(VARY).and_then(|value| value.to_str().ok());
    let all = before.map_or(Cow::Borrowed(BY_ORIGIN), |before| {
        Cow::Owned(format!("{before}, {BY_ORIGIN}"))
    });
    if let Ok(all) = HeaderValue::from_str(&all) {
        headers.insert(VARY, all);
    }
}
