//! What a check found.

use std::fmt;

use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Verdict {
    Ok,
    /// The service works, and something should be done.
    Warn,
    /// The service does not start, or refuses its work.
    Fail,
}

#[derive(Debug, Serialize)]
pub(super) struct Finding {
    /// What was looked at.
    pub(super) check: &'static str,
    pub(super) verdict: Verdict,
    /// What was found.
    pub(super) text: String,
    /// What to do, where the text does not say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) advice: Option<String>,
}

impl Finding {
    pub(super) fn ok(check: &'static str, text: impl Into<String>) -> Self {
        Self {
            check,
            verdict: Verdict::Ok,
            text: text.into(),
            advice: None,
        }
    }

    pub(super) fn warn(check: &'static str, text: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            check,
            verdict: Verdict::Warn,
            text: text.into(),
            advice: Some(advice.into()),
        }
    }

    /// An error of the service: its text says what to do.
    pub(super) fn fail(check: &'static str, text: impl Into<String>) -> Self {
        Self {
            check,
            verdict: Verdict::Fail,
            text: text.into(),
            advice: None,
        }
    }

    pub(super) fn advise(self, advice: impl Into<String>) -> Self {
        Self {
            advice: Some(advice.into()),
            ..self
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = match self.verdict {
            Verdict::Ok => "ok",
            Verdict::Warn => "WARN",
            Verdict::Fail => "FAIL",
        };
        write!(f, "{verdict:<5} {:<10} {}", self.check, self.text)?;
        match &self.advice {
            Some(advice) => write!(f, "\n{:17}-> {advice}", ""),
            None => Ok(()),
        }
    }
}
