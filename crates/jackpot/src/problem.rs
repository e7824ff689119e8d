//! Turns a jackpot's errors into problems. It is the only place that gives them a status.

use std::time::Duration;

use jackpot_core::jackpot::leaving::Leaving;

use crate::error::PlayError;
use crate::leaving::LeavingError;
use crate::named::NamedError;
use crate::scripts::ScriptError;
use crate::settlement::SettlementError;
use jackpot_api::jackpot::Status;
use jackpot_kernel::http::{Code, Problem};
use jackpot_kernel::ledger::reconcile::now::NotClean;
use jackpot_kernel::store::StoreError;
use jackpot_room::door::DoorError;

/// When a reversal comes again that was not remembered: an entry that it overtook is there by then.
const CANCEL_AGAIN: Duration = Duration::from_mins(1);

impl From<PlayError> for Problem {
    fn from(error: PlayError) -> Self {
        let problem = |code| Problem::new(code, error.to_string());
        match error {
            PlayError::Script(error) => of_script(&error),
            PlayError::EntryNotFound(_) => problem(Code::EntryNotFound),
            PlayError::DefinitionNotFound { .. } => problem(Code::DefinitionNotFound),
            PlayError::WinnersNotShown(_) => problem(Code::WinnersNotShown),
            PlayError::Stopped(status) => stopped(status, &error.to_string()),
            PlayError::Emergency(_) => Problem::stopped(error.to_string()),
            PlayError::MustHitOpen => problem(Code::MustHitOpen),
            PlayError::TooManyTakes => problem(Code::TooManyTakes),
            PlayError::EntryIdReused(_) | PlayError::BatchIdReused(_) => problem(Code::EntryIdReused),
            PlayError::CurrencyMismatch { .. } => problem(Code::CurrencyMismatch),
            PlayError::AdjustmentIdReused(_) => problem(Code::AdjustmentIdReused),
            PlayError::TransferIdReused(_) => problem(Code::TransferIdReused),
            PlayError::ReversalIdReused(_) => problem(Code::ReversalIdReused),
            PlayError::TooManyCancels { .. } => Problem::rate_limited(CANCEL_AGAIN, &error.to_string()),
            PlayError::TransferOpen(_) => problem(Code::JackpotOpen),
            PlayError::WrongSource { .. } | PlayError::NoSource(_) => problem(Code::WrongSource),
            PlayError::ReversedByOperators => Problem::forbidden(error.to_string()),
            PlayError::EntryHasPrize(_) => problem(Code::EntryHasPrize),
            PlayError::EntryPending(_) | PlayError::TransferPending(_) => problem(Code::EntryPending),
            PlayError::EntryReversed { .. } => problem(Code::EntryReversed),
            PlayError::TooLate { .. } => problem(Code::TooLate),
            PlayError::Settlement(error) => of_settlement(&error),
            PlayError::Leaving(error) => of_leaving(&error),
            PlayError::AmountTooLarge => problem(Code::AmountTooLarge),
            PlayError::Invalid(violations) => {
                Problem::invalid_request(violations.into_iter().map(Into::into).collect())
            }
            PlayError::PreconditionFailed => problem(Code::PreconditionFailed),
            PlayError::Refusing(_) => {
                tracing::warn!(%error, "entry refused");
                Problem::store_unavailable("new entries are refused now; repeat the same id later")
            }
            // No log line for each: there would be thousands, and `jackpot_entries_total` counts them.
            PlayError::Crowded { .. } => {
                Problem::store_unavailable("too many entries of this jackpot wait for the store; repeat the same id")
            }
            PlayError::Backlog { .. } => {
                tracing::warn!(%error, "entry refused");
                Problem::store_unavailable("the ledger backlog is too large for new entries; repeat the same id later")
            }
            PlayError::Door(error) => of_door(&error),
            PlayError::Coupon { .. } => {
                tracing::warn!(%error, "an entry waits for the coupon that it drew");
                Problem::store_unavailable("the coupon that the entry drew does not answer now; repeat the same id")
            }
            PlayError::NoSecret { .. } => {
                tracing::error!(%error, "refused");
                Problem::store_unavailable("this instance is not configured for this jackpot; repeat the same id")
            }
            PlayError::Unsettled => Problem::store_unavailable("the definition kept changing; repeat the same id"),
            PlayError::Lost { .. } | PlayError::Contradiction(_) | PlayError::Random(_) => internal(&error),
        }
    }
}

impl From<NamedError> for Problem {
    fn from(error: NamedError) -> Self {
        match error {
            NamedError::Play(error) => error.into(),
            NamedError::Ledger(error) => error.into(),
        }
    }
}

