//! Errors of a call, and the meaning of Redis' answers.

use std::sync::Arc;

use redis::{ErrorKind, RedisError};
use thiserror::Error;

/// Why a call has no answer.
#[derive(Debug, Clone, Error)]
pub enum StoreError {
    /// No answer in time, or the answer is not durable: the outcome is *unknown*. Repeat with the same ids.
    #[error("Redis is unavailable for {what}: {cause}")]
    Unavailable {
        /// The script or command.
        what: String,
        /// The last failure.
        cause: String,
    },
    /// Redis has applied it, and no replica has confirmed it. Only for calls that do not wait for one
    /// ([`super::Call::at_once`]). Repeat with the same ids.
    #[error("Redis {node} has applied {what}, but no replica confirms it")]
    Unconfirmed { what: String, node: String },
    /// Redis is at its memory limit and refused the call before it wrote anything.
    #[error("Redis is out of memory")]
    OutOfMemory,
    /// Redis refused the call for a reason that a retry does not cure: a defect, or a key of a wrong type.
    #[error("Redis refused {what}: {code} {detail}")]
    Script {
        /// The script or command.
        what: String,
        /// Redis' error code, such as `ERR` or `WRONGTYPE`.
        code: String,
        /// The rest of Redis' message.
        detail: String,
    },
    /// A script answered with one of our own error codes (`JP_…`).
    #[error("script {what}: {code} {detail}")]
    Protocol {
        what: String,
        /// The code, beginning with `JP_`.
        code: String,
        /// The rest of the message.
        detail: String,
    },
}

jackpot_core::names! {
    /// How a call ended, for metrics.
    #[derive(Hash)]
    pub enum Outcome {
        /// Answered.
        Ok = "ok",
        /// See [`StoreError::Unavailable`] and [`StoreError::Unconfirmed`].
        Unavailable = "unavailable",
        /// See [`StoreError::OutOfMemory`].
        OutOfMemory = "out-of-memory",
        /// See [`StoreError::Script`] and [`StoreError::Protocol`].
        Refused = "refused",
    }
}

impl<T> From<&Result<T, StoreError>> for Outcome {
    fn from(result: &Result<T, StoreError>) -> Self {
        match result {
            Ok(_) => Self::Ok,
            Err(StoreError::Unavailable { .. } | StoreError::Unconfirmed { .. }) => Self::Unavailable,
            Err(StoreError::OutOfMemory) => Self::OutOfMemory,
            Err(StoreError::Script { .. } | StoreError::Protocol { .. }) => Self::Refused,
        }
    }
}

/// The failure of one attempt. It is shared, because callers that wait for the same connection get the same one.
#[derive(Debug, Clone, Error)]
pub(super) enum Failure {
    #[error("{node}: {source}")]
    Redis { node: Arc<str>, source: RedisError },
    #[error("{node}: no connection: {source}")]
    Connect { node: Arc<str>, source: RedisError },
    #[error("{node}: applied, but no replica confirmed it in time")]
    NotReplicated { node: Arc<str> },
    #[error("no node serves the slot of this key")]
    NoOwner,
    #[error("no primary '{name}': {cause}")]
    NoPrimary { name: Arc<str>, cause: Arc<str> },
    #[error("{node}: cluster_state is {state}")]
    ClusterState { node: Arc<str>, state: String },
}

/// The next step after a failed attempt.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The server does not have the script: have the same node load it.
    Load,
    /// Another node owns the slot, for good (`MOVED`) or while the slot moves (`ASK`).
    Redirect { to: (String, u16), asking: bool },
    /// Wait a little, then retry on the same connection.
    Repeat,
    /// The node answers but may be cut off from its peers and replaced: ask all nodes for the slots' owners, then
    /// retry.
    LookAgain,
    /// The connection, or its node, has failed: leave both, then retry.
    Reconnect,
    /// A retry within this call changes nothing.
    GiveUp(Verdict),
}

