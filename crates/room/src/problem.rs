//! Turns a room's errors into problems. It is the only place that gives them a status.

use crate::error::RoomError;
use jackpot_kernel::http::code::Code;
use jackpot_kernel::http::problem::Problem;
use jackpot_kernel::store::StoreError;
use jackpot_kernel::subject::ScriptError;

impl From<RoomError> for Problem {
    fn from(error: RoomError) -> Self {
        let problem = |code| Problem::new(code, error.to_string());
        match error {
            RoomError::Script(error) => of_script(&error),
            RoomError::Suspended => suspended(&error.to_string()),
            RoomError::Emergency(_) => Problem::stopped(error.to_string()),
            RoomError::TooOften { wait } => Problem::rate_limited(wait, &error.to_string()),
            RoomError::TicketNotFound => problem(Code::TicketNotFound),
            RoomError::NotAdmitted { .. } => problem(Code::NotAdmitted),
            RoomError::NotOpen => problem(Code::RoomNotOpen),
            RoomError::NoPreQueue => problem(Code::PreQueueNotFound),
            RoomError::Invalid(violations) => {
                Problem::invalid_request(violations.into_iter().map(Into::into).collect())
            }
            RoomError::PreconditionFailed => problem(Code::PreconditionFailed),
            RoomError::Refusing(_) => {
                tracing::warn!(%error, "join of a room refused");
                Problem::store_unavailable("the room takes no joins now; repeat the same request later")
            }
            // No log line for each: there would be thousands, and `jackpot_room_joins_total` counts them.
            RoomError::Crowded { .. } => {
                Problem::store_unavailable("too many visits of this room wait for the store; repeat the same request")
            }
            RoomError::Unsettled => Problem::store_unavailable("the definition kept changing; repeat the request"),
            RoomError::Lost { .. } | RoomError::Random(_) => internal(&error),
        }
    }
}

fn of_script(error: &ScriptError) -> Problem {
    match error {
        ScriptError::Unknown => Problem::new(Code::RoomNotFound, "there is no such room"),
        // A Redis that lost events is not used until a restore.
        ScriptError::Behind { .. } => {
            tracing::error!(%error, "suspended on this instance");
            suspended("Redis lost events of this room; it is suspended until they are restored")
        }
        ScriptError::Restoring => {
            suspended("the room is being restored from the ledger; repeat the same request in a moment")
        }
        ScriptError::Stale => Problem::store_unavailable("the definition kept changing; repeat the request"),
        ScriptError::Store(StoreError::Unavailable { .. } | StoreError::OutOfMemory) => {
            tracing::warn!(%error, "the store refused the call, or did not answer in time");
            Problem::store_unavailable("the store does not answer in time or takes no writes; repeat the same request")
        }
        // No log line for each: waiting users ask all the time, and the worker logs the node.
        ScriptError::Store(StoreError::Unconfirmed { .. }) => Problem::store_unavailable(
            "the primary made the change, but no replica confirmed it. The place in the queue is kept: repeat the same request",
        ),
        ScriptError::Secret => {
            tracing::error!(%error, "refused");
            Problem::store_unavailable("this instance is not configured for this room; repeat the request")
        }
        ScriptError::Store(StoreError::Script { .. } | StoreError::Protocol { .. })
        | ScriptError::Reply { .. }
        | ScriptError::Record(_) => internal(error),
    }
}

fn suspended(detail: &str) -> Problem {
    Problem::new(Code::RoomSuspended, detail)
}

fn internal(error: &dyn std::error::Error) -> Problem {
    tracing::error!(%error, "internal error");
    Problem::internal()
}
