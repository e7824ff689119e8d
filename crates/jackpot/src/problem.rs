//! Turns a jackpot's errors into problems. It is the only place that gives them a status.

use std::time::Duration;

use actix_web::http::StatusCode;
use jackpot_core::jackpot::leaving::Leaving;

use crate::error::PlayError;
use crate::leaving::LeavingError;
use crate::named::NamedError;
use crate::scripts::ScriptError;
use crate::settlement::SettlementError;
use crate::view::Status;
use jackpot_kernel::http::problem::Problem;
use jackpot_kernel::ledger::reconcile::now::NotClean;
use jackpot_kernel::store::StoreError;
use jackpot_room::door::DoorError;

/// When a reversal comes again that was not remembered: an entry that it overtook is there by then.
const CANCEL_AGAIN: Duration = Duration::from_mins(1);

impl From<PlayError> for Problem {
    fn from(error: PlayError) -> Self {
        let unprocessable =
            |code, error: &PlayError| Problem::new(StatusCode::UNPROCESSABLE_ENTITY, code, error.to_string());
        match error {
            PlayError::Script(error) => of_script(&error),
            PlayError::EntryNotFound(_) => Problem::new(StatusCode::NOT_FOUND, "entry-not-found", error.to_string()),
            PlayError::DefinitionNotFound { .. } => {
                Problem::new(StatusCode::NOT_FOUND, "definition-not-found", error.to_string())
            }
            PlayError::WinnersNotShown(_) => {
                Problem::new(StatusCode::NOT_FOUND, "winners-not-shown", error.to_string())
            }
            PlayError::Stopped(status) => stopped(status, &error.to_string()),
            PlayError::Emergency(_) => Problem::stopped(error.to_string()),
            PlayError::MustHitOpen => Problem::new(StatusCode::CONFLICT, "must-hit-open", error.to_string()),
            PlayError::TooManyTakes => unprocessable("too-many-takes", &error),
            PlayError::EntryIdReused(_) | PlayError::BatchIdReused(_) => unprocessable("entry-id-reused", &error),
            PlayError::CurrencyMismatch { .. } => unprocessable("currency-mismatch", &error),
            PlayError::AdjustmentIdReused(_) => unprocessable("adjustment-id-reused", &error),
            PlayError::TransferIdReused(_) => unprocessable("transfer-id-reused", &error),
            PlayError::ReversalIdReused(_) => unprocessable("reversal-id-reused", &error),
            PlayError::TooManyCancels { .. } => Problem::rate_limited(CANCEL_AGAIN, &error.to_string()),
            PlayError::TransferOpen(_) => Problem::new(StatusCode::CONFLICT, "jackpot-open", error.to_string()),
            PlayError::WrongSource { .. } | PlayError::NoSource(_) => {
                Problem::new(StatusCode::FORBIDDEN, "wrong-source", error.to_string())
            }
            PlayError::ReversedByOperators => Problem::forbidden(error.to_string()),
            PlayError::EntryHasPrize(_) => Problem::new(StatusCode::CONFLICT, "entry-has-prize", error.to_string()),
            PlayError::EntryPending(_) | PlayError::TransferPending(_) => {
                Problem::new(StatusCode::CONFLICT, "entry-pending", error.to_string())
            }
            PlayError::EntryReversed { .. } => Problem::new(StatusCode::CONFLICT, "entry-reversed", error.to_string()),
            PlayError::TooLate { .. } => Problem::new(StatusCode::CONFLICT, "too-late", error.to_string()),
            PlayError::Settlement(error) => of_settlement(&error),
            PlayError::Leaving(error) => of_leaving(&error),
            PlayError::AmountTooLarge => unprocessable("amount-too-large", &error),
            PlayError::Invalid(violations) => {
                Problem::invalid_request(violations.into_iter().map(Into::into).collect())
            }
            PlayError::PreconditionFailed => Problem::new(
                StatusCode::PRECONDITION_FAILED,
                "precondition-failed",
                error.to_string(),
            ),
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
    let (status, code) = match error {
        SettlementError::NotTracked(_) => (StatusCode::CONFLICT, "not-tracked"),
        SettlementError::Held(_) => (StatusCode::CONFLICT, "payout-held"),
        SettlementError::Settled(_) => (StatusCode::CONFLICT, "payout-settled"),
        SettlementError::VoidRequested(_) => (StatusCode::CONFLICT, "payout-void-requested"),
        SettlementError::NotVoidRequested(_) => (StatusCode::CONFLICT, "payout-not-void-requested"),
        SettlementError::Void(_) => (StatusCode::CONFLICT, "payout-void"),
        SettlementError::Superseded(_) => (StatusCode::CONFLICT, "approval-superseded"),
        SettlementError::SameOwner { .. } => (StatusCode::FORBIDDEN, "same-owner"),
        SettlementError::IdReused(_) => (StatusCode::UNPROCESSABLE_ENTITY, "settlement-id-reused"),
        SettlementError::NotInLedger(_) => {
            tracing::warn!(%error, "a step waits for the ledger");
            return Problem::store_unavailable("the ledger does not have the step yet; repeat the same request");
        }
    };
    Problem::new(status, code, error.to_string())
}

fn of_leaving(error: &LeavingError) -> Problem {
    let one_of = |of: &Leaving, adjustment, transfer| match of {
        Leaving::Adjustment(_) => adjustment,
        Leaving::Transfer(_) => transfer,
    };
    let (status, code) = match error {
        LeavingError::NotFound(of) => (
            StatusCode::NOT_FOUND,
            one_of(of, "adjustment-not-found", "transfer-not-found"),
        ),
        LeavingError::Done(of) => (StatusCode::CONFLICT, one_of(of, "adjustment-done", "transfer-done")),
        LeavingError::Withdrawn(of) => (
            StatusCode::CONFLICT,
            one_of(of, "adjustment-withdrawn", "transfer-withdrawn"),
        ),
        LeavingError::Weaker(..) => (StatusCode::UNPROCESSABLE_ENTITY, "approval-weaker"),
        LeavingError::NotInLedger(_) => {
            tracing::warn!(%error, "a step waits for the ledger");
            return Problem::store_unavailable("the ledger does not have the step yet; repeat the same request");
        }
    };
    Problem::new(status, code, error.to_string())
}

fn of_door(error: &DoorError) -> Problem {
    match error {
        DoorError::Required(_) => Problem::new(StatusCode::FORBIDDEN, "pass-required", error.to_string()),
        DoorError::Expired(_) => Problem::new(StatusCode::FORBIDDEN, "pass-expired", error.to_string()),
        DoorError::Unknown(_) => {
            tracing::warn!(%error, "entry refused");
            Problem::store_unavailable("the pass can't be checked now; repeat the same id")
        }
    }
}

fn of_script(error: &ScriptError) -> Problem {
    match error {
        ScriptError::Unknown => Problem::new(StatusCode::NOT_FOUND, "jackpot-not-found", "there is no such jackpot"),
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
        Status::Paused => "jackpot-paused",
        Status::Closed => "jackpot-closed",
        Status::Suspended | Status::Open => "jackpot-suspended",
    };
    Problem::new(StatusCode::CONFLICT, code, detail)
}

fn internal(error: &dyn std::error::Error) -> Problem {
    tracing::error!(%error, "internal error");
    Problem::internal()
}

/// The answer while Redis and the ledger do not agree about a jackpot.
pub fn not_clean(error: &NotClean) -> Problem {
    match error {
        NotClean::Behind => Problem::store_unavailable(error.to_string()),
        NotClean::Mismatch(..) | NotClean::Stopped(_) => {
            Problem::new(StatusCode::CONFLICT, "jackpot-suspended", error.to_string())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_says_when_to_come_again() {
        let problem = Problem::from(PlayError::Crowded { waiting: 4_096 });
        assert_eq!(
            (problem.status, problem.code),
            (StatusCode::SERVICE_UNAVAILABLE, "store-unavailable")
        );
        assert!(problem.retry_after_s.is_some_and(|seconds| seconds >= 1));
    }
}
