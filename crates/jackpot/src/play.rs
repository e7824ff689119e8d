//! The path of an entry: draw → enter with the first claim → redraw → claim …, until it has an outcome.
//!
//! Every step is decided by [`next_step`] from the record in Redis, and a script does it once. Whichever instance
//! repeats a step, it finds what the first one wrote.

use std::sync::Arc;
use std::time::Duration;

use jackpot_core::currency::Currency;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::definition::Definition;
use jackpot_core::jackpot::record::{Record, Sent, State};
use jackpot_core::jackpot::reversal::EarlyCancel;
use jackpot_core::jackpot::steps::{Attempt, Step, first_rank, next_step, next_step_after};

use jackpot_coupon::coupons::Coupons;
use jackpot_kernel::store::Store;
use jackpot_kernel::subject::Subject;
use jackpot_room::door::{Door, DoorError, NoPass};

use super::entering::{Entering, Outcome};
use super::error::PlayError;
use super::known::Known;
use super::metrics::PlayMetrics;
use super::operate::Operate;
use super::scripts::{self, EnterEntry, Found, Refusal, ScriptError};
use super::view::{View, Views};
use jackpot_api::jackpot::Status;

/// Repeats of a call whose definition or epoch changed meanwhile. Each needs an operator, a win or a rotation in
/// between, so even two are rare.
pub(super) const MAX_STALE: usize = 16;

/// An entry with its outcome.
#[derive(Debug)]
pub struct Played {
    pub entry_id: String,
    pub sent: Sent,
    /// Its record in Redis.
    pub record: Record,
    /// The definition under which it was drawn.
    pub definition: Arc<Definition>,
    /// Commitment of the epoch in which it was drawn.
    pub commitment: String,
    pub attempts: Vec<Attempt>,
    /// Whether it had been answered before this call.
    pub replayed: bool,
}

/// What came with an entry, and does not make it another one: a repeat is answered whatever it is.
#[derive(Debug, Clone, Copy, Default)]
pub struct By<'a> {
    /// Name of the key that sends it.
    pub key: &'a str,
    /// Passes of waiting rooms. Checked only if the jackpot has a room; then one of them must be the player's.
    pub passes: &'a [&'a str],
    /// Currency of the stake, if the request names it.
    pub currency: Option<Currency>,
}

/// Takes entries and brings them to their outcome.
#[derive(Debug, Clone)]
pub struct Play {
    pub views: Arc<Views>,
    pub(super) store: Store,
    pub(super) coupons: Coupons,
    entering: Entering,
    pub(super) metrics: PlayMetrics,
    max_backlog_events: u64,
    door: Option<Door>,
}

impl Play {
    /// Plays on this store, while the ledger lags by at most `max_backlog_events` of a jackpot.
    pub fn new(
        store: Store,
        views: Arc<Views>,
        coupons: Coupons,
        metrics: PlayMetrics,
        max_backlog_events: u64,
    ) -> Self {
        Self {
            views,
            coupons,
            entering: Entering::new(store.clone(), metrics.clone()),
            store,
            metrics,
            max_backlog_events,
            door: None,
        }
    }

    /// The same with a door that checks passes. Without a door, no entry with a room is taken.
    #[must_use]
    pub fn behind(self, door: Door) -> Self {
        Self {
            door: Some(door),
            ..self
        }
    }

    /// The same for recovery, which tries again later. It does not wait for a turn in a coupon's queue, so that no
    /// entry delays the others.
    #[must_use]
    pub fn without_waiting(&self) -> Self {
        Self {
            coupons: self.coupons.without_waiting(),
            ..self.clone()
        }
    }

    /// Takes one entry to its outcome. Safe to repeat: the same id gives the same answer, whatever came with it.
    pub async fn enter(&self, id: &Id, entry_id: &Id, sent: Sent, by: By<'_>) -> Result<Played, PlayError> {
        let mut result = self.enter_once(id, entry_id.as_str(), sent, by).await;
        if result.is_err() {
            result = Box::pin(self.stop_if_damaged(id, result)).await;
            result = Box::pin(self.with_reason(id, result)).await;
        }
        // A client may have invented this name, and it must not become a label.
        if result.is_ok() || self.views.registry.is_used(id) {
            self.metrics.entry(id, &result);
        }
        result
    }

