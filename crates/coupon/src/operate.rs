//! Requests of operators: define, view, void units, return dead letters to the queue.

use jackpot_core::ids::Id;
use jackpot_core::mark::Mark;
use jackpot_core::violation::Violation;
use tracing::{info, warn};

use super::coupons::{Coupons, Request, refused, request};
use super::definition::{Definition, DefinitionError};
use super::error::CouponError;
use super::known::{Known, Registry};
use super::record::State;
use super::scripts::{
    self, Acted, DeadPage, Define, DefineRefusal, Defined, Refusal, Retired, ScriptError, SetStatus, Snapshot,
    StatusSet, Wanted,
};
use jackpot_api::coupon::Status;
use jackpot_kernel::operator::Operator;
use jackpot_kernel::subject::Stamp;
use jackpot_kernel::subject::engine::{self, Defines, Put};

impl Coupons {
    /// Creates a coupon or changes its definition. A repeat changes nothing.
    pub async fn define(
        &self,
        id: &Id,
        definition: &Definition,
        wanted: Wanted,
        by: &Operator,
    ) -> Result<Put, CouponError> {
        engine::define(self, id, Stamp::new()?.put(definition, wanted, by), &()).await
    }

    /// Reads a whole coupon.
    pub async fn snapshot(&self, id: &Id) -> Result<Snapshot, CouponError> {
        let snapshot = self.registry.snapshot(id).await?;
        let coupon = self.metrics.coupons.coupon(id.as_str());
        coupon.line(snapshot.queued, snapshot.dead);
        Ok(snapshot)
    }

    /// Pauses, resumes or closes a coupon. A repeat changes nothing.
    pub async fn set_status(&self, id: &Id, wanted: Status, reason: String, by: &Operator) -> Result<(), CouponError> {
        let wish = SetStatus::new(wanted, reason, by);
        match engine::set_status(&*self.registry, id, &wish).await? {
            StatusSet::Done(_) => {}
            StatusSet::Stays(_, Status::Ended) => return Err(CouponError::Retired(id.clone())),
            StatusSet::Stays(_, Status::Closed) => return Err(CouponError::Closed),
            StatusSet::Stays(..) => return Err(CouponError::Suspended),
        }
        // The queue of a resumed coupon goes on, and that of a closed one is refused.
        self.bell.ring(id);
        let (who, request_id, reason) = (&*wish.by.who, &*wish.by.request_id, &*wish.reason);
        info!(coupon_id = %id, who, request_id, reason, status = wanted.as_str(), "status set");
        Ok(())
    }

    /// Voids an issued unit, which returns to the stock. A repeat changes nothing.
    pub async fn void(&self, id: &Id, request_id: &str, by: &Operator) -> Result<Request, CouponError> {
        let known = self.registry.whole(id)?;
        let (store, keys, mark) = (&self.store, &known.keys, known.mark());
        let voided = scripts::void(store, keys, mark, request_id, &by.who, &by.request_id).await;
        match self.registry.observe_reply(&known, voided)?.1 {
            Acted::Unfit(answer) => Err(CouponError::NotIssued {
                request_id: request_id.to_owned(),
                state: answer.record.map_err(ScriptError::from)?.state.name().as_str(),
            }),
            // With a ledger, a repeat of a void is answered for ever.
            Acted::Stopped(Refusal::Ended) => match self.kept(id, request_id).await? {
                Some(request) if matches!(request.record.state, State::Voided(..)) => Ok(request),
                Some(request) if matches!(request.record.state, State::Redeemed(..)) => {
                    Err(CouponError::Redeemed(request.request_id))
                }
                _ => Err(CouponError::Retired(id.clone())),
            },
            voided => acted(request_id, voided),
        }
    }

    /// Puts a dead letter back at its old place in the queue. If it is queued or decided by now, the result says so and
    /// nothing changes.
    pub async fn redrive(&self, id: &Id, request_id: &str, by: &Operator) -> Result<Request, CouponError> {
        let known = self.registry.whole(id)?;
        let (store, keys, mark) = (&self.store, &known.keys, known.mark());
        let redriven = scripts::redrive(store, keys, mark, request_id, &by.who, &by.request_id).await;
        let (_, redriven) = self.registry.observe_reply(&known, redriven)?;
        match redriven {
            Acted::Stopped(Refusal::Ended) => return Err(CouponError::Retired(id.clone())),
            Acted::Done(_) => self.bell.ring(id),
            _ => {}
        }
        acted(request_id, redriven)
    }

