//! Requests of users: join, look up, renew, leave. For operators: `operate`.

use std::sync::Arc;
use std::time::Duration;

use jackpot_core::ids::{Id, PersonId};
use jackpot_core::secret::Secrets;
use tokio::time::Instant;

use super::board::{Board, Boards, Shown};
use super::definition::Definition;
use super::error::RoomError;
use super::eta::{QueuePosition, poll_after_s};
use super::known::{Known, OrderOf, Registry};
use super::operate::parse_definition;
use super::return_to::ReturnTo;
use super::scripts::{Place, Seen, Snapshot, Visit, VisitReply, Visited};
use super::silent::Node;
use super::ticket::{OrderSeed, Ticket};
use super::tokens::Tokens;
use super::visiting::{VisitAnswer, Visiting};
use jackpot_api::room::Status;
use jackpot_kernel::store::Store;
use jackpot_kernel::subject::ScriptError;
use jackpot_kernel::telemetry::{JoinResult, Metrics};

/// Repeats of a join whose opening is moved meanwhile.
const MAX_NONCES: usize = 16;
/// Largest age of a room's shared reading.
const SHOWN_FOR: Duration = Duration::from_secs(1);
/// Places that one join token makes: the first, and another one for a user who lost it while the token is valid.
const JOINS_OF_A_TOKEN: u32 = 2;

/// A ticket as it is now.
#[derive(Debug, Clone)]
pub struct TicketNow {
    /// Its record in Redis.
    pub seen: Seen,
    /// The time of the reply, by the room's time.
    pub now_ms: i64,
    /// The time of the reply, by Redis' clock.
    pub wall_ms: i64,
    /// For a waiting ticket: seconds until its admission, if known.
    pub eta_s: Option<u64>,
    /// Seconds after which to ask again.
    pub poll_after_s: f64,
}

/// The public state of a room.
#[derive(Debug, Clone)]
pub struct RoomNow {
    /// From Redis, at most a second ago.
    pub snapshot: Arc<Snapshot>,
    pub definition: Definition,
    /// Seconds until a user who joins now is admitted, if known.
    pub eta_s: Option<u64>,
}

/// Admits users.
#[derive(Clone)]
pub struct Rooms {
    pub registry: Arc<Registry>,
    /// Makes their passes.
    pub tokens: Arc<Tokens>,
    pub(super) store: Store,
    pub(super) metrics: Arc<Metrics>,
    pub(super) boards: Arc<Boards>,
    pub(super) retention_ms: u64,
    secrets: Secrets,
}

impl std::fmt::Debug for Rooms {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Rooms")
    }
}

impl Rooms {
    /// Rooms on this store. `retention_s`: how long an ended ticket can be looked up.
    pub fn new(
        store: Store,
        registry: Arc<Registry>,
        tokens: Arc<Tokens>,
        metrics: Arc<Metrics>,
        secrets: impl Into<Secrets>,
        retention_s: u64,
    ) -> Self {
        Self {
            registry,
            tokens,
            store,
            metrics,
            boards: Arc::default(),
            retention_ms: retention_s.saturating_mul(1_000),
            secrets: secrets.into(),
        }
    }

    /// The seed with this nonce and commitment, under one of this instance's secrets.
    pub fn order_seed(&self, id: &Id, order: &OrderOf) -> Option<OrderSeed> {
        let mut seeds = self
            .secrets
            .iter()
            .map(|secret| OrderSeed::of(secret, id, &order.nonce));
        seeds.find(|seed| seed.commitment() == order.commitment)
    }

    /// Nonce and commitment of a new order, under the current secret.
    pub(super) fn new_order(&self, id: &Id, nonce: String) -> OrderOf {
        OrderOf::new(self.secrets.current(), id, nonce)
    }

    /// Gives a user a place: admitted at once, or in the queue; or the place that the user has.
    pub async fn join(&self, id: &Id, user: &PersonId) -> Result<TicketNow, RoomError> {
        self.join_as(id, user, Ticket::random()?).await
    }

    /// The same by a join token with this random part, which makes at most two places. `None`: it has made them.
    pub async fn join_by_token(&self, id: &Id, user: &PersonId, jti: &str) -> Result<Option<TicketNow>, RoomError> {
        for nth in 1..=JOINS_OF_A_TOKEN {
            let ticket = Ticket::of_token(id, user, jti, nth);
            let now = self.join_as(id, user, ticket).await?;
            let is_over = now.seen.ticket == ticket && matches!(now.seen.place, Place::Ended { .. });
            if !is_over {
                return Ok(Some(now));
            }
        }
        Ok(None)
    }