    /// Rare paths are boxed, here and below, because every entry allocates and moves memory for its whole future.
    async fn enter_once(&self, id: &Id, entry_id: &str, sent: Sent, by: By<'_>) -> Result<Played, PlayError> {
        let (mut known, mut view) = self.views.view(id).await?;
        let mut entry = EnterEntry {
            entry_id: entry_id.to_owned(),
            sent,
            rank: 0,
        };
        let (mut lacked, mut cancels) = (false, None::<String>);
        for _ in 0..MAX_STALE {
            if view.definition.forbids(entry.sent.source_text(), by.key) {
                // Before any look-up: a repeat is answered only to a key of its source.
                (known, view) = Box::pin(self.views.refresh(id)).await?;
                let source = entry.sent.source_text();
                if view.definition.forbids(source, by.key) {
                    return Err(wrong_source(source, by.key));
                }
            }
            if self.refusal(&known, &view, &entry.sent, by).await.is_some() {
                // A repeat is answered before any other check but that. And a limit that was raised after this instance's last
                // reading refuses nobody.
                (known, view) = Box::pin(self.views.refresh(id)).await?;
                let looking = Box::pin(scripts::lookup(&self.store, &known.keys, known.mark(), entry_id));
                let found = known.observe_loss(looking.await)?;
                if let Some(record) = found.and_then(|found| found.record) {
                    return Box::pin(self.replay(&view, entry, record, by)).await;
                }
                if let Some(refusal) = self.refusal(&known, &view, &entry.sent, by).await {
                    return Err(refusal);
                }
            }
            entry.rank = first_rank(entry_id, &entry.sent, &view.definition, &view.seed);
            let outcome;
            (entry, outcome) = match &cancels {
                None => self.entering.enter(&known, &view, entry).await?,
                Some(cancels) => Box::pin(self.entering.enter_despite(&known, &view, entry, cancels)).await?,
            };
            match outcome {
                Outcome::Taken(record) => {
                    if lacked {
                        known.bring_usual_cycles();
                    }
                    self.metrics.first_claim(id, &record);
                    known.saw_outcome(&record);
                    let Some(attempts) = settled(&view, &entry, &record)? else {
                        return Box::pin(self.resolve(&view, entry.entry_id, entry.sent, record, false)).await;
                    };
                    return Ok(Played {
                        entry_id: entry.entry_id,
                        sent: entry.sent,
                        record,
                        definition: Arc::clone(&view.definition),
                        commitment: view.commitment.clone(),
                        attempts,
                        replayed: false,
                    });
                }
                Outcome::Seen(record) => return Box::pin(self.replay(&view, entry, record, by)).await,
                Outcome::Cancelled(record) => {
                    (known, view) = Box::pin(self.views.refresh(id)).await?;
                    not_cancelled(entry_id, &entry.sent, &record, &view.definition)?;
                    cancels = Some(record);
                }
                Outcome::Refused(refusal @ (Refusal::Stale | Refusal::Cycles)) => {
                    if refusal == Refusal::Cycles {
                        known.lacks_cycles(&mut lacked);
                    }
                    (known, view) = Box::pin(self.views.renew(id, &view)).await?;
                }
                Outcome::Refused(refusal) => return Err(refused(refusal)),
            }
        }
        Err(PlayError::Unsettled)
    }

    /// How long an entry may take that others wait for.
    pub(super) fn limit(&self) -> Duration {
        self.store.total_limit()
    }

    /// An entry that was taken before: its record, and the request, unless its event has left the stream.
    pub async fn look_up(&self, id: &Id, entry_id: &str) -> Result<Found, PlayError> {
        let (known, _) = self.views.view(id).await?;
        let found = known.observe_loss(scripts::lookup(&self.store, &known.keys, known.mark(), entry_id).await)?;
        let found = found.ok_or_else(|| PlayError::EntryNotFound(entry_id.to_owned()))?;
        known.observe(found.mark);
        Ok(found)
    }

