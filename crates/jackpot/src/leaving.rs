//! Money that operators take out of a jackpot, where it needs two owners: adjustments that wait, their approval, and the
//! end of what waits (docs/decisions/0065). Transfers that wait are in `transfer`.

use jackpot_api::ledger::AdjustmentState;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::definition::Violation;
use jackpot_core::jackpot::leaving::Leaving;
use jackpot_core::mark::Mark;
use thiserror::Error;
use tokio::time::Instant;
use tracing::info;

use super::error::PlayError;
use super::operate::Operate;
use super::scripts::{self, Adjusted, Approves, Withdrawn};
use super::settlement::{SettlementError, WAIT, wait};
use jackpot_kernel::operator::Operator;
use jackpot_kernel::sql::Sql;
use jackpot_kernel::subject::engine::Tries;

/// Why a step of what waits for a second owner was not taken.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum LeavingError {
    #[error("there is no {} '{}'", .0.kind(), .0.id())]
    NotFound(Leaving),
    #[error("{} '{}' does not wait for an approval: it is done", .0.kind(), .0.id())]
    Done(Leaving),
    #[error("{} '{}' was withdrawn: send a new id", .0.kind(), .0.id())]
    Withdrawn(Leaving),
    #[error(
        "jackpot '{0}' must track payouts, with an approval_above of at most {1}: money goes only where as much needs a \
         second owner"
    )]
    Weaker(Id, u64),
    /// The step is made or not; a repeat says.
    #[error("the ledger does not have the step of {} '{}' yet", .0.kind(), .0.id())]
    NotInLedger(Leaving),
}

/// What became of an adjustment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Made {
    /// Whether this call did it, or asked for it.
    pub now: bool,
    /// When it was done or asked for, ms of Redis' clock.
    pub at_ms: i64,
    pub state: AdjustmentState,
    /// The jackpot's last event then.
    pub n: u64,
}

/// The result of the script, for callers.
pub(super) fn made(adjustment_id: &Id, owner: &str, mark: Mark, adjusted: &Adjusted) -> Result<Made, PlayError> {
    let invalid = |field: &str, rule: String| Err(PlayError::Invalid(vec![Violation::new(field, rule)]));
    let of = || Leaving::Adjustment(adjustment_id.clone());
    let is = |state, now, at_ms| {
        Ok(Made {
            now,
            at_ms,
            state,
            n: mark.n(),
        })
    };
    match *adjusted {
        Adjusted::Done { now, at_ms } => is(AdjustmentState::Done, now, at_ms),
        Adjusted::Held { now, at_ms } => is(AdjustmentState::Held, now, at_ms),
        Adjusted::Withdrawn(at_ms) => is(AdjustmentState::Withdrawn, false, at_ms),
        Adjusted::Missing => Err(LeavingError::NotFound(of()).into()),
        Adjusted::NotHeld => Err(LeavingError::Done(of()).into()),
        Adjusted::SameOwner => Err(same_owner(owner)),
        Adjusted::Reused => Err(PlayError::AdjustmentIdReused(adjustment_id.clone())),
        Adjusted::BelowZero(held) => invalid("amount", format!("the meter holds {held}: it never goes below 0")),
        Adjusted::AboveCap(cap) => invalid("amount", format!("the pool's cap is {cap}: fund the overflow instead")),
        Adjusted::MustHit => Err(PlayError::MustHitOpen),
        Adjusted::TooLarge => Err(PlayError::AmountTooLarge),
        Adjusted::NoTier => invalid("tier", "is none of the jackpot's tiers".to_owned()),
    }
}

/// Who asked does not approve.
pub(super) fn same_owner(owner: &str) -> PlayError {
    let (owner, why) = (owner.to_owned(), "asked for it");
    SettlementError::SameOwner { owner, why }.into()
}

impl Operate {
    /// Makes an adjustment that waits, for a second owner. Returns when the ledger has it.
    pub async fn approve_adjustment(&self, sql: &Sql, id: &Id, wish: &Approves<'_>) -> Result<(), PlayError> {
        let adjusted = self.try_approve(id, wish).await;
        let (mark, adjusted) = self.stop_if_damaged(id, adjusted).await?;
        let of = Leaving::Adjustment(wish.id.clone());
        let made = made(wish.id, &wish.by.owner, mark, &adjusted)?;
        if made.state == AdjustmentState::Withdrawn {
            return Err(LeavingError::Withdrawn(of).into());
        }
        if made.now {
            let (who, request_id, reason, adjustment_id) = (&*wish.by.who, &*wish.by.request_id, wish.reason, wish.id);
            info!(jackpot_id = %id, who, request_id, reason, %adjustment_id, "adjustment approved");
        }
        in_ledger(sql, id, made.n, of).await
    }

    async fn try_approve(&self, id: &Id, wish: &Approves<'_>) -> Result<(Mark, Adjusted), PlayError> {
        let mut tries = Tries::begin(&*self.views, id).await?;
        loop {
            let (known, view) = (&tries.known, &tries.seen);
            let (store, fence, tiers) = (self.views.registry.store(), known.fence(view), view.definition.tiers());
            let reply = scripts::approve_adjustment(store, &known.keys, &fence, tiers, wish).await;
            if let Some(adjusted) = tries.reply(reply).await? {
                return Ok(adjusted);
            }
        }
    }

    /// Ends what waits for a second owner. Returns when the ledger has it.
    pub async fn withdraw(
        &self,
        sql: &Sql,
        id: &Id,
        of: Leaving,
        reason: &str,
        by: &Operator,
    ) -> Result<(), PlayError> {
        let mut tries = Tries::begin(&*self.views, id).await?;
        let (mark, withdrawn) = loop {
            let (known, view) = (&tries.known, &tries.seen);
            let (store, fence) = (self.views.registry.store(), known.fence(view));
            let reply = scripts::withdraw(store, &known.keys, &fence, &of, reason, by).await;
            if let Some(withdrawn) = tries.reply(reply).await? {
                break withdrawn;
            }
        };
        match withdrawn {
            Withdrawn::Done => {
                let (who, request_id, kind, withdrawn) = (&*by.who, &*by.request_id, of.kind(), of.id());
                info!(jackpot_id = %id, who, request_id, reason, kind, %withdrawn, "withdrawn");
                in_ledger(sql, id, mark.n(), of).await
            }
            Withdrawn::Missing => Err(LeavingError::NotFound(of).into()),
            Withdrawn::Left => Err(LeavingError::Done(of).into()),
        }
    }
}

/// Waits until the ledger has this event, so that Redis can't lose what was answered.
pub async fn in_ledger(sql: &Sql, jackpot: &Id, n: u64, of: Leaving) -> Result<(), PlayError> {
    if wait(sql, jackpot, n, Instant::now() + WAIT).await {
        Ok(())
    } else {
        Err(LeavingError::NotInLedger(of).into())
    }
}
