//! Rebuilds a room: what operators set. Its tickets are not in the ledger, so waiting users join again. Nobody is
//! admitted before every pass that may be out has expired (`docs/decisions/0016-rooms.md`).

use jackpot_core::ids::Id;
use jackpot_core::mark::Mark;
use jackpot_core::secret::MasterSecret;

use super::books::Books;
use super::projector::Rooms;
use crate::definition::Definition;
use crate::known::OrderOf;
use crate::scripts::{self, RestoredState};
use jackpot_api::room::Status;
use jackpot_kernel::ledger::projector::load::{self, damaged};
use jackpot_kernel::ledger::restore::{Replace, RestoreError, Restored, Restorer, ended};
use jackpot_kernel::operator::Operator;
use jackpot_kernel::random;
use jackpot_kernel::store::keys::RoomKeys;
use jackpot_kernel::subject;
use jackpot_kernel::subject::kinds::ROOM;

/// Times that a room has shown to somebody, which it must not fall behind; 0 for none.
#[derive(Debug, Clone, Copy)]
pub(super) struct Newest {
    /// The latest expiry of a pass.
    pub passes_until_ms: i64,
    /// The latest time of the room.
    pub shown_ms: i64,
}

/// Rebuilds one room. The caller holds the lease of its stream. `newest`: what the caller knows.
pub(super) async fn restore(
    restorer: &Restorer,
    secret: &MasterSecret,
    room: &Id,
    replace: Replace,
    newest: Newest,
    by: &Operator,
    reason: &str,
) -> Result<Restored, RestoreError> {
    let keys = RoomKeys::new(room);
    let books = load::load::<Rooms>(&restorer.sql, room).await?.books;
    let unknown = || RestoreError::Unknown(ROOM.as_str(), room.clone());
    let status = books.status.ok_or_else(unknown)?;
    let held = scripts::snapshot(&restorer.store, &keys, Mark::ZERO).await;
    let held = held.map(|redis| (redis.mark, redis.status == Status::Open));
    let ledger = Mark::new(books.restores, books.n).unwrap_or_default();
    let status = match (replace, status) {
        (Replace::Ahead, Status::Open) => Status::Suspended,
        _ => status,
    };
    let nonce = hex::encode(random::bytes::<16>()?);
    let mut state = state(room, books, status, OrderOf::new(secret, room, nonce))?;
    // A pass of a definition that the ledger may lack.
    state.passes_until_ms = state.passes_until_ms.max(newest.passes_until_ms);
    state.clock_ms = state.clock_ms.max(newest.shown_ms);
    if let Replace::Seen(seen) = replace {
        state.lost_events = seen > ledger;
    }
    state.restores = replace.restores_before(state.restores);
    let token = restorer.begin(keys.all(), held, ledger, replace).await?.token;
    let end = scripts::restore_end(&restorer.store, &keys, &token, &state, by, reason).await?;
    Ok(Restored {
        mark: ended(end)?,
        records: 0,
    })
}

fn state(room: &Id, books: Books, status: Status, next_order: OrderOf) -> Result<RestoredState, RestoreError> {
    let definition = Definition::from_json(&books.definition)
        .map_err(|error| damaged::<Rooms>(room, &format!("its definition can't be read: {error}")))?;
    Ok(RestoredState {
        n: books.n,
        restores: books.restores,
        history: subject::new_history()?,
        status,
        version: books.version,
        json: books.definition,
        definition,
        order: books.order,
        next_order,
        passes_until_ms: books.passes_until_ms,
        clock_ms: books.clock_ms,
        collected_sha256: books.opened.map(|opened| opened.sha256),
        puts: books.puts,
        lost_events: false,
    })
}
