//! The API as pages call it: in this process, for the caller of a session, who sends no key in a header, or for nobody. So
//! a page has exactly the rights, the checks, the limits and the audit lines of the API.

use std::future::{Ready, ready};
use std::rc::Rc;
use std::sync::Arc;

use actix_http::{Payload, Request};
use actix_service::{Service, ServiceFactory, map_config};
use actix_web::body::{BoxBody, to_bytes};
use actix_web::dev::{AppConfig, ServiceResponse};
use actix_web::http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use actix_web::http::{Method, StatusCode, Uri};
use actix_web::middleware::from_fn;
use actix_web::web::ServiceConfig;
use actix_web::{App, Error, FromRequest, HttpMessage, HttpRequest, HttpResponse};
use bytes::Bytes;
use futures_util::future::LocalBoxFuture;
use tokio::sync::OnceCell;

use super::auth::Caller;
use super::problem::Problem;
use super::routes::{Routes, Table};
use super::{Web, envelope, request_id};
use crate::telemetry::request;

/// The media type of bodies.
const JSON: HeaderValue = HeaderValue::from_static("application/json");

type Answer = LocalBoxFuture<'static, Result<ServiceResponse<BoxBody>, Error>>;
type Served = Box<dyn Fn(Request) -> Answer>;

/// The caller of a request that a page makes.
#[derive(Debug, Clone)]
pub(super) struct OfSession {
    pub(super) caller: Caller,
}

/// The API of this worker thread.
#[derive(Clone)]
pub struct Inside(Rc<Thread>);

struct Thread {
    mount: Arc<dyn Fn(&mut ServiceConfig) + Send + Sync>,
    /// Made by the first page: most threads of most instances never serve one.
    served: OnceCell<Served>,
}

/// The API for threads that serve no connections.
#[derive(Clone)]
pub struct Api(Arc<dyn Fn(&mut ServiceConfig) + Send + Sync>);

impl Api {
    /// The API of these routes.
    pub fn new(web: Web, routes: Routes) -> Self {
        let table = Table::new(web, routes, false);
        Self(Arc::new(move |config| table.mount_api(config)))
    }

    /// The API of this thread. Its handlers start tasks that stay on the thread, so they need a `LocalSet`.
    pub fn on_this_thread(&self) -> Inside {
        Inside::new(Arc::clone(&self.0))
    }
}

/// An answer that was read as a whole.
#[derive(Debug)]
pub struct Whole {
    pub status: u16,
    pub body: Bytes,
    pub finality: Finality,
}

/// Whether the same request would be answered otherwise later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finality {
    /// 2xx.
    Done,
    /// A refusal that stays one.
    Refused,
    /// A failure, a stop, a limit, a key that is gone: it may pass.
    MayPass,
}

impl Finality {
    fn of(status: StatusCode) -> Self {
        let passes = [
            StatusCode::UNAUTHORIZED,
            StatusCode::REQUEST_TIMEOUT,
            StatusCode::TOO_MANY_REQUESTS,
        ];
        if status.is_success() {
            Self::Done
        } else if status.is_client_error() && !passes.contains(&status) {
            Self::Refused
        } else {
            Self::MayPass
        }
    }
}

impl Whole {
    /// Reads the body of an answer.
    ///
    /// # Errors
    /// A body that fails.
    pub async fn read(answer: HttpResponse) -> Result<Self, Error> {
        let status = answer.status();
        let body = to_bytes(answer.into_body()).await.map_err(Error::from)?;
        Ok(Self {
            status: status.as_u16(),
            body,
            finality: Finality::of(status),
        })
    }
}

/// A request of a page, or of another part of this process.
pub struct ApiCall<'a> {
    pub method: Method,
    /// With its query.
    pub path: &'a str,
    /// `None`: anyone, without a key. The limits of the client's address hold for the page itself.
    pub caller: Option<&'a Caller>,
    pub content: Payload,
    /// Further headers. Without `Content-Type` among them the content is JSON.
    pub headers: Vec<(HeaderName, HeaderValue)>,
}

impl Inside {
    pub(super) fn new(mount: Arc<dyn Fn(&mut ServiceConfig) + Send + Sync>) -> Self {
        Self(Rc::new(Thread {
            mount,
            served: OnceCell::new(),
        }))
    }

    /// The API's answer, which is a problem where the API refuses.
    ///
    /// # Errors
    /// A path that is no path: 404.
    pub async fn call(&self, call: ApiCall<'_>) -> Result<HttpResponse, Problem> {
        let uri: Uri = call.path.parse().map_err(|_| Problem::not_found())?;
        let mut asked = Request::with_payload(call.content);
        let head = asked.head_mut();
        head.method = call.method;
        head.uri = uri;
        head.headers.insert(CONTENT_TYPE, JSON);
        for (name, value) in call.headers {
            head.headers.insert(name, value);
        }
        // The same id in both log lines and in the audit trail.
        if let Some(id) = request::id().and_then(|id| HeaderValue::from_str(&id).ok()) {
            head.headers.insert(request_id::HEADER, id);
        }
        if let Some(caller) = call.caller.cloned() {
            asked.extensions_mut().insert(OfSession { caller });
        }
        let served = self.0.served.get_or_try_init(|| serve(&self.0.mount)).await?;
        match served(asked).await {
            Ok(answer) => Ok(answer.into_parts().1),
            Err(error) => Ok(error.error_response()),
        }
    }
}

async fn serve(mount: &Arc<dyn Fn(&mut ServiceConfig) + Send + Sync>) -> Result<Served, Problem> {
    let mount = Arc::clone(mount);
    let app = App::new()
        .wrap(from_fn(envelope::wrap))
        .configure(move |config| mount(config));
    let factory = map_config(actix_service::IntoServiceFactory::into_factory(app), |()| {
        AppConfig::default()
    });
    let service = factory.new_service(()).await.map_err(|()| Problem::internal())?;
    Ok(Box::new(move |asked| Box::pin(service.call(asked))))
}

impl FromRequest for Inside {
    type Error = Problem;
    type Future = Ready<Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut actix_web::dev::Payload) -> Self::Future {
        ready(request.app_data::<Self>().cloned().ok_or_else(Problem::internal))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_pass_is_not_final() {
        let of = |status: u16| Finality::of(StatusCode::from_u16(status).expect("a status"));
        for status in [200, 201, 202] {
            assert_eq!(of(status), Finality::Done, "{status}");
        }
        for status in [400, 403, 404, 409, 410, 413, 415, 422] {
            assert_eq!(of(status), Finality::Refused, "{status}");
        }
        for status in [302, 401, 408, 429, 500, 502, 503, 504] {
            assert_eq!(of(status), Finality::MayPass, "{status}");
        }
    }
}
