//! What a skip carries on from a room's event: the whole books, from the next checkpoint, Redis' state and the
//! readable parts of the event. No event in a room's stream is an answer to a user: tickets are only in Redis.

use std::collections::HashMap;

use jackpot_core::ids::Id;

use super::books::Books;
use super::carried::CarriedRoom;
use super::event::{Checkpoint, Event, Kind, Opened};
use super::projector::Rooms;
use crate::definition::Definition;
use jackpot_api::room::Status;
use jackpot_kernel::ledger::Ledger;
use jackpot_kernel::ledger::projector::rows::Raw;
use jackpot_kernel::ledger::stuck::held::hash;
use jackpot_kernel::ledger::stuck::{Found, Plan, Skips, StuckError, time};
use jackpot_kernel::store::Store;
use jackpot_kernel::store::keys::RoomKeys;

impl Skips for Rooms {
    type Held = HashMap<String, String>;

    async fn held(store: &Store, id: &Id) -> Result<Self::Held, StuckError> {
        hash(store, &RoomKeys::new(id).state).await
    }

    async fn plan(
        _: &Ledger,
        _: &Id,
        books: &Books,
        found: &Found<Self>,
        held: &Self::Held,
        _: &Store,
    ) -> Result<Plan, StuckError> {
        let Some(stuck) = &found.stuck else {
            return Err(StuckError::Refused("nothing is stuck".to_owned()));
        };
        let evidence = Evidence::of(&found.later);
        let raw = stuck.raw.as_ref();
        let mut after = books.clone();
        (after.n, after.at_ms) = (stuck.n, time(raw, books.at_ms));
        evidence.carry(raw, held, &mut after)?;
        let lines = vec![format!(
            "the room as Redis has it: definition {}, {}",
            after.version,
            after.status.map(Status::as_str).unwrap_or_default()
        )];
        let carried = CarriedRoom { books: after };
        let json = serde_json::to_string(&carried).map_err(|error| StuckError::Refused(error.to_string()))?;
        let fields = [
            ("at", carried.books.at_ms.to_string()),
            ("history", carried.books.history.clone()),
            ("clock", carried.books.clock_ms.to_string()),
            ("carried", json),
        ];
        Ok(Plan {
            fields: fields.map(|(name, value)| (name.to_owned(), value)).into(),
            lines,
        })
    }
}

/// What later events say of the room right after the stuck one.
#[derive(Default)]
struct Evidence {
    status: Option<Status>,
    version: Option<u64>,
    /// Whether a later event changes the definition, publishes the list, or restores the room.
    defined: bool,
    opened: bool,
    restored: bool,
    history: Option<String>,
    /// The first checkpoint, if none of these events came before it.
    checkpoint: Option<Checkpoint>,
}

impl Evidence {
    fn of(later: &[Raw]) -> Self {
        let mut evidence = Self::default();
        for event in later.iter().filter_map(|raw| Event::parse(&raw.fields).ok()) {
            evidence.history.get_or_insert(event.history);
            match event.kind {
                Kind::Define(define) => {
                    evidence.version.get_or_insert(define.version.saturating_sub(1));
                    evidence.defined = true;
                }
                Kind::Opened(_) => evidence.opened = true,
                Kind::Status(change) => _ = evidence.status.get_or_insert(change.before),
                Kind::Checkpoint { held: checkpoint } => {
                    if evidence.restored {
                        continue;
                    }
                    evidence.status.get_or_insert(checkpoint.status);
                    if !evidence.defined {
                        evidence.version.get_or_insert(checkpoint.version);
                        evidence.checkpoint.get_or_insert(checkpoint);
                    }
                }
                Kind::Restore { .. } => evidence.restored = true,
                Kind::Emergency(_) | Kind::Skipped(_) => {}
            }
        }
        evidence
    }

    fn carry(&self, raw: Option<&Raw>, held: &HashMap<String, String>, books: &mut Books) -> Result<(), StuckError> {
        let field = |name: &str| raw.and_then(|raw| raw.fields.get(name));
        books.status = self.status.or(books.status);
        if let Some(clock_ms) = field("clock").and_then(|clock| clock.parse().ok()) {
            books.clock_ms = books.clock_ms.max(clock_ms);
        }
        if let Some(history) = &self.history {
            books.history.clone_from(history);
        }
        let version = self.version.unwrap_or(books.version);
        if version != books.version {
            let own = field("json").filter(|json| Definition::from_json(json).is_ok());
            let kept = held.get("json").filter(|_| !self.defined).map(String::as_str);
            let json = own.or(kept).map(str::to_owned);
            let missing = || StuckError::Refused(format!("definition {version} can't be read anywhere"));
            books.definition = json.ok_or_else(missing)?;
            books.version = version;
            if let Some(puts) = held.get("puts").filter(|_| !self.defined) {
                books.puts.clone_from(puts);
            }
        }
        if let Some(shown) = &self.checkpoint {
            books.order.commitment.clone_from(&shown.commitment);
            let of_now = held.get("commitment") == Some(&shown.commitment);
            let kept = held.get("order_nonce").filter(|_| of_now).map(String::as_str);
            if let Some(nonce) = field("order_nonce").or(kept) {
                nonce.clone_into(&mut books.order.nonce);
            }
            (books.opens_ms, books.passes_until_ms) = (shown.opens_ms, shown.passes_until_ms);
            let published = shown
                .collected_sha256
                .0
                .as_ref()
                .filter(|_| books.opened.is_none() && !self.opened);
            if let Some(sha256) = published {
                books.opened = Some(Opened {
                    joined: field("joined")
                        .and_then(|joined| joined.parse().ok())
                        .unwrap_or_default(),
                    sha256: sha256.clone(),
                });
            }
        }
        Ok(())
    }
}
