//! Requests of operators: define, view, and read the list from before the opening.

use jackpot_core::ids::Id;
use jackpot_core::violation::Violation;
use sha2::{Digest, Sha256};
use tokio::time::Instant;
use tracing::info;

use super::board::Shown;
use super::definition::{Definition, DefinitionError};
use super::error::RoomError;
use super::rooms::Rooms;
use super::scripts::{self, CollectedPage, Define, Defined, MAX_REORDERED, Reordered, Snapshot, Visited};
use crate::operator::Operator;
use crate::random;
use crate::subject::{self, ScriptError, Wanted};

/// Largest number of repeats of a PUT whose definition changed meanwhile.
const MAX_STALE: usize = 16;
/// Tickets of the list in one page: some hundred kilobytes.
pub const COLLECTED_PAGE: usize = 5_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Put {
    /// Whether the room is new.
    pub created: bool,
    /// The version of its definition, right after this PUT.
    pub version: u64,
}

impl Rooms {
    /// Creates a room or changes its definition. A repeat changes nothing.
    pub async fn define(
        &self,
        id: &Id,
        definition: &Definition,
        wanted: Wanted,
        by: &Operator,
    ) -> Result<Put, RoomError> {
        if matches!(wanted, Wanted::Any | Wanted::Absent) {
            // The index first: a crash in between leaves a name without a room, and listing skips it.
            self.registry.add_to_index(std::slice::from_ref(id)).await?;
        }
        // The nonce distinguishes a repeat, here or in the store after a lost reply, from another PUT. A new opening
        // gets its order from it.
        let nonce = hex::encode(random::bytes::<16>()?);
        let order = self.new_order(id, nonce);
        let history = subject::new_history()?;
        for _ in 0..MAX_STALE {
            let last_version = match self.snapshot(id).await {
                Ok(snapshot) => {
                    self.check_order(id, &snapshot)?;
                    Some(snapshot.version)
                }
                Err(RoomError::Script(ScriptError::Unknown)) => None,
                Err(error) => return Err(error),
            };
            let wish = Define {
                definition,
                commitment: &order.commitment,
                wanted: wanted.clone(),
                last_version,
                nonce: &order.nonce,
                history: &history,
                who: &by.who,
                request_id: &by.request_id,
            };
            let known = self.registry.known(id);
            let defined = scripts::define(&self.store, &known.keys, known.mark(), &wish).await;
            match self.registry.observe_reply(&known, defined) {
                Err(ScriptError::Stale) => {}
                Err(error) => return Err(error.into()),
                Ok((_, defined)) => {
                    // More users may fit now, and the shared reading is old.
                    self.boards.alarm.set(id, Instant::now());
                    *self.boards.of(id, &self.metrics).shown.lock().await = Shown::Nothing;
                    let put = put(&defined)?;
                    let (who, request_id) = (&*by.who, &*by.request_id);
                    let (created, version) = (put.created, put.version);
                    info!(room_id = %id, who, request_id, created, version, "definition put");
                    return Ok(put);
                }
            }
        }
        Err(RoomError::Unsettled)
    }

    /// Refuses to work on a room that has not opened, if none of the secrets here makes its order: no user could get a
    /// place in it.
    pub fn check_order(&self, id: &Id, snapshot: &Snapshot) -> Result<(), ScriptError> {
        if snapshot.opens_ms.is_some() && self.order_seed(id, &snapshot.order).is_none() {
            return Err(ScriptError::Secret);
        }
        Ok(())
    }

    /// Gives tickets from before a moved opening their order under the new nonce, unless others have done so.
    pub(super) async fn reorder(&self, id: &Id) -> Result<(), RoomError> {
        let board = self.boards.of(id, &self.metrics);
        // One at a time. Later callers have nothing to do meanwhile.
        let Ok(_ordering) = board.ordering.try_lock() else {
            return Ok(());
        };
        let order = self.snapshot(id).await?.order;
        let seed = self.order_seed(id, &order).ok_or(ScriptError::Secret)?;
        let mut after = 0;
        loop {
            let known = self.registry.whole(id)?;
            let page = scripts::collected(&self.store, &known.keys, known.mark(), after, MAX_REORDERED).await;
            let page = self.registry.observe_reply(&known, page)?;
            let orders: Vec<_> = page
                .items
                .iter()
                .map(|(_, ticket)| (*ticket, seed.order(*ticket)))
                .collect();
            let done = scripts::reorder(&self.store, &known.keys, known.mark(), (&order.nonce, after), &orders).await;
            match self.registry.observe_reply(&known, done)?.1 {
                Reordered::UpTo { ordered, to_order } if ordered < to_order && ordered != after => after = ordered,
                Reordered::UpTo { ordered, to_order } if ordered < to_order => {
                    let what = format!("ticket {} of the list from before its opening", ordered + 1);
                    return Err(RoomError::Lost { id: id.clone(), what });
                }
                Reordered::UpTo { .. } | Reordered::OtherNonce => break,
            }
        }
        // More users may be admitted now, or there is a newer nonce.
        self.boards.alarm.set(id, Instant::now());
        Ok(())
    }