    async fn join_as(&self, id: &Id, user: &PersonId, ticket: Ticket) -> Result<TicketNow, RoomError> {
        let joined = self.try_join(id, user, ticket).await;
        // A client may have invented this name, and it must not become a label.
        if self.registry.is_used(id) {
            let result = match &joined {
                Ok(now) if !now.seen.new => JoinResult::Replayed,
                Ok(now) => match now.seen.place {
                    Place::Waiting { .. } => JoinResult::Waiting,
                    Place::Admitted { .. } => JoinResult::Admitted,
                    Place::Ended { .. } => JoinResult::Replayed,
                },
                Err(_) => JoinResult::Refused,
            };
            self.boards.of(id, &self.metrics).metrics().join(result);
        }
        joined
    }

    async fn try_join(&self, id: &Id, user: &PersonId, ticket: Ticket) -> Result<TicketNow, RoomError> {
        if let Some(refusal) = self.full() {
            return Err(refusal);
        }
        for _ in 0..MAX_NONCES {
            let known = self.registry.known(id).order();
            // The order is unknown for an opened room, where it does not matter, and for a room without a reply yet.
            let (order, nonce) = match known.as_deref() {
                None => (0, String::new()),
                Some(known) => {
                    let seed = self.order_seed(id, known).ok_or(ScriptError::Secret)?;
                    (seed.order(ticket), known.nonce.clone())
                }
            };
            let visit = Visit::Join {
                user: user.clone(),
                ticket,
                order,
                nonce,
            };
            let (reply, room) = self.ask(id, visit).await?;
            match reply {
                VisitReply::OtherNonce => {}
                VisitReply::Emergency => {
                    let reason = self.registry.stop_reason(&self.registry.known(id)).await;
                    return Err(RoomError::Emergency(reason));
                }
                reply => return self.outcome(id, reply, &room),
            }
        }
        Err(RoomError::Unsettled)
    }

    /// Looks at a ticket, which keeps its place alive.
    pub async fn look(&self, id: &Id, ticket: Ticket) -> Result<TicketNow, RoomError> {
        self.visit(id, Visit::Look(ticket)).await
    }

    /// Renews the session of a ticket that is in.
    pub async fn renew(&self, id: &Id, ticket: Ticket) -> Result<TicketNow, RoomError> {
        self.visit(id, Visit::Renew(ticket)).await
    }

    /// Gives the place up. An ended ticket does not change.
    pub async fn leave(&self, id: &Id, ticket: Ticket) -> Result<TicketNow, RoomError> {
        self.visit(id, Visit::Leave(ticket)).await
    }

    async fn visit(&self, id: &Id, visit: Visit) -> Result<TicketNow, RoomError> {
        let (reply, room) = self.ask(id, visit).await?;
        self.outcome(id, reply, &room)
    }

    async fn ask(&self, id: &Id, visit: Visit) -> Result<VisitAnswer, RoomError> {
        let known = self.registry.known(id);
        known.whole()?;
        let visiting = || self.visiting(id, &known);
        let (_, answer) = known.queues.join(visiting, &(), visit).await?;
        Ok(answer)
    }

    fn outcome(&self, id: &Id, reply: VisitReply, room: &Visited) -> Result<TicketNow, RoomError> {
        match reply {
            VisitReply::Seen(seen) => Ok(self.now(id, seen, room)),
            VisitReply::NotAdmitted(seen) => Err(RoomError::NotAdmitted {
                state: state_of(&seen.place),
            }),
            VisitReply::Unknown => Err(RoomError::TicketNotFound),
            VisitReply::Suspended => Err(RoomError::Suspended),
            VisitReply::Emergency => Err(RoomError::Emergency(String::new())),
            VisitReply::OtherNonce => Err(RoomError::Unsettled),
            VisitReply::Limited { wait_ms } => Err(RoomError::TooOften {
                wait: Duration::from_millis(wait_ms),
            }),
        }
    }

