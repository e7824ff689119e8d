//! Traces: which request of which caller a log line and a call of Redis belong to, by W3C Trace Context.
//!
//! The header `traceparent` names the caller's trace. Its id is on the request's log lines, whatever the settings. With
//! `tracing.otlp_endpoint` each sampled request is a span, its calls of Redis and its waits for a shared call are spans below
//! it, and a thread of its own sends them by OTLP. Play never waits for that: when the queue is full, spans are dropped.

use std::borrow::Cow;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, OnceLock};
use std::time::{Duration, Instant, SystemTime};

use opentelemetry::KeyValue;
use opentelemetry::trace::{SpanId, SpanKind, Status, TraceId};

use super::request;
use crate::{random, settings};

#[cfg(not(feature = "otlp"))]
#[path = "no_export.rs"]
mod export;
#[cfg(feature = "otlp")]
#[path = "export.rs"]
mod export;

use export::Export;
pub use export::TraceError;

/// The header, in lower case.
pub const HEADER: &str = "traceparent";

/// A part of a million: the unit of `tracing.sample_ppm`.
const MILLION: u64 = 1_000_000;

static EXPORT: OnceLock<Export> = OnceLock::new();

/// Sends the last spans when it is dropped.
pub struct Flush(());

impl Drop for Flush {
    fn drop(&mut self) {
        if let Some(export) = EXPORT.get() {
            export.flush();
        }
    }
}

/// Starts the export of spans for the whole process, if it is set. `OTEL_EXPORTER_OTLP_HEADERS` and the other variables of
/// the OpenTelemetry specification count too.
///
/// # Errors
/// When the exporter can't be made.
pub fn init(settings: &settings::Tracing) -> Result<Option<Flush>, TraceError> {
    if settings.otlp_endpoint.is_empty() {
        return Ok(None);
    }
    let export = Export::new(settings)?;
    if EXPORT.set(export).is_err() {
        tracing::debug!("spans are exported already");
    }
    Ok(Some(Flush(())))
}

/// The place of a request in a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trace {
    id: TraceId,
    /// The caller's span; invalid without one.
    parent: SpanId,
    /// The request's own span; `None`: it is not exported.
    span: Option<SpanId>,
}

/// A span that has ended.
#[cfg_attr(not(feature = "otlp"), expect(dead_code, reason = "only the export reads it"))]
struct Span {
    id: SpanId,
    parent: SpanId,
    kind: SpanKind,
    name: Cow<'static, str>,
    attributes: Vec<KeyValue>,
    status: Status,
    begun: SystemTime,
    ended: SystemTime,
}

impl Trace {
    /// The caller's trace, by its header, or a new one if this request is sampled. The caller's own decision to sample
    /// counts.
    pub fn of(header: Option<&[u8]>) -> Option<Self> {
        let export = EXPORT.get();
        if let Some((id, parent, sampled)) = header.and_then(parse) {
            return Some(Self {
                id,
                parent,
                span: (sampled && export.is_some()).then(new_span),
            });
        }
        let sampled = number() % MILLION < u64::from(export?.sample_ppm());
        sampled.then(|| Self {
            id: TraceId::from((u128::from(number()) << 64) | u128::from(number())),
            parent: SpanId::INVALID,
            span: Some(new_span()),
        })
    }

    /// The trace's id, for log lines.
    pub(super) fn id(&self) -> impl fmt::Display {
        self.id
    }

    /// The id of the request's span, for log lines.
    pub(super) fn span(&self) -> Option<impl fmt::Display + use<>> {
        self.span
    }
}

fn new_span() -> SpanId {
    SpanId::from(number())
}

/// Another number at each call, spread over 64 bits: `SplitMix64`, from a random start of the process. Ids of spans need not be
/// secret.
fn number() -> u64 {
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
    static START: LazyLock<AtomicU64> = LazyLock::new(|| {
        let start = random::bytes().map_or_else(|_| u64::from(std::process::id()), u64::from_ne_bytes);
        AtomicU64::new(start)
    });
    let mut number = START.fetch_add(STEP, Ordering::Relaxed);
    number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// Reads `version-trace-parent-flags`, as W3C Trace Context has it: lower-case hexadecimal digits. A later version may have
/// more fields.
fn parse(header: &[u8]) -> Option<(TraceId, SpanId, bool)> {
    let text = std::str::from_utf8(header).ok()?;
    let mut fields = text.trim().splitn(5, '-');
    let version = digits::<1>(fields.next()?)?[0];
    let (id, parent) = (digits::<16>(fields.next()?)?, digits::<8>(fields.next()?)?);
    let flags = digits::<1>(fields.next()?)?[0];
    if version == 0xff || (version == 0 && fields.next().is_some()) {
        return None;
    }
    let (id, parent) = (TraceId::from_bytes(id), SpanId::from_bytes(parent));
    let valid = id != TraceId::INVALID && parent != SpanId::INVALID;
    valid.then_some((id, parent, flags & 1 == 1))
}

fn digits<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    let lower = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    (lower && hex::decode_to_slice(text, &mut bytes).is_ok()).then_some(bytes)
}

