//! What the fixture has for a room: the wrappers of its scripts, and time that passes for it.

use std::sync::Mutex;

use jackpot::room::definition::Definition;
use jackpot::room::known::{Known, OrderOf};
use jackpot::room::scripts::{
    self, CollectedPage, Define, Defined, End, Place, Revoked, ScriptError, Seen, SetStatus, Snapshot, Visit,
    VisitReply, Visited, Wanted,
};
use jackpot::room::ticket::{OrderSeed, Ticket};
use jackpot::store::Store;
use jackpot::store::keys::{RoomKeys, StreamKeys};
use jackpot::subject::Subject;
use jackpot_api::room::Status;
use jackpot_core::ids::{Id, PersonId};
use jackpot_core::mark::Mark;
use jackpot_core::secret::MasterSecret;

use crate::support::fixture::{Capability, Fields, Fixture};
use crate::support::given::{SECRET, operator};
use crate::support::prelude::*;

/// How long records of ended tickets are kept.
pub const RETENTION_MS: u64 = 600_000;

/// What the fixture has for a room.
pub struct Room {
    pub keys: RoomKeys,
    pub known: Known,
    /// Nonce of the order before the opening.
    nonce: Mutex<String>,
}

pub type RoomFixture = Fixture<Room>;

/// An event: type and fields.
pub type Event = (String, Fields);

impl Capability for Room {
    type Event = Event;
    const STEM: &'static str = "room";

    fn new(id: &Id, _: &Store) -> Self {
        Self {
            keys: RoomKeys::new(id),
            known: Known::new(id),
            nonce: Mutex::default(),
        }
    }

    fn stream_keys(&self) -> StreamKeys<'_> {
        self.keys.stream()
    }

    /// A room for two.
    async fn create(fixture: &RoomFixture, change: &Value) {
        assert_eq!(fixture.define(change).await, Defined::Created(1));
    }

    fn event(fields: Fields) -> Event {
        (fields["type"].clone(), fields)
    }
}

impl RoomFixture {
    /// Reads the version in Redis, then puts a definition.
    pub async fn define(&self, change: &Value) -> Defined {
        let (version, nonce) = self.next_definition().await;
        self.put(change, Wanted::Any, version, &nonce).await.expect("a reply")
    }

    /// Puts a definition.
    pub async fn put(
        &self,
        change: &Value,
        wanted: Wanted,
        last_version: Option<u64>,
        nonce: &str,
    ) -> Result<Defined, ScriptError> {
        let definition = definition(change);
        let order = OrderOf::new(&MasterSecret::new(SECRET), &self.id, nonce.to_owned());
        let wish = Define {
            definition: &definition,
            wanted,
            last_version,
            nonce,
            history: "0123456789abcdef",
            by: &operator(),
        };
        let put = scripts::define(&self.store, &self.keys, Mark::ZERO, &wish, &order.commitment).await;
        self.read_order().await;
        put.map(|(_, defined)| defined)
    }

    /// Reads the order that the room has now; later joins use it.
    pub async fn read_order(&self) {
        let nonce: Option<String> = self.field("order_nonce").await;
        *self.nonce.lock().expect("whole") = nonce.unwrap_or_default();
    }

    /// The seed of the order before the opening.
    pub fn seed(&self) -> OrderSeed {
        OrderSeed::of(&MasterSecret::new(SECRET), &self.id, &self.nonce.lock().expect("whole"))
    }

    /// Gives all users who joined before the opening their order under the last nonce.
    pub async fn reorder(&self) {
        let (seed, nonce) = (self.seed(), self.nonce.lock().expect("whole").clone());
        let orders = self.collected().await.items.into_iter();
        let orders: Vec<_> = orders.map(|(_, ticket)| (ticket, seed.order(ticket))).collect();
        let reorder = scripts::reorder(&self.store, &self.keys, Mark::ZERO, &nonce, 0, &orders);
        reorder.await.expect("a reply");
    }

    /// A join of this user with a new ticket.
    pub fn join(&self, user: &str) -> Visit {
        let ticket = Ticket::random().expect("random");
        Visit::Join {
            user: PersonId::parse(user).expect("an id"),
            ticket,
            order: self.seed().order(ticket),
            nonce: self.nonce.lock().expect("whole").clone(),
        }
    }

    pub async fn try_visit(&self, visits: &[Visit]) -> Result<Visited, ScriptError> {
        scripts::visit(&self.store, &self.known, RETENTION_MS, visits).await
    }

    pub async fn visit(&self, visits: &[Visit]) -> Visited {
        self.try_visit(visits).await.expect("a reply")
    }

    /// A step without visits.
    pub async fn tick(&self) -> Visited {
        self.visit(&[]).await
    }

