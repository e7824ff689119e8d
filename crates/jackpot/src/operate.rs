//! Requests of operators: define, pause, resume, close, adjust, end an epoch.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use jackpot_core::ids::Id;
use jackpot_core::jackpot::cycle::{CycleRow, Cycles, rules_text};
use jackpot_core::jackpot::definition::{Definition, Violation};
use jackpot_core::jackpot::epoch::Epoch;
use jackpot_core::mark::Mark;
use tokio::time::Instant;
use tracing::{debug, error, info, warn};

use jackpot_kernel::operator::Operator;
use jackpot_kernel::sql::Sql;
use jackpot_kernel::store::{Store, StoreError};

use super::cycling::{Cycling, FOLLOWING};
use super::error::PlayError;
use super::known::{Known, Registry};
use super::leaving::{Made, made};
use super::scripts::{
    self, Adjust, Adjusted, Define, DefineRefusal, Defined, Fence, NewJackpot, Rotate, Rotated, ScriptError, SetStatus,
    StatusSet, Wanted,
};
use super::settlement::wait;
use super::view::{View, Views};
use jackpot_api::jackpot::Status;
use jackpot_kernel::subject::engine::{self, Defines, Put, Tries};
use jackpot_kernel::subject::{Stamp, Subject};

/// Default retention of ids in seconds, as in `config/default.toml`.
const RETENTION_S: u64 = 7_200;
/// Largest number of repeats of a call whose definition or epoch changed meanwhile.
const MAX_STALE: usize = 16;

/// Longest wait of a pause for its row of the audit trail. The pause is done before it.
const AUDIT_WAIT: Duration = Duration::from_secs(1);

/// Code of a script's error: Redis has data that no script wrote.
const DAMAGED: &str = "JP_DAMAGED";
/// Beginning of its message when that data is money.
const MONEY: [&str; 2] = ["pool", "meter"];

/// Defines and operates jackpots.
#[derive(Debug, Clone)]
pub struct Operate {
    pub views: Arc<Views>,
    store: Store,
    retention_s: u64,
}

