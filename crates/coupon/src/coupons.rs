//! Requests of clients and draws: issue a unit, look one up. For operators: `operate`.
//!
//! A request is answered from its record first, here as in Redis. So a repeat is answered even while new requests are
//! refused.

use std::sync::Arc;
use std::time::Duration;

use jackpot_core::ids::{Id, PersonId};
use tokio::time::{Instant, sleep, timeout_at};
use tracing::debug;

use super::asking::{Asking, Cause};
use super::bell::Bell;
use super::code::Code;
use super::error::CouponError;
use super::kept;
use super::known::{Known, Registry};
use super::metadata::Asker;
use super::record::{Record, State};
use super::scripts::{self, Answer, Ask, AskReply, Looked, Mode, Refusal, ScriptError};
use super::turns::Turns;
use jackpot_kernel::settings;
use jackpot_kernel::sql::Sql;
use jackpot_kernel::store::Store;
use jackpot_kernel::telemetry::{IssueResult, Metrics};

/// Pause between two looks at a request whose turn has passed, until its record shows the result.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub request_id: String,
    /// Its user, and its state.
    pub record: Record,
    /// Of a user who has reached the limit: request id and record of the first issue that counted.
    pub first: Option<(String, Record)>,
    /// Of a queued request: how many are before it.
    pub place: Option<u64>,
    /// Whether it had been answered before this call.
    pub replayed: bool,
}

impl Request {
    /// Whether it waits for its turn.
    pub fn is_in_line(&self) -> bool {
        matches!(self.record.state, State::Queued { .. })
    }
}

/// A coupon's answer to a draw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DrawAnswer {
    /// The player has a unit.
    Issued {
        /// Its number within the coupon, from 1.
        sequence: u64,
        /// Its code.
        code: Code,
    },
    /// The stock is used up.
    OutOfStock,
    /// The player has reached the limit.
    AlreadyIssued,
    /// The coupon has not started, is over, paused or closed, or does not exist.
    NotOpen,
}

/// Issues units.
#[derive(Clone)]
pub struct Coupons {
    pub registry: Arc<Registry>,
    pub(super) store: Store,
    pub(super) metrics: Arc<Metrics>,
    pub(super) bell: Arc<Bell>,
    turns: Arc<Turns>,
    pub(super) settings: settings::Coupons,
    max_backlog_events: u64,
    pub(super) ledger: Option<Sql>,
}

impl std::fmt::Debug for Coupons {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Coupons")
    }
}

impl Coupons {
    /// Issues on this store, while the ledger lags by at most `max_backlog_events` of a coupon.
    pub fn new(
        store: Store,
        registry: Arc<Registry>,
        metrics: Arc<Metrics>,
        settings: settings::Coupons,
        max_backlog_events: u64,
    ) -> Self {
        Self {
            registry,
            turns: Arc::new(Turns::new(store.clone())),
            store,
            metrics,
            bell: Arc::default(),
            settings,
            max_backlog_events,
            ledger: None,
        }
    }

    /// The same with the ledger, which has a coupon's issues after its records are gone.
    #[must_use]
    pub fn backed_by(self, ledger: Sql) -> Self {
        Self {
            ledger: Some(ledger),
            ..self
        }
    }

    /// The same for draws that a recovery repeats: none waits for its turn in a queue.
    #[must_use]
    pub fn without_waiting(&self) -> Self {
        let settings = settings::Coupons {
            draw_wait_ms: 0,
            ..self.settings.clone()
        };
        Self {
            settings,
            ..self.clone()
        }
    }

    /// Reads a coupon that this instance does not know yet. Without that, each of the first concurrent requests for it is a
    /// call of its own, and Redis may decide them in another order. A failure is no error here: the requests meet it too.
    pub async fn meet(&self, id: &Id) {
        if !self.registry.is_used(id)
            && let Err(error) = self.registry.snapshot(id).await
        {
            debug!(coupon = %id, %error, "this coupon cannot be read");
        }
    }

    /// Decides a request. Puts it into the queue with [`Mode::Line`], or if others are in the queue. Safe to repeat:
    /// the same id gives the same answer.
    pub async fn issue(&self, id: &Id, request_id: &Id, user: &Asker, mode: Mode) -> Result<Request, CouponError> {
        self.counted(id, self.ask(id, request_id.as_str(), user, mode, Cause::New).await)
    }

    /// Waits until a queued request has had its turn, for at most `coupons.turn_wait_ms`. Returns the result.
    pub async fn its_turn(&self, id: &Id, request: Request) -> Result<Request, CouponError> {
        self.turn_within(id, request, Duration::from_millis(self.settings.turn_wait_ms))
            .await
    }