/// Ends the span of this task's request, which began at `begun`, if it has one.
pub fn answered(method: &str, route: &str, status: u16, begun: Instant) {
    request::with_trace(|trace| {
        let Some((export, span)) = EXPORT.get().zip(trace.span) else {
            return;
        };
        let attributes = vec![
            KeyValue::new("http.request.method", method.to_owned()),
            KeyValue::new("http.route", route.to_owned()),
            KeyValue::new("http.response.status_code", i64::from(status)),
        ];
        let status = if status >= 500 {
            Status::error(Cow::Borrowed(""))
        } else {
            Status::Unset
        };
        let name = format!("{method} {route}");
        let (begun, ended) = ending(|| begun.elapsed());
        let span = Span {
            id: span,
            parent: trace.parent,
            kind: SpanKind::Server,
            name: name.into(),
            attributes,
            status,
            begun,
            ended,
        };
        export.end(trace, span);
    });
}

/// A call of Redis that this task made for its request, by its script's name, and how it ended.
pub fn called(script: &'static str, outcome: &'static str, is_ok: bool, took: Duration) {
    below(script, is_ok, took, || {
        vec![
            KeyValue::new("db.system.name", "redis"),
            KeyValue::new("db.operation.name", script),
            KeyValue::new("jackpot.outcome", outcome),
        ]
    });
}

/// The wait of this task's request for the answer of a call of Redis that it shared with others.
pub fn shared(call: &'static str, is_ok: bool, took: Duration) {
    below(call, is_ok, took, || {
        vec![
            KeyValue::new("db.system.name", "redis"),
            KeyValue::new("db.operation.name", call),
            KeyValue::new("jackpot.shared", true),
        ]
    });
}

/// Whether this task's request is exported. Others need no clock.
pub fn is_exported() -> bool {
    EXPORT.get().is_some() && request::with_trace(|trace| trace.span.is_some()).unwrap_or(false)
}

fn below(name: &'static str, is_ok: bool, took: Duration, attributes: impl FnOnce() -> Vec<KeyValue>) {
    request::with_trace(|trace| {
        let Some((export, parent)) = EXPORT.get().zip(trace.span) else {
            return;
        };
        let status = if is_ok {
            Status::Unset
        } else {
            Status::error(Cow::Borrowed(""))
        };
        let (begun, ended) = ending(|| took);
        let span = Span {
            id: new_span(),
            parent,
            kind: SpanKind::Client,
            name: Cow::Borrowed(name),
            attributes: attributes(),
            status,
            begun,
            ended,
        };
        export.end(trace, span);
    });
}

/// When a span that ends now began, and now. How long it took is asked after the clock is read: this thread may wait for a
/// processor between both, and a request must not seem to begin after its calls.
fn ending(took: impl FnOnce() -> Duration) -> (SystemTime, SystemTime) {
    let now = SystemTime::from(jiff::Timestamp::now());
    (now.checked_sub(took()).unwrap_or(now), now)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    const PARENT: &str = "00f067aa0ba902b7";

    fn is_read(header: &str) -> bool {
        parse(header.as_bytes()).is_some()
    }

    #[test]
    fn a_header_is_read_as_the_specification_has_it() {
        let sampled = parse(format!("00-{ID}-{PARENT}-01").as_bytes());
        let (id, parent, is_sampled) = sampled.unwrap();
        assert_eq!(
            (id.to_string(), parent.to_string(), is_sampled),
            (ID.to_owned(), PARENT.to_owned(), true)
        );
        assert!(!parse(format!("00-{ID}-{PARENT}-00").as_bytes()).unwrap().2);
        assert!(is_read(&format!("cc-{ID}-{PARENT}-01-later-fields")), "a later version");
        for wrong in [
            String::new(),
            "00".to_owned(),
            format!("00-{ID}-{PARENT}"),
            format!("00-{ID}-{PARENT}-01-more"),
            format!("ff-{ID}-{PARENT}-01"),
            format!("0-{ID}-{PARENT}-01"),
            format!("00-{}-{PARENT}-01", ID.to_uppercase()),
            format!("00-{}-{PARENT}-01", &ID[1..]),
            format!("00-{}-{PARENT}-01", "0".repeat(32)),
            format!("00-{ID}-{}-01", "0".repeat(16)),
            format!("00-{ID}-{PARENT}-1x"),
        ] {
            assert!(!is_read(&wrong), "{wrong}");
        }
    }

    #[test]
    fn without_export_only_the_callers_trace_is_known() {
        assert_eq!(Trace::of(None), None);
        let trace = Trace::of(Some(format!("00-{ID}-{PARENT}-01").as_bytes())).unwrap();
        assert_eq!((trace.id().to_string(), trace.span), (ID.to_owned(), None));
    }
}