    /// Counts an entry that this call reversed.
    pub async fn count_reversed(&self, id: &Id, source: Option<&Id>) {
        if let Ok((_, view)) = self.views.view(id).await {
            self.metrics.reversed(id, &view.definition, source);
        }
    }

    /// The answer for an entry that was taken before. Finishes it if it has no outcome.
    pub async fn answer(&self, id: &Id, entry_id: &str, sent: Sent, record: Record) -> Result<Played, PlayError> {
        let (_, view) = self.views.view(id).await?;
        let answered = self.resolve(&view, entry_id.to_owned(), sent, record, true).await;
        self.stop_if_damaged(id, answered).await
    }

    /// Finishes a pending entry. For recovery, which has only its record.
    pub async fn finish_pending(&self, id: &Id, entry_id: &str, record: Record) -> Result<(), PlayError> {
        let State::Pending { sent, .. } = &record.state else {
            return Ok(());
        };
        let (sent, (_, view)) = (sent.clone(), self.views.view(id).await?);
        let finished = self.resolve(&view, entry_id.to_owned(), sent, record, true).await;
        self.stop_if_damaged(id, finished).await.map(|_| ())
    }

    /// Adds the reason of the emergency stop.
    pub(super) async fn with_reason<T>(&self, id: &Id, result: Result<T, PlayError>) -> Result<T, PlayError> {
        match result {
            Err(PlayError::Emergency(_)) => {
                let registry = &self.views.registry;
                Err(PlayError::Emergency(registry.stop_reason(&registry.known(id)).await))
            }
            other => other,
        }
    }

    /// See [`Operate::stop_if_damaged`].
    pub(super) async fn stop_if_damaged<T>(&self, id: &Id, result: Result<T, PlayError>) -> Result<T, PlayError> {
        if result.is_ok() {
            return result;
        }
        let operate = Operate::new(self.store.clone(), Arc::clone(&self.views));
        Box::pin(operate.stop_if_damaged(id, result)).await
    }

    /// The checks of a new entry before Redis is called.
    async fn refusal(&self, known: &Known, view: &View, sent: &Sent, by: By<'_>) -> Option<PlayError> {
        if let Some(refusal) = self.busy(known) {
            return Some(refusal);
        }
        let own = view.definition.document().currency;
        if by.currency.is_some_and(|currency| currency != own) {
            return Some(PlayError::CurrencyMismatch { own });
        }
        if let Some(room) = view.definition.room() {
            let Some(door) = &self.door else {
                return Some(DoorError::Required(NoPass::None).into());
            };
            if let Err(refusal) = Box::pin(door.check_any(room, &sent.player, by.passes)).await {
                return Some(refusal.into());
            }
        }
        let broken = view
            .definition
            .refuses(sent.stake, sent.source_text(), sent.ranks.as_ref())?;
        Some(PlayError::Invalid(vec![broken]))
    }

    /// Why no new entries are taken now.
    pub(super) fn busy(&self, known: &Known) -> Option<PlayError> {
        let health = self.store.health();
        if health.refuse_entries {
            let full = || format!("Redis' memory is at {} % of its limit", health.memory_pct());
            return Some(PlayError::Refusing(
                health.cause.as_deref().map_or_else(full, str::to_owned),
            ));
        }
        let waiting = known.backlog();
        if waiting > self.max_backlog_events {
            return Some(PlayError::Backlog { waiting });
        }
        None
    }

    async fn replay(&self, view: &View, entry: EnterEntry, record: Record, by: By<'_>) -> Result<Played, PlayError> {
        if record.fingerprint != entry.sent.fingerprint() {
            return Err(PlayError::EntryIdReused(entry.entry_id));
        }
        let source = entry.sent.source_text();
        if self
            .views
            .forbids(&view.id, view, source, record.version, by.key)
            .await?
        {
            return Err(wrong_source(source, by.key));
        }
        self.resolve(view, entry.entry_id, entry.sent, record, true).await
    }

