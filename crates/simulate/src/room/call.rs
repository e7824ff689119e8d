//! A call of a user: when it was made, and what ends its way.

use crate::SimulateError;

/// Why a user goes no further.
pub enum Stop {
    /// The run can't go on.
    Failed(SimulateError),
    /// An answer was not what it must be.
    Wrong(String),
}

impl From<SimulateError> for Stop {
    fn from(error: SimulateError) -> Self {
        match error {
            // An answer, and none that a user of this run should get.
            SimulateError::Refused { .. } => Self::Wrong(error.to_string()),
            error => Self::Failed(error),
        }
    }
}

pub fn wrong(what: &str, detail: &str) -> Stop {
    Stop::Wrong(format!("{what}: {detail}"))
}

/// When a call was made, in microseconds of the run.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    /// The first try.
    pub sent_us: u64,
    pub answered_us: u64,
    /// When its user was there: not later because the answer took its time, unless the service was killed meanwhile.
    pub back_us: u64,
}

impl Times {
    pub fn of(sent_us: u64, answered_us: u64, may_have_been_killed: bool) -> Self {
        Self {
            sent_us,
            answered_us,
            back_us: if may_have_been_killed { answered_us } else { sent_us },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_a_wrong_answer_and_ends_no_run() {
        let refused = SimulateError::Refused {
            call: "GET /v1/rooms/r/tickets/t".to_owned(),
            status: 404,
            body: "ticket-not-found".to_owned(),
        };
        let stop = Stop::from(refused);
        assert!(matches!(&stop, Stop::Wrong(detail) if detail.contains("404") && detail.contains("ticket-not-found")));
        assert!(matches!(Stop::from(SimulateError::Interrupted), Stop::Failed(_)));
    }
}
