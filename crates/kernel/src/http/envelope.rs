//! The middleware of every request: an id, the span of its log lines, a count, the limits of its address, protective
//! headers. It turns panics, and error answers that are not problems, into problems.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{CONTENT_TYPE, HeaderValue};
use actix_web::middleware::Next;
use actix_web::web::Data;
use actix_web::{Error, HttpResponse};
use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;

use super::Web;
use super::code::Code;
use super::cors::Asked;
use super::fallback::RouteTable;
use super::limits;
use super::listener::exchange::Exchange;
use super::problem::{self, Problem};
use super::request_id::{self, RequestId};
use super::secure::Purpose;
use crate::rate::Moment;
use crate::telemetry::request::{self, Request};
use crate::telemetry::trace::{self, Trace};

/// Route label of requests without a route, because clients make up their paths.
const UNMATCHED: &str = "unmatched";

/// The media type of pages.
const PAGE: &str = "text/html";

/// The outermost middleware. What it returns is a box, because the server moves it several times.
pub(super) fn wrap<B: MessageBody + 'static>(
    mut request: ServiceRequest,
    next: Next<B>,
) -> LocalBoxFuture<'static, Result<ServiceResponse<BoxBody>, Error>> {
    let begun = Instant::now();
    let web = request.app_data::<Data<Web>>().cloned();
    let in_flight = web.as_ref().map(|web| web.metrics.begin_request());
    let exchange = Exchange::begin(&mut request);
    let id = RequestId::of(request.headers());
    let known = request
        .app_data::<Data<RouteTable>>()
        .and_then(|routes| routes.label(request.path()));
    // Pages are not in the document.
    let route = known.unwrap_or_else(|| request.match_pattern().map_or_else(|| UNMATCHED.into(), Arc::from));
    let purpose = Purpose::of(request.path());
    let asked = Asked::of(&request, &route);
    let method = request.method().clone();
    let header = request.headers().get(trace::HEADER).map(HeaderValue::as_bytes);
    let lines = Request::new(id.shared(), method.clone(), Arc::clone(&route), Trace::of(header));
    Box::pin(lines.answered_by(async move {
        let _in_flight = in_flight;
        let result = match AssertUnwindSafe(answer(
            request,
            next,
            web.as_ref(),
            exchange.as_ref(),
            &route,
            asked.as_ref(),
            Moment::at(begun),
        ))
        .catch_unwind()
        .await
        {
            Ok(Ok(answer)) => {
                let answer = finish(answer, &id, purpose);
                match asked {
                    Some(asked) => Ok(asked.finish(answer).await),
                    None => Ok(answer),
                }
            }
            Ok(Err(error)) => Err(error),
            // The panic hook has logged it, with this request's span.
            Err(_) => Err(Problem::internal().into()),
        }
        .map_err(|error| with_headers(error, &id, purpose));
        let status = match &result {
            Ok(answer) => answer.status(),
            Err(error) => error.as_response_error().status_code(),
        };
        let took = begun.elapsed();
        log(status.as_u16(), took);
        trace::answered(method.as_str(), &route, status.as_u16(), begun);
        if let Some(web) = web {
            web.metrics.request(&route, method.as_str(), status.as_u16(), took);
        }
        match exchange {
            Some(exchange) => result.map(|answer| exchange.answer(answer)),
            None => result,
        }
    }))
}

async fn preflight(asked: Option<&Asked>) -> Option<HttpResponse> {
    asked?.preflight().await
}

async fn answer<B: MessageBody + 'static>(
    request: ServiceRequest,
    next: Next<B>,
    web: Option<&Data<Web>>,
    exchange: Option<&Exchange>,
    route: &str,
    asked: Option<&Asked>,
    now: Moment,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let admitted = match web.map(|web| limits::begin(web, &request, route, now)).transpose() {
        Ok(admitted) => admitted,
        Err(refused) => return Ok(refused.answer(request)),
    };
    let answer = if exchange.is_some_and(Exchange::is_crowded) {
        let many = Problem::too_many_streams("this connection has as many requests in flight as it may: 100");
        request.into_response(many.into_response())
    } else if let Some(preflight) = preflight(asked).await {
        request.into_response(preflight)
    } else {
        next.call(request).await?.map_into_boxed_body()
    };
    Ok(match web.zip(admitted) {
        Some((web, admitted)) => admitted.finish(web, answer, request::is_identified(), now),
        None => answer,
    })
}

/// A failed service drops the request. So the server makes its answer, with these headers.
fn with_headers(mut error: Error, id: &RequestId, purpose: Purpose) -> Error {
    let header = id.header();
    error.add_response_mapper(move |mut answer| {
        answer.headers_mut().insert(request_id::HEADER, header.clone());
        purpose.secure(answer.headers_mut());
        answer
    });
    error
}

fn finish(answer: ServiceResponse<BoxBody>, id: &RequestId, purpose: Purpose) -> ServiceResponse<BoxBody> {
    let failed = answer.status().is_client_error() || answer.status().is_server_error();
    let mut answer = if failed && !explains_itself(&answer) {
        as_problem(answer)
    } else {
        answer
    };
    answer.headers_mut().insert(request_id::HEADER, id.header());
    purpose.secure(answer.headers_mut());
    answer
}

/// Whether the answer explains itself: a problem for programs, a page for people. The framework makes neither.
fn explains_itself(answer: &ServiceResponse<BoxBody>) -> bool {
    let kinds = [problem::CONTENT_TYPE, PAGE];
    answer
        .headers()
        .get(CONTENT_TYPE)
        .is_some_and(|value| kinds.iter().any(|kind| value.as_bytes().starts_with(kind.as_bytes())))
}

/// The framework itself answers some errors, with an empty or plain body.
fn as_problem(answer: ServiceResponse<BoxBody>) -> ServiceResponse<BoxBody> {
    let (request, answer) = answer.into_parts();
    let problem = match answer.status().as_u16() {
        404 | 405 => match request.app_data::<Data<RouteTable>>() {
            Some(table) => table.refusal(request.path()),
            None => Problem::not_found().into_response(),
        },
        status @ 400..=499 => {
            let code = match status {
                400 => Code::MalformedRequest,
                408 => Code::RequestTimeout,
                413 => Code::TooLarge,
                415 => Code::UnsupportedMediaType,
                _ => Code::InvalidRequest,
            };
            let rule = answer.status().canonical_reason().unwrap_or("refused");
            Problem::new(code, rule).into_response()
        }
        _ => {
            tracing::error!(
                status = answer.status().as_u16(),
                "an error answer without a problem body"
            );
            Problem::internal().into_response()
        }
    };
    ServiceResponse::new(request, problem)
}

fn log(status: u16, took: Duration) {
    let latency_ms = took.as_secs_f64() * 1000.0;
    if status == 500 {
        tracing::warn!(status, latency_ms, "request failed");
    } else {
        // One line for each of tens of thousands of requests a second is only for jackpot::http=debug. An unavailable
        // store logs itself, once.
        tracing::debug!(status, latency_ms, "request answered");
    }
}
