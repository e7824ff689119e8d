//! Requests of operators: define, pause, resume, close, adjust, end an epoch.

use std::sync::Arc;

use jackpot_core::ids::Id;
use jackpot_core::jackpot::definition::{Definition, Violation};
use jackpot_core::jackpot::epoch::{Epoch, Opening};
use jackpot_core::mark::Mark;
use tracing::{debug, error, info, warn};

use crate::operator::Operator;
use crate::random;
use crate::store::{Store, StoreError};

use super::error::PlayError;
use super::known::Known;
use super::scripts::{
    self, Adjust, Adjusted, Define, Defined, Fence, Rotate, Rotated, ScriptError, SetStatus, StatusSet, Wanted,
};
use super::view::{Status, View, Views};
use crate::subject::{self, Subject};

/// Default retention of ids in seconds, as in `config/default.toml`.
const RETENTION_S: u64 = 7_200;
/// Largest number of repeats of a call whose definition or epoch changed meanwhile.
const MAX_STALE: usize = 16;

/// Code of a script's error: Redis has data that no script wrote.
const DAMAGED: &str = "JP_DAMAGED";
/// Beginning of its message when that data is money.
const MONEY: [&str; 2] = ["pool", "meter"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Put {
    /// Whether the jackpot is new.
    pub created: bool,
    /// The last version of its definition, right after this PUT.
    pub version: u64,
}

/// Defines and operates jackpots.
#[derive(Debug, Clone)]
pub struct Operate {
    pub views: Arc<Views>,
    store: Store,
    retention_s: u64,
}

impl Operate {
    /// Operates on this store.
    #[must_use]
    pub fn new(store: Store, views: Arc<Views>) -> Self {
        Self {
            views,
            store,
            retention_s: RETENTION_S,
        }
    }

    /// The same with another retention of ids.
    #[must_use]
    pub fn remembering(self, retention_s: u64) -> Self {
        Self { retention_s, ..self }
    }

    /// Creates a jackpot or changes its definition. A repeat changes nothing.
    pub async fn define(
        &self,
        id: &Id,
        definition: &Definition,
        wanted: Wanted,
        status: Status,
        by: &Operator,
    ) -> Result<Put, PlayError> {
        if matches!(wanted, Wanted::Any | Wanted::Absent) {
            // The index first: a crash in between leaves a name without a jackpot, and listing skips it.
            self.views.registry.add_to_index(std::slice::from_ref(id)).await?;
        }
        // The nonce distinguishes a repeat, here or in the store after a lost reply, from another PUT.
        let nonce = hex::encode(random::bytes::<16>()?);
        let (opening, history) = (self.views.opening(id, 1)?, subject::new_history()?);
        for _ in 0..MAX_STALE {
            let (known, fence, last_version) = match self.views.refresh(id).await {
                Ok((known, view)) => {
                    let fence = known.fence(&view);
                    (known, fence, Some(view.last_version))
                }
                Err(PlayError::Script(ScriptError::Unknown)) => self.first_fence(id, &opening),
                Err(error) => return Err(error),
            };
            let (who, request_id, wanted) = (&*by.who, &*by.request_id, wanted.clone());
            let wish = Define {
                definition,
                wanted,
                status,
                last_version,
                nonce: &nonce,
                opening: &opening,
                history: &history,
                retention_s: self.retention_s,
                who,
                request_id,
            };
            let (mark, defined) =
                match known.observe_loss(scripts::define(&self.store, &known.keys, &fence, &wish).await) {
                    Err(ScriptError::Stale) => continue,
                    other => self.stop_if_damaged(id, other.map_err(PlayError::from)).await?,
                };
            known.observe(mark);
            if let Err(error) = self.views.refresh(id).await {
                debug!(%error, "not read after a definition; the next call reads it");
            }
            let put = put(defined)?;
            let (created, version) = (put.created, put.version);
            info!(jackpot_id = %id, who, request_id, created, version, "definition put");
            return Ok(put);
        }
        Err(PlayError::Unsettled)
    }

    fn first_fence(&self, id: &Id, opening: &Opening) -> (Arc<Known>, Fence, Option<u64>) {
        let known = self.views.registry.known(id);
        let fence = Fence {
            known: known.mark(),
            epoch: 1,
            commitment: opening.commitment.clone(),
            definition: String::new(),
        };
        (known, fence, None)
    }

    /// Pauses, resumes, suspends or closes. A repeat changes nothing. A suspended jackpot is not resumed here.
    pub async fn set_status(&self, id: &Id, wanted: Status, reason: String, by: &Operator) -> Result<(), PlayError> {
        self.change_status(id, wanted, reason, by, false).await
    }

    /// Resumes a jackpot, also a suspended one. The caller's reconciliation was clean.
    pub async fn resume_suspended(&self, id: &Id, reason: String, by: &Operator) -> Result<(), PlayError> {
        self.change_status(id, Status::Open, reason, by, true).await
    }

    async fn change_status(
        &self,
        id: &Id,
        wanted: Status,
        reason: String,
        by: &Operator,
        reconciled: bool,
    ) -> Result<(), PlayError> {
        let wish = SetStatus {
            wanted,
            reason,
            who: by.who.clone(),
            request_id: by.request_id.clone(),
            reconciled,
        };
        let (who, request_id, reason) = (&*wish.who, &*wish.request_id, &*wish.reason);
        let set = self
            .with_view(id, async |known, view| {
                scripts::set_status(
                    &self.store,
                    &known.keys,
                    &known.fence(view),
                    view.definition.tiers(),
                    &wish,
                )
                .await
            })
            .await?;
        let (StatusSet::Done(mark) | StatusSet::Closed(mark) | StatusSet::Suspended(mark)) = set;
        self.views.registry.known(id).observe(mark);
        match set {
            StatusSet::Done(_) => {
                info!(jackpot_id = %id, who, request_id, reason, status = wanted.as_str(), "status set");
                Ok(())
            }
            StatusSet::Closed(_) => Err(PlayError::Stopped(Status::Closed)),
            StatusSet::Suspended(_) => Err(PlayError::Stopped(Status::Suspended)),
        }
    }

    /// Appends an event with what Redis holds, for the ledger to compare.
    pub async fn checkpoint(&self, id: &Id) -> Result<Mark, PlayError> {
        let mark = self
            .with_view(id, async |known, view| {
                let (fence, tiers) = (known.fence(view), view.definition.tiers());
                scripts::checkpoint(&self.store, &known.keys, &fence, tiers).await
            })
            .await?;
        self.views.registry.known(id).observe(mark);
        Ok(mark)
    }

    /// Funds, corrects or moves money. Returns whether this call did it (or an earlier one with the same id), and when,
    /// in ms.
    pub async fn adjust(&self, id: &Id, wish: &Adjust) -> Result<(bool, i64), PlayError> {
        let adjusted = self
            .with_view(id, async |known, view| {
                scripts::adjust(
                    &self.store,
                    &known.keys,
                    &known.fence(view),
                    view.definition.tiers(),
                    wish,
                )
                .await
            })
            .await;
        let (mark, adjusted) = self.stop_if_damaged(id, adjusted).await?;
        self.views.registry.known(id).observe(mark);
        let invalid = |field: &str, rule: String| Err(PlayError::Invalid(vec![Violation::new(field, rule)]));
        match adjusted {
            Adjusted::Done { now, at_ms } => {
                let (who, request_id, reason) = (&*wish.who, &*wish.request_id, &*wish.reason);
                let (adjustment_id, tier, amount) = (&wish.adjustment_id, &wish.tier, wish.amount);
                let (from, to) = (wish.from.unwrap_or("outside"), wish.to.unwrap_or("outside"));
                info!(jackpot_id = %id, who, request_id, reason, %adjustment_id, %tier, from, to, %amount, now, "adjustment made");
                Ok((now, at_ms))
            }
            Adjusted::Reused => Err(PlayError::AdjustmentIdReused(wish.adjustment_id.clone())),
            Adjusted::BelowZero(held) => invalid("amount", format!("the meter holds {held}: it never goes below 0")),
            Adjusted::AboveCap(cap) => invalid("amount", format!("the pool's cap is {cap}: fund the overflow instead")),
            Adjusted::TooLarge => Err(PlayError::AmountTooLarge),
            Adjusted::NoTier => invalid("tier", "is none of the jackpot's tiers".to_owned()),
        }
    }

    /// Closes the open epoch and opens the next. If another call closed it meanwhile, that counts.
    pub async fn end_epoch(&self, id: &Id, reason: String, by: &Operator) -> Result<(), PlayError> {
        let why = Rotate::Operator {
            reason,
            who: by.who.clone(),
            request_id: by.request_id.clone(),
        };
        let (_, view) = self.views.refresh(id).await?;
        let closed = view.epoch;
        self.rotate_from(id, closed, &why).await?;
        if let Rotate::Operator {
            reason,
            who,
            request_id,
        } = &why
        {
            info!(jackpot_id = %id, who, request_id, reason, closed, "epoch rotated");
        }
        Ok(())
    }

    /// Counts the age of the newer generation of records; drops the older one and opens the next epoch, if the
    /// retention has passed.
    pub async fn rotate_by_retention(&self, id: &Id, retention_s: u64) -> Result<Option<Rotated>, PlayError> {
        let (_, view) = self.views.view(id).await?;
        let rotated = self
            .rotate_from(id, view.epoch, &Rotate::Retention { retention_s })
            .await?;
        match rotated {
            Some(Rotated::Raised(before_s)) => {
                info!(jackpot_id = %id, before_s, retention_s, "ids of this jackpot are remembered for longer from now on");
            }
            Some(Rotated::Early {
                retention_s: kept_s, ..
            }) if kept_s > retention_s && self.views.registry.known(id).is_first_warning() => {
                warn!(
                    jackpot_id = %id, kept_s, fairness_retention_s = retention_s,
                    "ids are remembered for longer than this instance's setting, which drops nothing",
                );
            }
            _ => {}
        }
        Ok(rotated)
    }

    /// Suspends a jackpot because Redis has data that no script wrote. The error then says that it is suspended.
    pub(super) async fn stop_if_damaged<T>(&self, id: &Id, result: Result<T, PlayError>) -> Result<T, PlayError> {
        let Err(PlayError::Script(ScriptError::Store(StoreError::Protocol { code, detail, .. }))) = &result else {
            return result;
        };
        // An unreadable record affects only its own entry.
        if code != DAMAGED || !MONEY.iter().any(|what| detail.starts_with(what)) {
            return result;
        }
        let reason = format!("Redis holds what the service did not write: {detail}");
        match self.suspend(id, &reason).await {
            Ok(()) if self.views.registry.known(id).is_first_damage() => {
                error!(jackpot_id = %id, reason, "this jackpot is suspended");
            }
            Ok(()) => {}
            Err(error) => error!(jackpot_id = %id, reason, %error, "this jackpot could not be suspended"),
        }
        Err(PlayError::Stopped(Status::Suspended))
    }

    /// Suspends, whatever the pools hold: this decides nothing by them. A repeat changes nothing.
    async fn suspend(&self, id: &Id, reason: &str) -> Result<(), PlayError> {
        let wish = SetStatus {
            wanted: Status::Suspended,
            reason: reason.to_owned(),
            who: "service".to_owned(),
            request_id: String::new(),
            reconciled: false,
        };
        let (mut known, mut view) = self.views.view(id).await?;
        for _ in 0..MAX_STALE {
            let (fence, tiers) = (known.fence(&view), view.definition.tiers());
            let set = scripts::set_status(&self.store, &known.keys, &fence, tiers, &wish).await;
            match known.observe_loss(set) {
                Err(ScriptError::Stale) => (known, view) = self.views.refresh(id).await?,
                other => {
                    let (StatusSet::Done(mark) | StatusSet::Closed(mark) | StatusSet::Suspended(mark)) = other?;
                    known.observe(mark);
                    return Ok(());
                }
            }
        }
        Err(PlayError::Unsettled)
    }

    async fn rotate_from(&self, id: &Id, epoch: u64, why: &Rotate) -> Result<Option<Rotated>, PlayError> {
        let next = self.views.opening(id, epoch + 1)?;
        for _ in 0..MAX_STALE {
            let (known, view) = self.views.view(id).await?;
            if view.epoch != epoch {
                return Ok(None);
            }
            match known.observe_loss(scripts::rotate(&self.store, &known.keys, &known.fence(&view), &next, why).await) {
                Err(ScriptError::Stale) => self.views.refresh(id).await?,
                Ok((mark, rotated)) => {
                    known.observe(mark);
                    self.views.refresh(id).await?;
                    return Ok(Some(rotated));
                }
                Err(error) => return Err(error.into()),
            };
        }
        Err(PlayError::Unsettled)
    }

    /// The epochs, oldest first.
    pub async fn epochs(&self, id: &Id) -> Result<Vec<Epoch>, PlayError> {
        let known = self.views.registry.known(id);
        let epochs = scripts::epochs(&self.store, &known.keys).await?;
        if epochs.is_empty() {
            Err(ScriptError::Unknown.into())
        } else {
            Ok(epochs)
        }
    }

    async fn with_view<T>(
        &self,
        id: &Id,
        call: impl AsyncFn(&Known, &View) -> Result<T, ScriptError>,
    ) -> Result<T, PlayError> {
        let (mut known, mut view) = self.views.view(id).await?;
        for _ in 0..MAX_STALE {
            match known.observe_loss(call(&known, &view).await) {
                Err(ScriptError::Stale) => (known, view) = self.views.refresh(id).await?,
                other => return Ok(other?),
            }
        }
        Err(PlayError::Unsettled)
    }
}

fn put(defined: Defined) -> Result<Put, PlayError> {
    let invalid = |field: &str, rule: String| Err(PlayError::Invalid(vec![Violation::new(field, rule)]));
    match defined {
        Defined::Created(version) => Ok(Put { created: true, version }),
        Defined::Changed(version) => Ok(Put {
            created: false,
            version,
        }),
        Defined::Mismatch => Err(PlayError::PreconditionFailed),
        Defined::Closed => Err(PlayError::Stopped(Status::Closed)),
        Defined::Status => invalid(
            "status",
            "must be open or paused when the jackpot is created".to_owned(),
        ),
        Defined::TierRemoved(tier) => invalid(
            "tiers",
            format!("'{tier}' must stay: money may be in it; set its share_ppm to 0 instead"),
        ),
        Defined::Currency(currency) => invalid("currency", format!("must stay {currency}: money has been there")),
    }
}
