//! Requests of tills: the use of a unit.
//!
//! The record in Redis decides, as for an issue. After the coupon was retired, the ledger has the record, and the script
//! redeems only while no event follows what was read there.

use std::time::Duration;

use jackpot_core::ids::Id;
use tokio::time::{Instant, sleep};

use super::coupons::{Coupons, Request, refused, request};
use super::error::CouponError;
use super::kept;
use super::record::State;
use super::scripts::{self, FromLedger, Redeem, Redeemed, Refusal, ScriptError};
use jackpot_kernel::telemetry::RedeemResult;

/// How long a redemption of a retired coupon waits until the ledger has the last events of the coupon.
const LEDGER_WAIT: Duration = Duration::from_secs(2);
/// Pause between two looks at the ledger.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

impl Coupons {
    /// Redeems an issued unit, once. A repeat with the same redemption id and reference changes nothing. Also while the
    /// coupon is paused, closed or held by the emergency stop: the user has the unit.
    pub async fn redeem(&self, id: &Id, wish: &Redeem) -> Result<Request, CouponError> {
        let result = self.redeemed(id, wish).await;
        if self.registry.is_used(id) {
            let counted = match &result {
                Ok(request) if request.replayed => RedeemResult::Replayed,
                Ok(_) => RedeemResult::Redeemed,
                Err(_) => RedeemResult::Refused,
            };
            self.metrics.coupons.coupon(id.as_str()).redemption(counted);
        }
        result
    }

    async fn redeemed(&self, id: &Id, wish: &Redeem) -> Result<Request, CouponError> {
        let known = self.registry.whole(id)?;
        if let Some(busy) = self.busy(&known) {
            let found = self.look_up(id, &wish.request_id).await?;
            return repeated(found, wish)?.ok_or(busy);
        }
        let (until, mut from_ledger) = (Instant::now() + LEDGER_WAIT, None);
        loop {
            let redeemed = scripts::redeem(&self.store, &known.keys, known.mark(), wish, from_ledger.as_ref()).await;
            let (_, redeemed) = self.registry.observe_reply(&known, redeemed)?;
            match redeemed {
                Redeemed::Done(answer) => return Ok(request(wish.request_id.clone(), answer)?),
                Redeemed::Reused => return Err(reused(wish)),
                Redeemed::Before => return Err(CouponError::Redeemed(wish.request_id.clone())),
                Redeemed::NotIssued(answer) => {
                    let state = answer.record.map_err(ScriptError::from)?.state.name().as_str();
                    let request_id = wish.request_id.clone();
                    return Err(CouponError::NotIssued { request_id, state });
                }
                Redeemed::Missing => return Err(CouponError::RequestNotFound(wish.request_id.clone())),
                Redeemed::Stopped(Refusal::Ended) => {}
                Redeemed::LedgerBehind if Instant::now() < until => sleep(LOOK_AGAIN).await,
                Redeemed::LedgerBehind => return Err(CouponError::LedgerBehind(id.clone())),
                Redeemed::Stopped(refusal) => return Err(refused(refusal)),
            }
            from_ledger = Some(self.kept_record(id, &wish.request_id).await?);
        }
    }

    /// The request of a retired coupon.
    async fn kept_record(&self, id: &Id, request_id: &str) -> Result<FromLedger, CouponError> {
        let sql = self.ledger.as_ref().ok_or_else(|| CouponError::Retired(id.clone()))?;
        // In this order: what is found is at least as new as the number.
        let n = kept::last_event(sql, id).await?;
        let found = kept::issued(sql, id, request_id).await?;
        let found = found.ok_or_else(|| CouponError::RequestNotFound(request_id.to_owned()))?;
        let record = found.record;
        Ok(FromLedger { n, record })
    }
}

fn reused(wish: &Redeem) -> CouponError {
    CouponError::RedemptionIdReused(wish.redemption.to_string())
}

/// The answer to a repeat; `None` when this is none.
fn repeated(found: Request, wish: &Redeem) -> Result<Option<Request>, CouponError> {
    match &found.record.state {
        State::Redeemed(_, used) if used.redemption != wish.redemption => Err(CouponError::Redeemed(found.request_id)),
        State::Redeemed(_, used) if used.reference != wish.reference => Err(reused(wish)),
        State::Redeemed(..) => Ok(Some(found)),
        _ => Ok(None),
    }
}
