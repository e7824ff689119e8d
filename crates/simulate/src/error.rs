//! Why a simulation could not be finished. What it found wrong is not an error but a [`super::Verdict`].

use std::path::PathBuf;

/// Why a run ended without a verdict.
#[derive(Debug, thiserror::Error)]
pub enum SimulateError {
    /// Options that make no sense together; exit code 2.
    #[error("{0}")]
    Usage(String),
    /// The HTTP client could not be built.
    #[error("the HTTP client could not be set up")]
    Client(#[source] reqwest::Error),
    /// The system's certificates could not be read.
    #[error("TLS could not be set up")]
    Tls(#[from] rustls::Error),
    /// An address that can't be called.
    #[error("{url} is not a usable address: {detail}")]
    Url {
        /// As given.
        url: String,
        /// What is wrong with it.
        detail: String,
    },
    /// A file or directory.
    #[error("{doing} {path}")]
    File {
        /// What was being done.
        doing: &'static str,
        /// With what.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// A process could not be started or waited for.
    #[error("{0}")]
    Process(&'static str, #[source] std::io::Error),
    /// The private service ended by itself or was not ready in time.
    #[error("the private service {what}; the end of its log:\n{log}")]
    Service {
        /// What it did.
        what: String,
        /// Its last lines.
        log: String,
    },
    /// The service refused what the run needs.
    #[error("{call} was refused with {status}: {body}")]
    Refused {
        /// The call.
        call: String,
        /// HTTP status.
        status: u16,
        /// Its beginning.
        body: String,
    },
    /// No answer within the limit, whatever was repeated.
    #[error("{call} had no answer within {seconds} s; last: {last}")]
    NoAnswer {
        /// The call.
        call: String,
        /// The limit.
        seconds: u64,
        /// The last failure.
        last: String,
    },
    /// The private service does not reach the run's own receiver.
    #[error("{0}")]
    Subscriber(String),
    /// An answer that can't be read at all.
    #[error("the answer to {call} can't be read: {detail}")]
    Unreadable {
        /// The call.
        call: String,
        /// What the parser said.
        detail: String,
    },
    /// No id was found that draws rank 1.
    #[error("none of {tried} ids draws rank 1: raise --odds-ppm")]
    Search {
        /// Ids tried for one winner.
        tried: u64,
    },
    /// The private Redis could not be addressed.
    #[error("the private Redis: {0}")]
    Redis(#[from] redis::RedisError),
    /// The database that --postgres names.
    #[error("the database of --postgres: {0}")]
    Sql(#[from] sqlx::Error),
    /// A plot or the page could not be drawn.
    #[error("the report could not be drawn: {0}")]
    Report(String),
    /// A task of the run panicked.
    #[error("a task of the run ended early")]
    Task(#[from] tokio::task::JoinError),
    /// Ctrl-C or SIGTERM.
    #[error("interrupted; every process of the run was stopped")]
    Interrupted,
}

impl SimulateError {
    /// The answer to this call can't be read.
    pub(crate) fn unreadable(call: &str, detail: impl Into<String>) -> Self {
        Self::Unreadable {
            call: call.to_owned(),
            detail: detail.into(),
        }
    }

    /// 2 for options that make no sense, 130 after Ctrl-C, else 1.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Interrupted => 130,
            _ => 1,
        }
    }
}
