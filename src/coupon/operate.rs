//! Requests of operators: define, view, void units, return dead letters to the queue.

use jackpot_core::ids::Id;
use jackpot_core::violation::Violation;
use tracing::{info, warn};

use super::coupons::{Coupons, Request, refused, request};
use super::definition::{Definition, DefinitionError};
use super::error::CouponError;
use super::record::State;
use super::scripts::{
    self, DeadPage, Define, Defined, Redriven, Refusal, Retired, ScriptError, Snapshot, Voided, Wanted,
};
use crate::operator::Operator;
use crate::random;
use crate::subject;

/// Largest number of repeats of a PUT whose definition changed meanwhile.
const MAX_STALE: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Put {
    /// Whether the coupon is new.
    pub created: bool,
    /// The version of its definition, right after this PUT.
    pub version: u64,
}

impl Coupons {
    /// Creates a coupon or changes its definition. A repeat changes nothing.
    pub async fn define(
        &self,
        id: &Id,
        definition: &Definition,
        wanted: Wanted,
        by: &Operator,
    ) -> Result<Put, CouponError> {
        if matches!(wanted, Wanted::Any | Wanted::Absent) {
            // The index first: a crash in between leaves a name without a coupon, and listing skips it.
            self.registry.add_to_index(std::slice::from_ref(id)).await?;
        }
        // The nonce distinguishes a repeat, here or in the store after a lost reply, from another PUT.
        let nonce = hex::encode(random::bytes::<16>()?);
        let history = subject::new_history()?;
        for _ in 0..MAX_STALE {
            let last_version = match self.snapshot(id).await {
                Ok(snapshot) => Some(snapshot.version),
                Err(CouponError::Script(ScriptError::Unknown)) => None,
                Err(error) => return Err(error),
            };
            let wish = Define {
                definition,
                wanted: wanted.clone(),
                last_version,
                nonce: &nonce,
                history: &history,
                who: &by.who,
                request_id: &by.request_id,
                retention_s: self.settings.retention_s,
            };
            let known = self.registry.known(id);
            let defined = scripts::define(&self.store, &known.keys, known.mark(), &wish).await;
            match self.registry.observe_reply(&known, defined) {
                Err(ScriptError::Stale) => {}
                Err(error) => return Err(error.into()),
                Ok((_, defined)) => {
                    let put = put(id, &defined)?;
                    let (who, request_id) = (&*by.who, &*by.request_id);
                    let (created, version) = (put.created, put.version);
                    info!(coupon_id = %id, who, request_id, created, version, "definition put");
                    return Ok(put);
                }
            }
        }
        Err(CouponError::Unsettled)
    }

    /// Reads a whole coupon.
    pub async fn snapshot(&self, id: &Id) -> Result<Snapshot, CouponError> {
        let known = self.registry.whole(id)?;
        let read = scripts::snapshot(&self.store, &known.keys, known.mark()).await;
        let snapshot = self.registry.observe_reply(&known, read)?;
        let coupon = self.metrics.coupons.coupon(id.as_str());
        coupon.line(snapshot.queued, snapshot.dead);
        Ok(snapshot)
    }

    /// Voids an issued unit, which returns to the stock. A repeat changes nothing.
    pub async fn void(&self, id: &Id, request_id: &str, by: &Operator) -> Result<Request, CouponError> {
        let known = self.registry.whole(id)?;
        let who = (by.who.as_str(), by.request_id.as_str());
        let voided = scripts::void(&self.store, &known.keys, known.mark(), request_id, who).await;
        let (_, voided) = self.registry.observe_reply(&known, voided)?;
        match voided {
            Voided::Done(answer) => Ok(request(request_id.to_owned(), answer)?),
            Voided::NotIssued(answer) => Err(CouponError::NotIssued {
                request_id: request_id.to_owned(),
                state: answer.record.map_err(ScriptError::from)?.state.as_str(),
            }),
            Voided::Missing => Err(CouponError::RequestNotFound(request_id.to_owned())),
            // With a ledger, a repeat of a void is answered for ever.
            Voided::Stopped(Refusal::Ended) => match self.kept(id, request_id).await? {
                Some(request) if matches!(request.record.state, State::Voided(..)) => Ok(request),
                _ => Err(CouponError::Retired(id.clone())),
            },
            Voided::Stopped(refusal) => Err(refused(refusal)),
        }
    }

    /// Puts a dead letter back at its old place in the queue. If it is queued or decided by now, the result says so and
    /// nothing changes.
    pub async fn redrive(&self, id: &Id, request_id: &str, by: &Operator) -> Result<Request, CouponError> {
        let known = self.registry.whole(id)?;
        let who = (by.who.as_str(), by.request_id.as_str());
        let redriven = scripts::redrive(&self.store, &known.keys, known.mark(), request_id, who).await;
        let (_, redriven) = self.registry.observe_reply(&known, redriven)?;
        match redriven {
            Redriven::Done(answer) => {
                self.bell.ring(id);
                Ok(request(request_id.to_owned(), answer)?)
            }
            Redriven::NotDead(answer) => Ok(request(request_id.to_owned(), answer)?),
            Redriven::Missing => Err(CouponError::RequestNotFound(request_id.to_owned())),
            Redriven::Stopped(Refusal::Ended) => Err(CouponError::Retired(id.clone())),
            Redriven::Stopped(refusal) => Err(refused(refusal)),
        }
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
                info!(coupon_id = %id, before_s, retention_s = own_s, "its records are kept for longer after its end from now on");
            }
            Retired::NotOver {
                retention_s: kept_s, ..
            } if kept_s > own_s && known.is_first_warning() => {
                warn!(
                    coupon_id = %id, kept_s, coupons_retention_s = own_s,
                    "its records are kept for longer than this instance's setting, which drops nothing",
                );
            }
            _ => {}
        }
        Ok(Some(retired))
    }
}

fn put(id: &Id, defined: &Defined) -> Result<Put, CouponError> {
    match *defined {
        Defined::Created(version) => Ok(Put { created: true, version }),
        Defined::Changed(version) => Ok(Put {
            created: false,
            version,
        }),
        Defined::Mismatch => Err(CouponError::PreconditionFailed),
        Defined::Ended => Err(CouponError::Retired(id.clone())),
        Defined::Below { out } => {
            let rule = format!("must be at least {out}: so many units are out");
            Err(CouponError::Invalid(vec![Violation::new("stock", rule)]))
        }
    }
}

/// A definition as Redis keeps it.
pub fn parse_definition(id: &Id, json: &str) -> Result<Definition, CouponError> {
    Definition::from_json(json).map_err(|error: DefinitionError| CouponError::Lost {
        id: id.clone(),
        what: format!("a readable definition: {error}"),
    })
}
