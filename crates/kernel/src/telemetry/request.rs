//! The current request in log lines: `request{request_id=… method=… route=… …}`.
//!
//! It is kept beside the log and becomes a span when a line is written, not when the request comes. A span formats its
//! fields at once, and hardly any of tens of thousands of requests per second has a line.

use std::cell::OnceCell;
use std::fmt;
use std::sync::Arc;

use super::trace::Trace;
use actix_web::http::Method;
use tracing::span::EnteredSpan;
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::FmtContext;
use tracing_subscriber::fmt::format::{FormatEvent, FormatFields, Writer};
use tracing_subscriber::registry::LookupSpan;

tokio::task_local! {
    static REQUEST: Request;
}

/// A request, as log lines name it.
#[derive(Debug)]
pub struct Request {
    id: Arc<str>,
    method: Method,
    route: Arc<str>,
    trace: Option<Trace>,
    caller: OnceCell<Arc<str>>,
    jackpot: OnceCell<Arc<str>>,
    entry: OnceCell<Arc<str>>,
    coupon: OnceCell<Arc<str>>,
    issue: OnceCell<Arc<str>>,
    room: OnceCell<Arc<str>>,
}

impl Request {
    /// What is known before the request is processed.
    pub fn new(id: Arc<str>, method: Method, route: Arc<str>, trace: Option<Trace>) -> Self {
        Self {
            id,
            method,
            route,
            trace,
            caller: OnceCell::new(),
            jackpot: OnceCell::new(),
            entry: OnceCell::new(),
            coupon: OnceCell::new(),
            issue: OnceCell::new(),
            room: OnceCell::new(),
        }
    }

    /// Runs `answering`. Its own log lines name the request; lines of tasks that it starts do not.
    pub fn answered_by<F: Future>(self, answering: F) -> impl Future<Output = F::Output> {
        REQUEST.scope(self, answering)
    }

    /// A span at the place where requests enter, which a filter may name.
    fn enter(&self) -> EnteredSpan {
        tracing::info_span!(target: "jackpot_kernel::http::envelope", "request", request_id = &*self.id, method = %self.method,
            route = &*self.route, trace_id = self.trace.as_ref().map(|trace| tracing::field::display(trace.id())),
            span_id = self.trace.as_ref().and_then(Trace::span).map(tracing::field::display), caller = self.caller.get().map(|text| &**text),
            jackpot_id = self.jackpot.get().map(|text| &**text), entry_id = self.entry.get().map(|text| &**text),
            coupon_id = self.coupon.get().map(|text| &**text), issue_id = self.issue.get().map(|text| &**text),
            room_id = self.room.get().map(|text| &**text))
        .entered()
    }
}

/// The id of the request that this task answers.
pub fn id() -> Option<Arc<str>> {
    REQUEST.try_with(|request| Arc::clone(&request.id)).ok()
}

/// Passes the trace of this task's request, if it has one.
pub(super) fn with_trace<T>(then: impl FnOnce(&Trace) -> T) -> Option<T> {
    REQUEST
        .try_with(|request| request.trace.as_ref().map(then))
        .ok()
        .flatten()
}

/// Whether the caller of this task's request was identified.
pub fn is_identified() -> bool {
    REQUEST
        .try_with(|request| request.caller.get().is_some())
        .unwrap_or(false)
}

/// Names the caller on the request's further lines. Here and below: outside a request nothing happens.
pub fn caller(name: Arc<str>) {
    set(|request| &request.caller, name);
}

/// Names jackpot and entry, or batch, on the request's further lines.
pub fn entry(jackpot: Arc<str>, entry: Arc<str>) {
    set(|request| &request.jackpot, jackpot);
    set(|request| &request.entry, entry);
}

/// Names coupon and request for a unit on the request's further lines.
pub fn issue(coupon: Arc<str>, issue: Arc<str>) {
    set(|request| &request.coupon, coupon);
    set(|request| &request.issue, issue);
}

/// Names the room on the request's further lines, never a ticket, because a ticket is a secret.
pub fn room(room: Arc<str>) {
    set(|request| &request.room, room);
}

fn set(cell: impl FnOnce(&Request) -> &OnceCell<Arc<str>>, text: Arc<str>) {
    // Outside a request there is nothing to name. The first of two names stays.
    let _noted = REQUEST.try_with(|request| cell(request).set(text));
}

/// Writes lines like `F`, and adds the span of the request.
pub(super) struct Named<F>(pub(super) F);

impl<S, N, F> FormatEvent<S, N> for Named<F>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
    F: FormatEvent<S, N>,
{
    fn format_event(&self, context: &FmtContext<'_, S, N>, writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let _span = REQUEST.try_with(Request::enter);
        self.0.format_event(context, writer, event)
    }
}
