//! Log lines, for people or for machines, on standard error, because commands write their results to standard output.

use std::io::IsTerminal;
use std::panic::PanicHookInfo;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::ParseError;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};

use super::request::Named;
use crate::settings::{Log, LogFormat};

/// Why logging can't start.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// `log.level` is not a valid filter.
    #[error("setting log.level: {0}")]
    Filter(#[from] ParseError),
    /// Another logger is already active in this process.
    #[error("log: {0}")]
    Taken(#[from] TryInitError),
}

/// The framework's name for its HTTP/1.1 connections.
const DISPATCHER: &str = "actix_http::h1::dispatcher";

/// Starts logging for the whole process. Panics are logged too, once, with the request that they ended.
///
/// # Errors
/// A bad filter, or a second call.
pub fn init(settings: &Log) -> Result<(), TelemetryError> {
    let filter = filter(&settings.level)?;
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr);
    match settings.format {
        LogFormat::Pretty => lines
            .with_ansi(std::io::stderr().is_terminal())
            .map_event_format(Named)
            .finish()
            .try_init()?,
        LogFormat::Json => lines
            .json()
            .flatten_event(true)
            .with_current_span(false)
            .map_event_format(Named)
            .finish()
            .try_init()?,
    }
    std::panic::set_hook(Box::new(log_panic));
    Ok(())
}

/// The framework logs each connection that a client broke at level error, so strangers could fill the log. The listener
/// counts the cause and logs it at level debug.
fn filter(level: &str) -> Result<EnvFilter, ParseError> {
    if level.contains(DISPATCHER) {
        return EnvFilter::try_new(level);
    }
    EnvFilter::try_new(format!("{level},{DISPATCHER}=off"))
}

fn log_panic(info: &PanicHookInfo<'_>) {
    let place = info.location().map(ToString::to_string);
    tracing::error!(place, cause = info.payload_as_str().unwrap_or("no text"), "panic");
}