impl Operate {
    /// Operates on this store.
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
        let new = NewJackpot {
            status,
            opening: self.views.opening(id, 1)?,
            retention_s: self.retention_s,
        };
        engine::define(self, id, Stamp::new()?.put(definition, wanted, by), &new).await
    }

    /// Refuses a definition whose rounds could be cancelled after their records are dropped.
    pub fn check_times(&self, definition: &Definition) -> Result<(), PlayError> {
        let (within_s, retention_s) = (definition.document().reverse_within_s, self.retention_s);
        if within_s <= retention_s {
            return Ok(());
        }
        let rule = format!("must be at most {retention_s}, the seconds for which ids are remembered");
        Err(PlayError::Invalid(vec![Violation::new("reverse_within_s", rule)]))
    }

    /// Pauses, resumes, suspends or closes. A repeat changes nothing. A suspended jackpot is not resumed here.
    pub async fn set_status(&self, id: &Id, wanted: Status, reason: String, by: &Operator) -> Result<(), PlayError> {
        self.change_status(id, SetStatus::new(wanted, reason, by)).await
    }

    /// Pauses. `keep_waiting`: a waiting definition does not come into force. Waits a moment for the row of the audit
    /// trail, which names the version that does.
    pub async fn pause(
        &self,
        sql: &Sql,
        id: &Id,
        reason: String,
        keep_waiting: bool,
        by: &Operator,
    ) -> Result<(), PlayError> {
        let wish = SetStatus::new(Status::Paused, reason, by);
        self.change_status(id, SetStatus { keep_waiting, ..wish }).await?;
        let n = self.views.registry.known(id).mark().n();
        wait(sql, id, n, Instant::now() + AUDIT_WAIT).await;
        Ok(())
    }

    /// Resumes a jackpot, also a suspended one. The caller's reconciliation was clean.
    pub async fn resume_suspended(&self, id: &Id, reason: String, by: &Operator) -> Result<(), PlayError> {
        let wish = SetStatus::new(Status::Open, reason, by);
        let reconciled = true;
        self.change_status(id, SetStatus { reconciled, ..wish }).await
    }

    async fn change_status(&self, id: &Id, wish: SetStatus) -> Result<(), PlayError> {
        if let StatusSet::Stays(_, status) = engine::set_status(&*self.views, id, &wish).await? {
            return Err(PlayError::Stopped(status));
        }
        let (who, request_id, reason) = (&*wish.by.who, &*wish.by.request_id, &*wish.reason);
        info!(jackpot_id = %id, who, request_id, reason, status = wish.wanted.as_str(), "status set");
        Ok(())
    }

    /// Appends an event with what Redis holds, for the ledger to compare.
    pub async fn checkpoint(&self, id: &Id) -> Result<Mark, PlayError> {
        engine::checkpoint(&*self.views, id).await
    }

    /// Funds, corrects or moves money. What takes money out may wait for a second owner.
    pub async fn adjust(&self, id: &Id, wish: &Adjust) -> Result<Made, PlayError> {
        let adjusted = self.try_adjust(id, wish).await;
        let (mark, adjusted) = self.stop_if_damaged(id, adjusted).await?;
        let made = made(&wish.adjustment_id, &wish.by.owner, mark, &adjusted)?;
        if made.now {
            let (who, request_id, reason) = (&*wish.by.who, &*wish.by.request_id, &*wish.reason);
            let (adjustment_id, tier, amount) = (&wish.adjustment_id, &wish.tier, wish.amount);
            let (from, to) = (wish.from.unwrap_or("outside"), wish.to.unwrap_or("outside"));
            let state = made.state.as_str();
            info!(jackpot_id = %id, who, request_id, reason, %adjustment_id, %tier, from, to, %amount, state, "adjustment");
        }
        Ok(made)
    }

    async fn try_adjust(&self, id: &Id, wish: &Adjust) -> Result<(Mark, Adjusted), PlayError> {
        let mut tries = Tries::begin(&*self.views, id).await?;
        loop {
            let (known, view) = (&tries.known, &tries.seen);
            let (fence, tiers) = (known.fence(view), view.definition.tiers());
            let reply = scripts::adjust(&self.store, &known.keys, &fence, tiers, wish).await;
            if let Some(adjusted) = tries.reply(reply).await? {
                return Ok(adjusted);
            }
        }
    }

    /// Closes the open epoch and opens the next. If another call closed it meanwhile, that counts.
    pub async fn end_epoch(&self, id: &Id, reason: String, by: &Operator) -> Result<(), PlayError> {
        self.end_epoch_with(id, reason, by, false).await
    }

    /// The same; with `cycles` also ends the open cycles without a take, and begins new ones with a new nonce.
    pub async fn end_epoch_with(&self, id: &Id, reason: String, by: &Operator, cycles: bool) -> Result<(), PlayError> {
        let (who, request_id) = (&*by.who, &*by.request_id);
        let why = Rotate::Operator {
            reason: reason.clone(),
            by: by.clone(),
        };
        let (_, view) = self.views.refresh(id).await?;
        let nonce_of = |row: &CycleRow| (row.tier.clone(), row.nonce.clone());
        let ended: BTreeSet<_> = view.cycles.open().map(nonce_of).collect();
        let mut closed = view.epoch;
        for _ in 0..MAX_STALE {
            if self.rotate_from(id, closed, &why, cycles).await? == Some(Rotated::Closed) {
                return Err(PlayError::Stopped(Status::Closed));
            }
            let (_, view) = self.views.view(id).await?;
            // Another call may have closed the epoch and kept the cycles.
            if !cycles || !view.cycles.open().any(|row| ended.contains(&nonce_of(row))) {
                info!(jackpot_id = %id, who, request_id, reason, closed, cycles, "epoch rotated");
                return Ok(());
            }
            closed = view.epoch;
        }
        Err(PlayError::Unsettled)
    }

    /// Ends the open cycles of a jackpot if one of them is not under the current secret. A jackpot that an earlier version
    /// closed with an open epoch or cycle loses it.
    pub async fn leave_other_secrets(&self, id: &Id) -> Result<(), PlayError> {
        let (_, view) = self.views.view(id).await?;
        let by = Operator::service();
        if view.is_closed {
            let reason = "it is closed, so its epoch and its cycles end".to_owned();
            return self.set_status(id, Status::Closed, reason, &by).await;
        }
        if !view.cycles.is_under_another_secret() {
            return Ok(());
        }
        let reason = "the draw secret is another one".to_owned();
        self.end_epoch_with(id, reason, &by, true).await
    }

    /// Counts the age of the newer generation of records; drops the older one and opens the next epoch, if the
    /// retention has passed.
    pub async fn rotate_by_retention(&self, id: &Id, retention_s: u64) -> Result<Option<Rotated>, PlayError> {
        let (_, view) = self.views.view(id).await?;
        let rotated = self
            .rotate_from(id, view.epoch, &Rotate::Retention { retention_s }, false)
            .await?;
        match rotated {
            Some(Rotated::Raised(before_s)) => {
                info!(jackpot_id = %id, before_s, retention_s, "the jackpot's retention was raised");
            }
            Some(Rotated::Early {
                retention_s: kept_s, ..
            }) if kept_s > retention_s && self.views.registry.known(id).is_first_warning() => {
                warn!(
                    jackpot_id = %id, kept_s, fairness_retention_s = retention_s,
                    "the jackpot's retention is longer than this instance's setting, which drops nothing",
                );
            }
            _ => {}
        }
        Ok(rotated)
    }

    /// Suspends a jackpot because Redis has data that no script wrote. The error then says that it is suspended.
    pub(super) async fn stop_if_damaged<T>(&self, id: &Id, result: Result<T, PlayError>) -> Result<T, PlayError> {
        match result {
            Err(error) => Err(self.stop_by(id, error).await),
            done => done,
        }
    }

    async fn stop_by(&self, id: &Id, error: PlayError) -> PlayError {
        let PlayError::Script(ScriptError::Store(StoreError::Protocol { code, detail, .. })) = &error else {
            return error;
        };
        // An unreadable record affects only its own entry.
        if code != DAMAGED || !MONEY.iter().any(|what| detail.starts_with(what)) {
            return error;
        }
        let reason = format!("Redis holds values that the service did not write: {detail}");
        let by = Operator::service();
        // This decision does not depend on what the pools hold.
        let wish = SetStatus::new(Status::Suspended, reason.clone(), &by);
        // Boxed: this happens rarely, and every entry would carry the space for it.
        match Box::pin(engine::set_status(&*self.views, id, &wish)).await {
            Ok(_) if self.views.registry.known(id).is_first_damage() => {
                error!(jackpot_id = %id, reason, "this jackpot is suspended");
            }
            Ok(_) => {}
            Err(error) => error!(jackpot_id = %id, reason, %error, "this jackpot could not be suspended"),
        }
        PlayError::Stopped(Status::Suspended)
    }

    async fn rotate_from(&self, id: &Id, epoch: u64, why: &Rotate, cycles: bool) -> Result<Option<Rotated>, PlayError> {
        let next = self.views.opening(id, epoch + 1)?;
        for _ in 0..MAX_STALE {
            let (known, view) = self.views.view(id).await?;
            if view.epoch != epoch {
                return Ok(None);
            }
            let prepared = if cycles {
                view.cycles.renewed(id)?
            } else {
                String::new()
            };
            let cycles = Some((view.definition.tiers(), &*prepared)).filter(|_| !prepared.is_empty());
            let fence = known.fence(&view);
            let reply = scripts::rotate_with(&self.store, &known.keys, &fence, &next, why, cycles).await;
            match known.observe_loss(reply) {
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

    /// The open cycles.
    pub async fn open_cycles(&self, id: &Id) -> Result<Vec<CycleRow>, PlayError> {
        let known = self.views.registry.known(id);
        let mut rows = scripts::cycles(&self.store, &known.keys).await?.rows;
        rows.retain(CycleRow::is_open);
        Ok(rows)
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
}

impl Defines for Operate {
    type Known = Known;
    type Definition = Definition;
    type Made = NewJackpot;
    type Read = Arc<View>;
    type Refused = DefineRefusal;
    type Error = PlayError;
    const MISMATCH: PlayError = PlayError::PreconditionFailed;
    const UNSETTLED: PlayError = PlayError::Unsettled;

    fn registry(&self) -> &Registry {
        &self.views.registry
    }

    async fn read(&self, id: &Id) -> Result<(u64, Arc<View>), PlayError> {
        let (_, view) = self.views.refresh(id).await?;
        Ok((view.last_version, view))
    }

    async fn define(
        &self,
        known: &Known,
        view: Option<&Arc<View>>,
        put: &Define<'_>,
        new: &NewJackpot,
    ) -> Result<(Mark, Defined), ScriptError> {
        let first = || Fence {
            known: known.mark(),
            epoch: 1,
            commitment: new.opening.commitment.clone(),
            definition: String::new(),
            prepared: String::new(),
        };
        let mut fence = view.map_or_else(first, |view| known.fence(view));
        let rules = rules_text(put.definition);
        if !rules.is_empty() {
            let none = || {
                Cycling::new(
                    &self.views.secrets,
                    Cycles::default(),
                    jiff::Timestamp::now().as_millisecond(),
                )
            };
            let cycles = view.map_or_else(
                || none().and_then(|c| c.with_rules(&rules)),
                |view| view.cycles.with_rules(&rules),
            );
            let cycles = cycles.map_err(|_| ScriptError::Stale)?;
            fence.prepared = cycles.prepared(&put.definition.document().id, FOLLOWING);
        }
        scripts::define(&self.store, &known.keys, &fence, put, new).await
    }

    fn refused(&self, _: &Id, why: DefineRefusal) -> PlayError {
        let invalid = |field: &str, rule: String| PlayError::Invalid(vec![Violation::new(field, rule)]);
        match why {
            DefineRefusal::Closed => PlayError::Stopped(Status::Closed),
            DefineRefusal::Status => invalid(
                "status",
                "must be open or paused when the jackpot is created".to_owned(),
            ),
            DefineRefusal::TierRemoved(tier) => invalid(
                "tiers",
                format!("'{tier}' must stay: money may be in it; set its share_ppm to 0 instead"),
            ),
            DefineRefusal::Currency(currency) => {
                invalid("currency", format!("must stay {currency}: money has been there"))
            }
        }
    }

    async fn answered(&self, id: &Id) {
        if let Err(error) = self.views.refresh(id).await {
            debug!(%error, "the jackpot could not be read after its PUT; the next call reads it");
        }
    }

    async fn failed(&self, id: &Id, error: ScriptError) -> PlayError {
        self.stop_by(id, error.into()).await
    }

    fn log(&self, id: &Id, put: &Define<'_>, Put { created, version }: Put) {
        let (who, request_id) = (&*put.by.who, &*put.by.request_id);
        info!(jackpot_id = %id, who, request_id, created, version, "definition put");
    }
}