    /// Takes the steps of an entry by its record, until it has an outcome.
    pub(super) async fn resolve(
        &self,
        view: &View,
        entry_id: String,
        sent: Sent,
        mut record: Record,
        replayed: bool,
    ) -> Result<Played, PlayError> {
        let id = &view.id;
        let definition = self.views.definition(id, view, record.version).await?;
        let seed = self.views.seed_of(id, view, record.epoch).await?;
        // Each round records one more refusal or the outcome, and no more ranks can refuse than there are attempts.
        for _ in 0..=definition.last_attempt() + 1 {
            match next_step(&entry_id, &sent, &record, &definition, &seed)? {
                Step::Answer(attempts) => {
                    return Ok(Played {
                        entry_id,
                        sent,
                        record,
                        definition,
                        commitment: seed.commitment(),
                        attempts,
                        replayed,
                    });
                }
                step => {
                    let took = self.take_step(id, &entry_id, &sent.player, record.epoch, &definition, &step);
                    record = Box::pin(took).await?;
                }
            }
        }
        Err(PlayError::Unsettled)
    }

    /// Takes the steps of an entry of a batch up to its next claim of money, which must wait for its turn.
    pub(super) async fn resolve_coupons(
        &self,
        view: &View,
        entry_id: &str,
        sent: &Sent,
        mut record: Record,
    ) -> Result<Record, PlayError> {
        let definition = self.views.definition(&view.id, view, record.version).await?;
        let seed = self.views.seed_of(&view.id, view, record.epoch).await?;
        for _ in 0..=definition.last_attempt() + 1 {
            match next_step(entry_id, sent, &record, &definition, &seed)? {
                Step::Answer(_) | Step::Claim { .. } => return Ok(record),
                step => {
                    let took = self.take_step(&view.id, entry_id, &sent.player, record.epoch, &definition, &step);
                    record = Box::pin(took).await?;
                }
            }
        }
        Err(PlayError::Unsettled)
    }
}

/// The attempts of an entry that was just taken under this view, if its draw is the outcome, as it mostly is.
fn settled(view: &View, entry: &EnterEntry, record: &Record) -> Result<Option<Vec<Attempt>>, PlayError> {
    if (record.epoch, record.version) != (view.epoch, view.version) {
        return Ok(None);
    }
    let (id, definition) = (&entry.entry_id, &view.definition);
    Ok(
        match next_step_after(entry.rank, id, &entry.sent, record, definition, &view.seed)? {
            Step::Answer(attempts) => Some(attempts),
            _ => None,
        },
    )
}

/// Refuses an entry that a reversal for its source came before. `record`: that of all reversals of its id.
pub(super) fn not_cancelled(
    entry_id: &str,
    sent: &Sent,
    record: &str,
    definition: &Definition,
) -> Result<(), PlayError> {
    let cancels = EarlyCancel::all(record).map_err(ScriptError::from)?;
    let bound = cancels
        .into_iter()
        .find(|cancel| cancel.binds(definition, sent.source_text()));
    bound.map_or(Ok(()), |cancel| {
        let (entry_id, reversal_id) = (entry_id.to_owned(), cancel.reversal_id);
        Err(PlayError::EntryReversed { entry_id, reversal_id })
    })
}

pub(super) fn wrong_source(source: Option<&str>, key: &str) -> PlayError {
    PlayError::WrongSource {
        source_id: source.unwrap_or_default().to_owned(),
        key: key.to_owned(),
    }
}

/// Turns a script's refusal into an error.
pub(super) fn refused(refusal: Refusal) -> PlayError {
    match refusal {
        Refusal::Paused => PlayError::Stopped(Status::Paused),
        Refusal::Suspended => PlayError::Stopped(Status::Suspended),
        Refusal::Closed => PlayError::Stopped(Status::Closed),
        Refusal::Emergency => PlayError::Emergency(String::new()),
        Refusal::TooLarge => PlayError::AmountTooLarge,
        Refusal::Stale | Refusal::Cycles => PlayError::Script(ScriptError::Stale),
    }
}