    /// Reads a whole room.
    pub async fn snapshot(&self, id: &Id) -> Result<Snapshot, RoomError> {
        let known = self.registry.whole(id)?;
        let read = scripts::snapshot(&self.store, &known.keys, known.mark()).await;
        let snapshot = self.registry.observe_reply(&known, read)?;
        known.hear_time(snapshot.now_ms);
        let board = self.boards.of(id, &self.metrics);
        board.count(snapshot.now_ms, &snapshot.counts);
        Ok(snapshot)
    }

    /// Makes a step without a visit: ends and admits due tickets.
    pub(super) async fn tick(&self, id: &Id) -> Result<Visited, RoomError> {
        let known = self.registry.whole(id)?;
        let visited = scripts::visit(&self.store, &known, self.retention_ms, &[]).await;
        let visited = self.registry.observe_reply(&known, visited)?;
        let board = self.boards.of(id, &self.metrics);
        board.count(visited.now_ms, &visited.counts);
        Ok(visited)
    }

    /// The worker will look at it at that time; `None`: it looks now.
    pub(super) fn is_due(&self, id: &Id, at: Option<Instant>) {
        if self.registry.is_used(id) {
            self.boards.of(id, &self.metrics).is_due(at);
        }
    }

    /// Whether it is time to publish the list from before the opening.
    pub(super) fn may_publish(&self, id: &Id) -> bool {
        self.boards.of(id, &self.metrics).may_publish(Instant::now())
    }

    /// Returns a room whose list from before the opening is in the ledger. If it is not, publishes it, once for all
    /// instances.
    pub async fn opened(&self, id: &Id) -> Result<Snapshot, RoomError> {
        let snapshot = self.snapshot(id).await?;
        if snapshot.opens_ms.is_some() {
            return Err(RoomError::NotOpen);
        }
        let definition = parse_definition(id, &snapshot.definition)?;
        if snapshot.collected_sha256.is_some() || !has_list(&definition, &snapshot) {
            return Ok(snapshot);
        }
        let (mut joined, mut hash, mut after) = (0, Sha256::new(), 0);
        loop {
            let page = self.collected(id, after).await?;
            for (number, ticket) in &page.items {
                (joined, after) = (joined + 1, *number);
                hash.update(format!("{ticket}\n"));
            }
            if page.items.len() < COLLECTED_PAGE {
                break;
            }
        }
        let known = self.registry.known(id);
        let sha256 = hex::encode(hash.finalize());
        let published = scripts::publish(&self.store, &known.keys, known.mark(), joined, &sha256).await;
        self.registry.observe_reply(&known, published)?;
        self.snapshot(id).await
    }

    /// Tickets from before the opening, after this number on the list; at most [`COLLECTED_PAGE`].
    pub async fn collected(&self, id: &Id, after: u64) -> Result<CollectedPage, RoomError> {
        let known = self.registry.whole(id)?;
        let page = scripts::collected(&self.store, &known.keys, known.mark(), after, COLLECTED_PAGE).await;
        Ok(self.registry.observe_reply(&known, page)?)
    }
}

/// Whether there is a list from before the opening to publish. A restored room has lost it, unless some joined since;
/// an empty list would be wrong for ever.
#[must_use]
pub fn has_list(definition: &Definition, snapshot: &Snapshot) -> bool {
    let is_whole = snapshot.mark.restores() == 0 && definition.opens_ms().is_some();
    is_whole || snapshot.collected > 0
}

/// How many tickets the list has, once it is published and while it is kept. A dropped list is empty too, but has
/// another hash.
#[must_use]
pub fn joined(snapshot: &Snapshot) -> Option<u64> {
    let sha256 = snapshot.collected_sha256.as_ref()?;
    let is_there = snapshot.collected > 0 || *sha256 == hex::encode(Sha256::digest(""));
    is_there.then_some(snapshot.collected)
}

fn put(defined: &Defined) -> Result<Put, RoomError> {
    match *defined {
        Defined::Created(version) => Ok(Put { created: true, version }),
        Defined::Changed(version) => Ok(Put {
            created: false,
            version,
        }),
        Defined::Mismatch => Err(RoomError::PreconditionFailed),
        Defined::Opened => {
            let rule = "must stay as it is or become null: the room has opened";
            Err(RoomError::Invalid(vec![Violation::new("opens_at", rule)]))
        }
    }
}

/// A definition as Redis keeps it.
pub fn parse_definition(id: &Id, json: &str) -> Result<Definition, RoomError> {
    Definition::from_json(json).map_err(|error: DefinitionError| RoomError::Lost {
        id: id.clone(),
        what: format!("a readable definition: {error}"),
    })
}
