//! Whether a room takes visitors.

use jackpot_core::wire::Field;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It takes them.
    Open,
    /// Stopped by the service, because Redis and the ledger do not agree: nobody joins or is admitted.
    Suspended,
}

impl Status {
    /// Its name in answers and in Redis.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Suspended => "suspended",
        }
    }

    /// The inverse of [`Status::as_str`].
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Open, Self::Suspended]
            .into_iter()
            .find(|status| status.as_str() == text)
    }
}

impl Field for Status {
    const TYPE: &'static str = "`open` or `suspended`";
    const PATTERN: &'static str = "%l+";

    fn read(text: &str) -> Option<Self> {
        Self::parse(text)
    }

    fn write(&self, out: &mut String) {
        out.push_str(self.as_str());
    }
}