/// The kinds of final failure.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Unavailable,
    OutOfMemory,
    Script,
    Protocol,
}

impl Failure {
    /// Decides by the code of Redis' answer, or by the lack of an answer.
    pub(super) fn next(&self) -> Next {
        match self {
            Self::Redis { source, .. } => after(source),
            Self::Connect { source, .. } => match source.code() {
                // Wrong credentials stay wrong within a call, and many attempts may lock the account.
                Some("WRONGPASS" | "NOAUTH" | "NOPERM" | "DENIED") => Next::GiveUp(Verdict::Unavailable),
                _ if source.kind() == ErrorKind::AuthenticationFailed => Next::GiveUp(Verdict::Unavailable),
                _ => Next::Reconnect,
            },
            // The replica that does not confirm may be the primary by now.
            Self::NotReplicated { .. } | Self::ClusterState { .. } => Next::LookAgain,
            Self::NoOwner | Self::NoPrimary { .. } => Next::Reconnect,
        }
    }

    /// Whether it is an answer of Redis that contains this text.
    pub(super) fn says(&self, text: &str) -> bool {
        matches!(self, Self::Redis { source, .. } if source.detail().is_some_and(|detail| detail.contains(text)))
    }

    /// Whether the user may not send this command.
    pub(super) fn is_no_permission(&self) -> bool {
        matches!(self, Self::Redis { source, .. } if source.code() == Some("NOPERM"))
    }

    /// Whether the server has no command of this name.
    pub(super) fn is_unknown_command(&self) -> bool {
        let unknown = |detail: &str| detail.to_lowercase().contains("unknown command");
        matches!(self, Self::Redis { source, .. } if source.code() == Some("ERR") && source.detail().is_some_and(unknown))
    }

    /// Whether the server refused for lack of memory.
    pub(super) fn is_oom(&self) -> bool {
        self.next() == Next::GiveUp(Verdict::OutOfMemory)
    }

    /// The final error of a call to `what`.
    pub(super) fn into_error(self, verdict: &Verdict, what: &str) -> StoreError {
        let what = what.to_owned();
        let parts = |failure: &Self| match failure {
            Self::Redis { source, .. } => (
                source.code().unwrap_or("ERR").to_owned(),
                source.detail().unwrap_or_default().to_owned(),
            ),
            other => (String::from("ERR"), other.to_string()),
        };
        match verdict {
            Verdict::Unavailable => StoreError::Unavailable {
                what,
                cause: self.to_string(),
            },
            Verdict::OutOfMemory => StoreError::OutOfMemory,
            Verdict::Script => {
                let (code, detail) = parts(&self);
                StoreError::Script { what, code, detail }
            }
            Verdict::Protocol => {
                let (code, detail) = parts(&self);
                StoreError::Protocol { what, code, detail }
            }
        }
    }
}

/// The answer to FCALL of a function that the server does not have.
pub(super) const NO_FUNCTION: &str = "Function not found";

/// Whether the answer comes from a server that is a replica now. Behind a fixed address, only a new connection finds the new
/// primary. A replica answers reads, but not a WAIT behind them.
pub(super) fn is_demoted(code: &str, detail: Option<&str>) -> bool {
    code == "READONLY"
        || (code == "ERR" && detail.is_some_and(|detail| detail.starts_with("WAIT cannot be used with replica")))
}