    /// Issues the unit that a draw owes to a player, with the request id `draw:{jackpot}:{entry}`, which no client can
    /// send. Safe to repeat; refusals are final for the request too. Runs when memory is full and the ledger lags,
    /// because it finishes a pending entry.
    ///
    /// If others are in the queue, it waits for its turn, for at most `coupons.draw_wait_ms`. Then it is an error, the
    /// request stays in the queue, and a repeat finds it there or decided.
    ///
    /// A coupon that does not exist, or was retired, is [`DrawAnswer::NotOpen`]. There is no place for a record of that
    /// answer; the jackpot's record of the attempt makes it final. A coupon that Redis has lost is an error.
    pub async fn issue_for_draw(&self, id: &Id, request_id: &str, user: &PersonId) -> Result<DrawAnswer, CouponError> {
        // Coupons that entries win have no metadata.
        let user = Asker::from(user.clone());
        let asked = self.ask(id, request_id, &user, Mode::Now, Cause::Owed).await;
        let request = match self.counted(id, asked) {
            Err(CouponError::Script(ScriptError::Unknown) | CouponError::Ended) => return Ok(DrawAnswer::NotOpen),
            other => other?,
        };
        let limit = Duration::from_millis(self.settings.draw_wait_ms);
        let request = self.turn_within(id, request, limit).await?;
        match request.record.state {
            // A unit that was voided since was still issued: the outcome of an entry does not change.
            State::Issued(issue) | State::Voided(issue, _) | State::Redeemed(issue, _) => Ok(DrawAnswer::Issued {
                sequence: issue.sequence,
                code: issue.code,
            }),
            State::AlreadyIssued { .. } => Ok(DrawAnswer::AlreadyIssued),
            State::OutOfStock { .. } => Ok(DrawAnswer::OutOfStock),
            State::NotOpen { .. } | State::Closed { .. } => Ok(DrawAnswer::NotOpen),
            State::Queued { .. } => Err(CouponError::Waiting(request.request_id)),
            State::Dead { .. } => Err(CouponError::Dead(request.request_id)),
        }
    }

    /// Looks a request up.
    pub async fn look_up(&self, id: &Id, request_id: &str) -> Result<Request, CouponError> {
        let known = self.registry.known(id);
        let found = self.find(&known, request_id).await?;
        found.ok_or_else(|| CouponError::RequestNotFound(request_id.to_owned()))
    }

    /// Waits for at most `limit`; 0: not at all.
    pub async fn turn_within(&self, id: &Id, mut request: Request, limit: Duration) -> Result<Request, CouponError> {
        let until = Instant::now() + limit;
        let known = self.registry.known(id);
        while !limit.is_zero()
            && let State::Queued { arrival, .. } = request.record.state
        {
            let mut head = self.turns.watch(id, &known);
            // The guard of `borrow` blocks the writer of the head while it lives.
            let in_time = timeout_at(until, head.wait_for(|head| head.is_behind(arrival)))
                .await
                .is_ok();
            let replayed = request.replayed;
            let found = self.find(&known, &request.request_id).await?;
            let found = found.ok_or(CouponError::RequestNotFound(request.request_id))?;
            request = Request { replayed, ..found };
            if !in_time {
                break;
            }
            // The head may be from before the request joined. Then the next reading of the head is not immediate.
            if request.is_in_line() {
                sleep(LOOK_AGAIN).await;
            }
        }
        Ok(request)
    }

    async fn ask(
        &self,
        id: &Id,
        request_id: &str,
        user: &Asker,
        mode: Mode,
        cause: Cause,
    ) -> Result<Request, CouponError> {
        let known = self.registry.known(id);
        known.whole()?;
        if cause == Cause::New
            && let Some(refusal) = self.busy(&known)
        {
            let found = Box::pin(self.find(&known, request_id)).await?;
            return found.ok_or(refusal).and_then(|request| of_user(request, user));
        }
        let ask = Ask {
            request_id: request_id.to_owned(),
            user: user.clone(),
            code: Code::random()?,
            mode,
        };
        let asking = || self.asking(&known);
        let (ask, (reply, refusal)) = known.queues.join(asking, &cause, ask).await?;
        let request = match answered(ask.request_id, reply, refusal) {
            Err(CouponError::Ended) => Box::pin(self.kept(id, request_id)).await?.ok_or(CouponError::Ended)?,
            Err(CouponError::Emergency(_)) => return Err(Box::pin(self.stopped(&known)).await),
            other => other?,
        };
        if request.is_in_line() {
            self.bell.ring(id);
        }
        of_user(request, user)
    }

