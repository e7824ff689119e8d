//! What the service says about itself: log lines and metrics.

mod log;
mod metrics;

pub use log::{TelemetryError, init};
pub use metrics::{ClaimResult, EntryResult, JackpotMetrics, Metrics, ScriptResult, StreamGuard};
