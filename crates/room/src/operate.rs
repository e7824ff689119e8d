//! Requests of operators: define, view, and read the list from before the opening.

use std::sync::Arc;

use futures_util::future::join;
use jackpot_core::ids::Id;
use jackpot_core::mark::Mark;
use jackpot_core::violation::Violation;
use sha2::{Digest, Sha256};
use tokio::time::Instant;
use tracing::info;

use super::board::Shown;
use super::definition::{Definition, DefinitionError};
use super::error::RoomError;
use super::known::{Known, OrderOf, Registry};
use super::rooms::Rooms;
use super::scripts::{
    self, CollectedPage, Define, DefineRefusal, Defined, MAX_REORDERED, Reordered, Snapshot, Visited,
};
use jackpot_kernel::operator::Operator;
use jackpot_kernel::subject::engine::{self, Defines, Put};
use jackpot_kernel::subject::{ScriptError, Stamp, Wanted};

/// Tickets of the list in one page: some hundred kilobytes.
pub const COLLECTED_PAGE: usize = 5_000;

impl Rooms {
    /// Creates a room or changes its definition. A repeat changes nothing.
    pub async fn define(
        &self,
        id: &Id,
        definition: &Definition,
        wanted: Wanted,
        by: &Operator,
    ) -> Result<Put, RoomError> {
        let stamp = Stamp::new()?;
        // A new opening gets its order from the PUT's nonce.
        let order = self.new_order(id, stamp.nonce.clone());
        engine::define(self, id, stamp.put(definition, wanted, by), &order).await
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
        let order = self.snapshot(id).await?.values.order;
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
            let done = scripts::reorder(&self.store, &known.keys, known.mark(), &order.nonce, after, &orders).await;
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
        let snapshot = self.registry.snapshot(id).await?;
        self.registry.known(id).hear_time(snapshot.now_ms);
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

    /// Those of these quiet rooms in which something happened, and the clocks of the nodes.
    pub(super) async fn glance(&self, quiet: &[(Id, Mark)]) -> (Vec<Id>, Vec<(Arc<str>, i64)>) {
        let known: Vec<_> = quiet.iter().map(|(id, _)| self.registry.known(id)).collect();
        let rooms: Vec<_> = known
            .iter()
            .zip(quiet)
            .map(|(known, (_, mark))| (known.as_ref(), *mark))
            .collect();
        let looks = scripts::are_quiet(&self.store, &rooms);
        let (looks, clocks) = join(looks, self.store.clocks()).await;
        let news = quiet.iter().zip(looks).filter(|(_, quiet)| *quiet == Some(false));
        (news.map(|((id, _), _)| id.clone()).collect(), clocks)
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
pub fn has_list(definition: &Definition, snapshot: &Snapshot) -> bool {
    let is_whole = snapshot.mark.restores() == 0 && definition.opens_ms().is_some();
    is_whole || snapshot.collected > 0
}

/// How many tickets the list has, once it is published and while it is kept. A dropped list is empty too, but has
/// another hash.
pub fn joined(snapshot: &Snapshot) -> Option<u64> {
    let sha256 = snapshot.collected_sha256.as_ref()?;
    let is_there = snapshot.collected > 0 || *sha256 == hex::encode(Sha256::digest(""));
    is_there.then_some(snapshot.collected)
}

impl Defines for Rooms {
    type Known = Known;
    type Definition = Definition;
    type Made = OrderOf;
    type Read = ();
    type Refused = DefineRefusal;
    type Error = RoomError;
    const MISMATCH: RoomError = RoomError::PreconditionFailed;
    const UNSETTLED: RoomError = RoomError::Unsettled;

    fn registry(&self) -> &Registry {
        &self.registry
    }

    async fn read(&self, id: &Id) -> Result<(u64, ()), RoomError> {
        let snapshot = self.snapshot(id).await?;
        self.check_order(id, &snapshot)?;
        Ok((snapshot.version, ()))
    }

    async fn define(
        &self,
        known: &Known,
        _: Option<&()>,
        put: &Define<'_>,
        order: &OrderOf,
    ) -> Result<(Mark, Defined), ScriptError> {
        scripts::define(&self.store, &known.keys, known.mark(), put, &order.commitment).await
    }

    fn refused(&self, _: &Id, DefineRefusal::Opened: DefineRefusal) -> RoomError {
        let rule = "must stay as it is or become null: the room has opened";
        RoomError::Invalid(vec![Violation::new("opens_at", rule)])
    }

    /// More users may fit now, and the shared reading is old.
    async fn answered(&self, id: &Id) {
        self.boards.alarm.set(id, Instant::now());
        *self.boards.of(id, &self.metrics).shown.lock().await = Shown::Nothing;
    }

    fn log(&self, id: &Id, put: &Define<'_>, Put { created, version }: Put) {
        let (who, request_id) = (&*put.by.who, &*put.by.request_id);
        info!(room_id = %id, who, request_id, created, version, "definition put");
    }
}

/// A definition as Redis keeps it.
pub fn parse_definition(id: &Id, json: &str) -> Result<Definition, RoomError> {
    Definition::from_json(json).map_err(|error: DefinitionError| RoomError::Lost {
        id: id.clone(),
        what: format!("a readable definition: {error}"),
    })
}
