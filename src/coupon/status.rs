//! Whether a coupon issues units.

use jackpot_core::wire::Field;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Within its window of time.
    Open,
    /// Stopped by the service, because its books do not agree.
    Suspended,
    /// Over for good: its records were dropped one retention after its end.
    Ended,
}

impl Status {
    /// Its name in answers and in Redis.
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

impl Field for Status {
    const TYPE: &'static str = "`open`, `suspended` or `ended`";
    const PATTERN: &'static str = "%l+";

    fn read(text: &str) -> Option<Self> {
        Self::parse(text)
    }

    fn write(&self, out: &mut String) {
        out.push_str(self.as_str());
    }
}