    /// The refusal of the emergency stop, with its reason.
    pub(super) async fn stopped(&self, known: &Arc<Known>) -> CouponError {
        CouponError::Emergency(self.registry.stop_reason(known).await)
    }

    pub(super) fn asking(&self, known: &Arc<Known>) -> Asking {
        Asking {
            store: self.store.clone(),
            registry: Arc::clone(&self.registry),
            metrics: Arc::clone(&self.metrics),
            known: Arc::clone(known),
        }
    }

    async fn find(&self, known: &Arc<Known>, request_id: &str) -> Result<Option<Request>, CouponError> {
        known.whole()?;
        let found = scripts::lookup(&self.store, &known.keys, known.mark(), request_id).await;
        let (_, looked) = self.registry.observe_reply(known, found)?;
        match looked {
            Looked::Found(answer) => Ok(Some(request(request_id.to_owned(), Answer { fresh: false, ..answer })?)),
            Looked::Missing => Ok(None),
            Looked::Retired => Box::pin(self.kept(known.id(), request_id)).await,
        }
    }

    /// The unit that a coupon issued to a request, from the ledger, after its records were dropped.
    pub(super) async fn kept(&self, id: &Id, request_id: &str) -> Result<Option<Request>, CouponError> {
        match &self.ledger {
            Some(sql) => kept::issued(sql, id, request_id).await,
            None => Ok(None),
        }
    }

    /// Why no new requests are taken now.
    pub(super) fn busy(&self, known: &Known) -> Option<CouponError> {
        let health = self.store.health();
        if health.refuse_entries {
            let full = || format!("Redis' memory is at {} % of its limit", health.memory_pct());
            return Some(CouponError::Refusing(
                health.cause.as_deref().map_or_else(full, str::to_owned),
            ));
        }
        let waiting = known.backlog();
        (waiting > self.max_backlog_events).then_some(CouponError::Backlog { waiting })
    }

    /// Counts the result of a request. Not for a coupon that does not exist, because a client chose its name.
    pub(super) fn counted(&self, id: &Id, result: Result<Request, CouponError>) -> Result<Request, CouponError> {
        if self.registry.is_used(id) {
            let kind = match &result {
                Ok(request) if request.replayed => IssueResult::Replayed,
                Ok(request) => kind_of(&request.record.state),
                Err(_) => IssueResult::Refused,
            };
            self.metrics.coupons.coupon(id.as_str()).issues(kind, 1);
        }
        result
    }
}

/// The label of a request in the metrics.
pub(super) fn kind_of(state: &State) -> IssueResult {
    match state {
        State::Issued(_) | State::Voided(..) | State::Redeemed(..) => IssueResult::Issued,
        State::AlreadyIssued { .. } => IssueResult::AlreadyIssued,
        State::OutOfStock { .. } => IssueResult::OutOfStock,
        State::NotOpen { .. } | State::Closed { .. } => IssueResult::NotOpen,
        State::Queued { .. } | State::Dead { .. } => IssueResult::Queued,
    }
}

/// Hides a request of another user, or with other metadata.
pub(super) fn of_user(request: Request, user: &Asker) -> Result<Request, CouponError> {
    if request.record.user == *user {
        Ok(request)
    } else {
        Err(CouponError::RequestIdReused(request.request_id))
    }
}

pub(super) fn answered(request_id: String, reply: AskReply, refusal: Option<Refusal>) -> Result<Request, CouponError> {
    match (reply, refusal) {
        (AskReply::Answered(answer), _) => Ok(request(request_id, answer)?),
        (AskReply::NotTaken, Some(refusal)) => Err(refused(refusal)),
        (AskReply::NotTaken, None) => Err(CouponError::Script(ScriptError::Reply {
            script: "coupon_issue",
            reply: format!("nothing for {request_id}"),
        })),
    }
}

pub(super) fn request(request_id: String, answer: Answer) -> Result<Request, ScriptError> {
    Ok(Request {
        request_id,
        record: answer.record?,
        first: answer.first,
        place: answer.place,
        replayed: !answer.fresh,
    })
}

/// Turns a script's refusal into an error.
pub(super) fn refused(refusal: Refusal) -> CouponError {
    match refusal {
        Refusal::Paused => CouponError::Paused,
        Refusal::Closed => CouponError::Closed,
        Refusal::Suspended => CouponError::Suspended,
        Refusal::Ended => CouponError::Ended,
        Refusal::Emergency => CouponError::Emergency(String::new()),
    }
}
