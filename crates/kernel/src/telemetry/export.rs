//! Sends spans to a collector, by OTLP over HTTP, on a thread of its own.

use std::time::Duration;

use opentelemetry::trace::{SpanContext, SpanKind, TraceFlags, TraceState};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_otlp::{ExporterBuildError, Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{BatchConfigBuilder, BatchSpanProcessor, SpanData, SpanProcessor};

use super::{Span, Trace};
use crate::{settings, tls};

/// Where OTLP over HTTP takes spans, below the endpoint.
const PATH: &str = "v1/traces";

/// Spans that wait to be sent: a second of a busy instance. Further ones are dropped.
const MAX_WAITING: usize = 65_536;
/// Spans of one request of the exporter.
const MAX_SENT: usize = 2_048;
/// Longest wait for the collector's answer, also at a stop.
const SEND_LIMIT: Duration = Duration::from_secs(5);

/// Why spans can't be exported.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The exporter refuses its settings or variables.
    #[error("setting tracing.otlp_endpoint: {0}")]
    Exporter(#[from] ExporterBuildError),
    /// The system's certificates can't be used.
    #[error("tracing: TLS: {0}")]
    Tls(#[from] rustls::Error),
    /// The HTTP client can't be made.
    #[error("tracing: {0}")]
    Client(#[from] reqwest::Error),
}

pub(super) struct Export {
    processor: BatchSpanProcessor,
    scope: InstrumentationScope,
    sample_ppm: u32,
}

impl Export {
    pub(super) fn new(settings: &settings::Tracing) -> Result<Self, TraceError> {
        // The blocking client has a runtime of its own, which may not be made within ours.
        let config = tls::client_config()?;
        let client = std::thread::spawn(move || {
            let builder = reqwest::blocking::Client::builder().tls_backend_preconfigured(config);
            builder.timeout(SEND_LIMIT).build()
        });
        let client = match client.join() {
            Ok(client) => client?,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        let exporter = SpanExporter::builder()
            .with_http()
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(url(&settings.otlp_endpoint))
            .with_timeout(SEND_LIMIT)
            .with_http_client(client)
            .build()?;
        let batch = BatchConfigBuilder::default()
            .with_max_queue_size(MAX_WAITING)
            .with_max_export_batch_size(MAX_SENT)
            .build();
        let mut processor = BatchSpanProcessor::builder(exporter).with_batch_config(batch).build();
        let resource = Resource::builder().with_service_name("jackpot");
        let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
        processor.set_resource(&resource.with_attribute(version).build());
        Ok(Self {
            processor,
            scope: InstrumentationScope::builder("jackpot").build(),
            sample_ppm: settings.sample_ppm,
        })
    }

    /// How many requests in a million are sampled.
    pub(super) fn sample_ppm(&self) -> u32 {
        self.sample_ppm
    }

    /// Sends the last spans.
    pub(super) fn flush(&self) {
        if let Err(error) = self.processor.shutdown_with_timeout(SEND_LIMIT) {
            tracing::warn!(%error, "the last spans were not sent");
        }
    }

    pub(super) fn end(&self, trace: &Trace, span: Span) {
        self.processor.on_end(SpanData {
            span_context: SpanContext::new(trace.id, span.id, TraceFlags::SAMPLED, false, TraceState::NONE),
            parent_span_id: span.parent,
            parent_span_is_remote: span.kind == SpanKind::Server,
            span_kind: span.kind,
            name: span.name,
            start_time: span.begun,
            end_time: span.ended,
            attributes: span.attributes,
            dropped_attributes_count: 0,
            events: opentelemetry_sdk::trace::SpanEvents::default(),
            links: opentelemetry_sdk::trace::SpanLinks::default(),
            status: span.status,
            instrumentation_scope: self.scope.clone(),
        });
    }
}

/// The address of spans: below the endpoint, unless it has a path of its own.
fn url(endpoint: &str) -> String {
    let (scheme, rest) = endpoint.split_once("://").unwrap_or(("http", endpoint));
    match rest.split_once('/') {
        None => format!("{scheme}://{rest}/{PATH}"),
        Some((authority, "")) => format!("{scheme}://{authority}/{PATH}"),
        Some(_) => endpoint.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_go_below_the_endpoint() {
        for (endpoint, to) in [
            ("http://collector:4318", "http://collector:4318/v1/traces"),
            ("https://collector/", "https://collector/v1/traces"),
            ("https://collector/otlp/traces", "https://collector/otlp/traces"),
        ] {
            assert_eq!(url(endpoint), to);
        }
    }
}