    /// Ticks until nothing more is due.
    pub async fn settle(&self) -> Visited {
        loop {
            let visited = self.tick().await;
            if !visited.more {
                return visited;
            }
        }
    }

    /// One visit of an existing ticket.
    pub async fn one(&self, visit: Visit) -> Seen {
        seen(self.visit(&[visit]).await.replies.remove(0))
    }

    /// Joins of these users, in one call.
    pub async fn joined<'a>(&self, users: impl IntoIterator<Item = &'a str>) -> Vec<Seen> {
        let visits: Vec<_> = users.into_iter().map(|user| self.join(user)).collect();
        self.visit(&visits).await.replies.into_iter().map(seen).collect()
    }

    pub async fn status(&self, wanted: Status) {
        self.try_status(wanted).await.expect("a reply");
    }

    pub async fn try_status(&self, wanted: Status) -> Result<(), ScriptError> {
        let wish = SetStatus::new(wanted, "a test".to_owned(), &operator());
        let set = scripts::set_status(&self.store, &self.keys, Mark::ZERO, &wish).await;
        set.map(drop)
    }

    pub async fn snapshot(&self) -> Snapshot {
        scripts::snapshot(&self.store, &self.keys, Mark::ZERO)
            .await
            .expect("readable")
    }

    pub async fn revoked(&self, after: u64) -> Revoked {
        scripts::revoked(&self.store, &self.known, after, scripts::MAX_REVOKED)
            .await
            .expect("a reply")
    }

    pub async fn collected(&self) -> CollectedPage {
        scripts::collected(&self.store, &self.keys, Mark::ZERO, 0, scripts::MAX_COLLECTED)
            .await
            .expect("a reply")
    }

    /// Lets time pass for this room alone: moves each time that Redis keeps of it back by `seconds`.
    pub async fn pass(&self, seconds: u64) {
        self.let_pass(seconds, "").await;
    }

    /// The same, but nobody steps the room meanwhile.
    pub async fn away(&self, seconds: u64) {
        self.let_pass(seconds, "1").await;
    }

    /// Moves Redis' clock forward, or back when negative, as far as this room sees it. Times that operators set stay
    /// those of that clock.
    pub async fn jump(&self, seconds: i64) {
        let state = self.state().await;
        for (field, ms) in [("ahead", seconds), ("opens", -seconds), ("opens_at", -seconds)] {
            if !state[field].is_empty() {
                let mut by = redis::cmd("HINCRBY");
                by.arg(&self.keys.state).arg(field).arg(ms * 1_000);
                self.raw::<i64>(&mut by).await;
            }
        }
    }

    /// The room kept the time that this event shows, so no later answer is of an earlier time.
    pub async fn assert_kept_time(&self, event: &Fields) {
        let state = self.state().await;
        let number = |text: &str| text.parse::<i64>().expect("a number");
        assert_eq!(state["clock"], event["clock"]);
        assert_eq!(number(&state["ahead"]), number(&event["clock"]) - number(&event["at"]));
    }

    async fn let_pass(&self, seconds: u64, away: &str) {
        const PASS: &str = include_str!("room_pass.lua");
        let script = redis::Script::new(PASS);
        let mut call = script.arg(seconds * 1_000);
        call.arg(away);
        for key in self.keys.all() {
            call.key(key);
        }
        call.invoke_async::<()>(&mut self.connection()).await.expect("a reply");
    }
}

/// A definition for two, changed by `change`.
pub fn definition(change: &Value) -> Definition {
    let mut document = json!({"capacity": 2, "session_s": 300, "waiting_timeout_s": 60});
    for (field, value) in change.as_object().expect("an object") {
        document[field] = value.clone();
    }
    Definition::check(serde_json::from_value(document).expect("a document")).expect("valid")
}

/// `u<first>` to `u<last>`.
pub fn users(first: usize, last: usize) -> Vec<String> {
    (first..=last).map(|number| format!("u{number}")).collect()
}

pub fn seen(reply: VisitReply) -> Seen {
    match reply {
        VisitReply::Seen(seen) => seen,
        other => panic!("{other:?}"),
    }
}

pub fn is_in(seen: &Seen) -> bool {
    matches!(seen.place, Place::Admitted { .. })
}

/// The end of the session of a user who is in.
pub fn end_of(seen: &Seen) -> i64 {
    match seen.place {
        Place::Admitted { end_ms, .. } => end_ms,
        other => panic!("{other:?}"),
    }
}

/// The number of users ahead of one who waits.
pub fn ahead(seen: &Seen) -> u64 {
    match seen.place {
        Place::Waiting { ahead } => ahead,
        other => panic!("{other:?}"),
    }
}

/// How an ended ticket ended.
pub fn ended(seen: &Seen) -> End {
    match seen.place {
        Place::Ended { how, .. } => how,
        other => panic!("{other:?}"),
    }
}
