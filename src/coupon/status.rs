//! Whether a coupon issues.

use serde::{Deserialize, Serialize};

/// Whether a coupon issues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It does, within its window of time.
    Open,
    /// Stopped by the service, because its books do not agree.
    Suspended,
    /// For ever: its records were dropped some time behind its end.
    Ended,
}

impl Status {
    /// As answers and Redis name it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Suspended => "suspended",
            Self::Ended => "ended",
        }
    }

    /// The inverse of [`Status::as_str`].
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Open, Self::Suspended, Self::Ended]
            .into_iter()
            .find(|status| status.as_str() == text)
    }
}