fn after(error: &RedisError) -> Next {
    let Some(code) = error.code() else {
        // No answer, half an answer, or another protocol: the connection is useless.
        return match error.kind() {
            ErrorKind::InvalidClientConfig | ErrorKind::Client => Next::GiveUp(Verdict::Script),
            _ => Next::Reconnect,
        };
    };
    match code {
        // Without a code of its own, in Redis and in Valkey.
        "ERR" if error.detail() == Some(NO_FUNCTION) => Next::Load,
        code if is_demoted(code, error.detail()) => Next::Reconnect,
        "MOVED" | "ASK" => match error.redirect_node().and_then(|(node, _slot)| host_and_port(node)) {
            Some(to) => Next::Redirect {
                to,
                asking: code == "ASK",
            },
            None => Next::GiveUp(Verdict::Unavailable),
        },
        "LOADING" | "TRYAGAIN" | "BUSY" => Next::Repeat,
        "CLUSTERDOWN" | "MASTERDOWN" => Next::LookAgain,
        "OOM" => Next::GiveUp(Verdict::OutOfMemory),
        "MISCONF" | "NOREPLICAS" | "NOAUTH" | "NOPERM" | "UNKILLABLE" => Next::GiveUp(Verdict::Unavailable),
        code if code.starts_with("JP_") => Next::GiveUp(Verdict::Protocol),
        _ => Next::GiveUp(Verdict::Script),
    }
}

/// Splits `host:port`; the host may be empty (the node that answered) or an IPv6 address.
pub(super) fn host_and_port(node: &str) -> Option<(String, u16)> {
    let (host, port) = node.rsplit_once(':')?;
    Some((host.trim_matches(['[', ']']).to_owned(), port.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(answer: &str) -> Next {
        let source = redis::parse_redis_value(answer.as_bytes())
            .unwrap()
            .extract_error()
            .unwrap_err();
        Failure::Redis {
            node: "n".into(),
            source,
        }
        .next()
    }

    #[test]
    fn each_answer_calls_for_its_own_step() {
        assert_eq!(next("-ERR Function not found\r\n"), Next::Load);
        for code in ["LOADING", "TRYAGAIN", "BUSY"] {
            assert_eq!(next(&format!("-{code} x\r\n")), Next::Repeat, "{code}");
        }
        for code in ["CLUSTERDOWN", "MASTERDOWN"] {
            assert_eq!(next(&format!("-{code} x\r\n")), Next::LookAgain, "{code}");
        }
        assert_eq!(Failure::NotReplicated { node: "n".into() }.next(), Next::LookAgain);
        assert_eq!(next("-READONLY You can't write\r\n"), Next::Reconnect);
        assert_eq!(
            next("-ERR WAIT cannot be used with replica instances. Please\r\n"),
            Next::Reconnect
        );
        assert_eq!(next("-OOM command not allowed\r\n"), Next::GiveUp(Verdict::OutOfMemory));
        for code in ["MISCONF", "NOREPLICAS", "NOAUTH"] {
            assert_eq!(
                next(&format!("-{code} x\r\n")),
                Next::GiveUp(Verdict::Unavailable),
                "{code}"
            );
        }
        assert_eq!(next("-JP_STALE epoch\r\n"), Next::GiveUp(Verdict::Protocol));
        assert_eq!(next("-WRONGTYPE Operation\r\n"), Next::GiveUp(Verdict::Script));
        let to = (String::from("10.0.0.1"), 7001);
        assert_eq!(
            next("-MOVED 3999 10.0.0.1:7001\r\n"),
            Next::Redirect {
                to: to.clone(),
                asking: false
            }
        );
        assert_eq!(next("-ASK 3999 10.0.0.1:7001\r\n"), Next::Redirect { to, asking: true });
    }

    #[test]
    fn our_own_code_and_text_are_kept() {
        let source = redis::parse_redis_value(b"-JP_CORRUPT state of n\r\n")
            .unwrap()
            .extract_error()
            .unwrap_err();
        let failure = Failure::Redis {
            node: "n".into(),
            source,
        };
        match failure.into_error(&Verdict::Protocol, "enter") {
            StoreError::Protocol { what, code, detail } => {
                assert_eq!(
                    (what.as_str(), code.as_str(), detail.as_str()),
                    ("enter", "JP_CORRUPT", "state of n")
                );
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_lost_connection_is_left() {
        let source = RedisError::from(std::io::Error::from(std::io::ErrorKind::TimedOut));
        assert_eq!(
            Failure::Redis {
                node: "n".into(),
                source
            }
            .next(),
            Next::Reconnect
        );
    }
}