    fn visiting(&self, id: &Id, known: &Arc<Known>) -> Visiting {
        Visiting {
            store: self.store.clone(),
            registry: Arc::clone(&self.registry),
            metrics: Arc::clone(&self.metrics),
            boards: Arc::clone(&self.boards),
            id: id.clone(),
            known: Arc::clone(known),
            retention_ms: self.retention_ms,
        }
    }

    fn now(&self, id: &Id, seen: Seen, room: &Visited) -> TicketNow {
        let ahead = match seen.place {
            Place::Waiting { ahead } => Some(ahead),
            Place::Admitted { .. } | Place::Ended { .. } => None,
        };
        let moves = room.status == Status::Open && !room.unordered && room.opens_ms.is_none() && room.hold_ms.is_none();
        let line = ahead.filter(|_| moves).map(|ahead| QueuePosition {
            ahead,
            active: room.counts.active,
            capacity: room.capacity,
            limit: room.rate,
        });
        TicketNow {
            seen,
            now_ms: room.now_ms,
            wall_ms: room.wall_ms,
            eta_s: line.and_then(|line| self.boards.of(id, &self.metrics).eta_s(room.now_ms, line)),
            poll_after_s: poll_after_s(
                ahead.unwrap_or(0),
                room.capacity,
                room.waiting_timeout_ms,
                room.session_ms,
            ),
        }
    }

    /// Whether the waiting page may send users of a room to this address. Finds an origin that another instance added a
    /// moment ago. Refuses one that another instance removed within a second.
    pub async fn sends_to(&self, id: &Id, address: &ReturnTo) -> Result<bool, RoomError> {
        if self.shown(id).await?.definition.sends_to(address) {
            return Ok(true);
        }
        let now = self.snapshot(id).await?;
        Ok(parse_definition(id, &now.definition)?.sends_to(address))
    }

    /// The public state of a room, read at most once a second.
    pub async fn shown(&self, id: &Id) -> Result<RoomNow, RoomError> {
        if !self.registry.is_used(id) {
            // The first request for it. A name without a room is not remembered.
            self.snapshot(id).await?;
        }
        let board = self.boards.of(id, &self.metrics);
        let snapshot = self.read_for_all(id, &board).await?;
        let definition = parse_definition(id, &snapshot.definition)?;
        let (counts, now_ms) = (snapshot.counts, snapshot.now_ms);
        let moves = snapshot.status == Status::Open && snapshot.opens_ms.is_none() && snapshot.hold_ms.is_none();
        let line = QueuePosition {
            ahead: counts.waiting,
            active: counts.active,
            capacity: definition.capacity(),
            limit: definition.admissions_per_minute(),
        };
        let eta_s = if moves { board.eta_s(now_ms, line) } else { None };
        Ok(RoomNow {
            snapshot,
            definition,
            eta_s,
        })
    }

    /// Returns the last reading, or reads now. One of the waiting requests reads. If that fails, requests that came
    /// before it began get the same error.
    async fn read_for_all(&self, id: &Id, board: &Board) -> Result<Arc<Snapshot>, RoomError> {
        let came = Instant::now();
        let mut shown = board.shown.lock().await;
        match &*shown {
            Shown::Read(began, snapshot) if began.elapsed() < SHOWN_FOR => return Ok(Arc::clone(snapshot)),
            Shown::Failed(began, error) if *began >= came => return Err(error.clone().into()),
            _ => {}
        }
        let began = Instant::now();
        let read = self.snapshot(id).await;
        match &read {
            Ok(snapshot) => *shown = Shown::Read(began, Arc::new(snapshot.clone())),
            Err(RoomError::Script(error)) => *shown = Shown::Failed(began, error.clone()),
            Err(_) => {}
        }
        read.map(Arc::new)
    }

    /// The node of this room.
    pub(super) fn node_of(&self, id: &Id) -> Node {
        self.store.node_of(&self.registry.known(id).keys.state)
    }

    /// Why nobody can join now.
    fn full(&self) -> Option<RoomError> {
        let health = self.store.health();
        let full = || format!("Redis' memory is at {} % of its limit", health.memory_pct());
        health
            .refuse_entries
            .then(|| RoomError::Refusing(health.cause.as_deref().map_or_else(full, str::to_owned)))
    }
}

/// The name in answers.
pub fn state_of(place: &Place) -> &'static str {
    match place {
        Place::Waiting { .. } => "waiting",
        Place::Admitted { .. } => "admitted",
        Place::Ended { how, .. } => how.as_str(),
    }
}