    /// Lists dead letters after an arrival number. `limit` from 1 to [`scripts::MAX_DEAD`].
    pub async fn dead_letters(&self, id: &Id, after: u64, limit: usize) -> Result<DeadPage, CouponError> {
        let known = self.registry.whole(id)?;
        let page = scripts::dead_letters(&self.store, &known.keys, known.mark(), after, limit).await;
        Ok(self.registry.observe_reply(&known, page)?)
    }

    /// Retires a coupon one retention after its end, once the ledger has all its events: its own retention, or `own_s`
    /// if that is longer. `None` while the ledger's progress is unknown.
    pub(super) async fn retire(&self, id: &Id, own_s: u64) -> Result<Option<Retired>, CouponError> {
        let known = self.registry.whole(id)?;
        let Some(ledger_n) = known.ledger_n() else {
            return Ok(None);
        };
        let retired = scripts::retire(&self.store, &known.keys, known.mark(), ledger_n, own_s).await;
        let (_, retired) = self.registry.observe_reply(&known, retired)?;
        match retired {
            Retired::Raised(before_s) => {
                info!(coupon_id = %id, before_s, retention_s = own_s, "the coupon's retention was raised");
            }
            Retired::NotOver {
                retention_s: kept_s, ..
            } if kept_s > own_s && known.is_first_warning() => {
                warn!(
                    coupon_id = %id, kept_s, coupons_retention_s = own_s,
                    "the coupon's retention is longer than this instance's setting, which drops nothing",
                );
            }
            _ => {}
        }
        Ok(Some(retired))
    }
}

/// What is the same of a void and a redrive.
fn acted(request_id: &str, acted: Acted) -> Result<Request, CouponError> {
    match acted {
        Acted::Done(answer) | Acted::Unfit(answer) => Ok(request(request_id.to_owned(), answer)?),
        Acted::Redeemed => Err(CouponError::Redeemed(request_id.to_owned())),
        Acted::Missing => Err(CouponError::RequestNotFound(request_id.to_owned())),
        Acted::Stopped(refusal) => Err(refused(refusal)),
    }
}

impl Defines for Coupons {
    type Known = Known;
    type Definition = Definition;
    type Made = ();
    type Read = ();
    type Refused = DefineRefusal;
    type Error = CouponError;
    const MISMATCH: CouponError = CouponError::PreconditionFailed;
    const UNSETTLED: CouponError = CouponError::Unsettled;

    fn registry(&self) -> &Registry {
        &self.registry
    }

    async fn read(&self, id: &Id) -> Result<(u64, ()), CouponError> {
        Ok((self.snapshot(id).await?.version, ()))
    }

    async fn define(
        &self,
        known: &Known,
        _: Option<&()>,
        put: &Define<'_>,
        (): &(),
    ) -> Result<(Mark, Defined), ScriptError> {
        scripts::define(&self.store, &known.keys, known.mark(), put, self.settings.retention_s).await
    }

    fn refused(&self, id: &Id, why: DefineRefusal) -> CouponError {
        match why {
            DefineRefusal::Ended => CouponError::Retired(id.clone()),
            DefineRefusal::Below { out } => {
                let rule = format!("must be at least {out}: so many units are out");
                CouponError::Invalid(vec![Violation::new("stock", rule)])
            }
        }
    }

    fn log(&self, id: &Id, put: &Define<'_>, Put { created, version }: Put) {
        let (who, request_id) = (&*put.by.who, &*put.by.request_id);
        info!(coupon_id = %id, who, request_id, created, version, "definition put");
    }
}

/// A definition as Redis keeps it.
pub fn parse_definition(id: &Id, json: &str) -> Result<Definition, CouponError> {
    Definition::from_json(json).map_err(|error: DefinitionError| CouponError::Lost {
        id: id.clone(),
        what: format!("a readable definition: {error}"),
    })
}