fn of_settlement(error: &SettlementError) -> Problem {
    let code = match error {
        SettlementError::NotTracked(_) => Code::NotTracked,
        SettlementError::Held(_) => Code::PayoutHeld,
        SettlementError::Settled(_) => Code::PayoutSettled,
        SettlementError::VoidRequested(_) => Code::PayoutVoidRequested,
        SettlementError::NotVoidRequested(_) => Code::PayoutNotVoidRequested,
        SettlementError::Void(_) => Code::PayoutVoid,
        SettlementError::Superseded(_) => Code::ApprovalSuperseded,
        SettlementError::SameOwner { .. } => Code::SameOwner,
        SettlementError::IdReused(_) => Code::SettlementIdReused,
        SettlementError::NotInLedger(_) => {
            tracing::warn!(%error, "a step waits for the ledger");
            return Problem::store_unavailable("the ledger does not have the step yet; repeat the same request");
        }
    };
    Problem::new(code, error.to_string())
}

fn of_leaving(error: &LeavingError) -> Problem {
    let one_of = |of: &Leaving, adjustment, transfer| match of {
        Leaving::Adjustment(_) => adjustment,
        Leaving::Transfer(_) => transfer,
    };
    let code = match error {
        LeavingError::NotFound(of) => one_of(of, Code::AdjustmentNotFound, Code::TransferNotFound),
        LeavingError::Done(of) => one_of(of, Code::AdjustmentDone, Code::TransferDone),
        LeavingError::Withdrawn(of) => one_of(of, Code::AdjustmentWithdrawn, Code::TransferWithdrawn),
        LeavingError::Weaker(..) => Code::ApprovalWeaker,
        LeavingError::NotInLedger(_) => {
            tracing::warn!(%error, "a step waits for the ledger");
            return Problem::store_unavailable("the ledger does not have the step yet; repeat the same request");
        }
    };
    Problem::new(code, error.to_string())
}

fn of_door(error: &DoorError) -> Problem {
    match error {
        DoorError::Required(_) => Problem::new(Code::PassRequired, error.to_string()),
        DoorError::Expired(_) => Problem::new(Code::PassExpired, error.to_string()),
        DoorError::Unknown(_) => {
            tracing::warn!(%error, "entry refused");
            Problem::store_unavailable("the pass can't be checked now; repeat the same id")
        }
    }
}

fn of_script(error: &ScriptError) -> Problem {
    match error {
        ScriptError::Unknown => Problem::new(Code::JackpotNotFound, "there is no such jackpot"),
        // A Redis that lost events is not used until a restore.
        ScriptError::Behind { .. } => {
            tracing::error!(%error, "suspended on this instance");
            stopped(
                Status::Suspended,
                "Redis lost events of this jackpot; it is suspended until they are restored",
            )
        }
        ScriptError::Restoring => stopped(
            Status::Suspended,
            "the jackpot is being restored from the ledger; repeat the same id in a moment",
        ),
        ScriptError::Stale => Problem::store_unavailable("the definition kept changing; repeat the same id"),
        ScriptError::Secret => {
            tracing::error!(%error, "refused");
            Problem::store_unavailable("this instance is not configured for this jackpot; repeat the same id")
        }
        ScriptError::Store(
            StoreError::Unavailable { .. } | StoreError::Unconfirmed { .. } | StoreError::OutOfMemory,
        ) => {
            tracing::warn!(%error, "the store refused the call, or did not answer in time");
            Problem::store_unavailable("the store does not answer in time or takes no writes; repeat the same id")
        }
        // Data that no script wrote is not used.
        ScriptError::Store(StoreError::Protocol { code, .. }) if code == "JP_DAMAGED" => {
            tracing::error!(%error, "Redis holds values that the service did not write");
            stopped(
                Status::Suspended,
                "Redis holds values of this jackpot that the service did not write; an operator has to restore it",
            )
        }
        ScriptError::Store(StoreError::Script { .. } | StoreError::Protocol { .. })
        | ScriptError::Reply { .. }
        | ScriptError::Record(_) => internal(error),
    }
}

fn stopped(status: Status, detail: &str) -> Problem {
    let code = match status {
        Status::Paused => Code::JackpotPaused,
        Status::Closed => Code::JackpotClosed,
        Status::Suspended | Status::Open => Code::JackpotSuspended,
    };
    Problem::new(code, detail)
}

fn internal(error: &dyn std::error::Error) -> Problem {
    tracing::error!(%error, "internal error");
    Problem::internal()
}

/// The answer while Redis and the ledger do not agree about a jackpot.
pub fn not_clean(error: &NotClean) -> Problem {
    match error {
        NotClean::Behind => Problem::store_unavailable(error.to_string()),
        NotClean::Mismatch(..) | NotClean::Stopped(_) => Problem::new(Code::JackpotSuspended, error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_says_when_to_come_again() {
        let problem = Problem::from(PlayError::Crowded { waiting: 4_096 });
        assert_eq!(problem.code, Code::StoreUnavailable);
        assert!(problem.retry_after_s.is_some_and(|seconds| seconds >= 1));
    }
}
