//! A room in the ledger.

use std::sync::Arc;

use jackpot::room::known::Registry;
use jackpot::room::ledger::books::Books;
use jackpot::room::ledger::event::{Checkpoint, Event};
use jackpot::room::ledger::projector::Rooms;
use jackpot::room::ledger::report::compare;
use jackpot::room::scripts;
use jackpot::room::ticket::Ticket;
use jackpot_api::room::Status;
use jackpot_core::mark::Mark;
use jackpot_core::secret::MasterSecret;
use sha2::{Digest, Sha256};

use crate::room::fixture::{Room, RoomFixture};
use crate::support::fixture::Fields;
use crate::support::given::SECRET;
use crate::support::ledger_fixture::{InLedger, LedgerFixture};
use crate::support::prelude::*;

pub type RoomLedger = LedgerFixture<Room>;

impl InLedger for Room {
    type Kind = Rooms;

    fn started(fixture: &RoomFixture) -> Rooms {
        Rooms {
            registry: Arc::new(Registry::new(fixture.store.clone())),
            store: fixture.store.clone(),
            secret: MasterSecret::new(SECRET),
        }
    }

    async fn restored(fixture: &RoomFixture) {
        fixture.read_order().await;
    }

    async fn assert_follows(fixture: &RoomLedger, events: &[Fields], held: Books) {
        let mut books = Books::default();
        for fields in events {
            books
                .apply(&Event::parse(&fields.into()).expect("readable"))
                .expect("follows");
        }
        assert_eq!(held, books);
        let redis = fixture.snapshot().await;
        assert_eq!(redis.mark, Mark::new(books.restores, books.n).expect("a mark"));
        let decides = Checkpoint::parse(&redis.decides).expect("readable");
        let report = compare(&decides, &books);
        assert!(report.clean, "{report:?}");
        assert_eq!(
            (Some(redis.status), redis.definition.clone()),
            (books.status, books.definition)
        );
        assert_eq!(redis.order, books.order);
        assert_eq!(redis.collected_sha256, books.opened.map(|opened| opened.sha256));
        let state = fixture.state().await;
        assert_has!(state, {"puts": books.puts, "opens": books.opens_ms.to_string()});
    }
}

/// SHA-256 of a list of tickets, as it is published.
pub fn sha256(tickets: &[Ticket]) -> String {
    let mut hash = Sha256::new();
    for ticket in tickets {
        hash.update(format!("{ticket}\n"));
    }
    hex::encode(hash.finalize())
}

/// Everything that can happen to a room, except a restore: its opening is moved, two join, it opens, and their list is
/// published.
pub async fn live(fixture: &RoomFixture) {
    let opens = |at: &str| json!({"opens_at": at, "session_s": 400});
    fixture.define(&opens("2100-01-01T00:00:00Z")).await;
    fixture.define(&opens("2090-01-01T00:00:00Z")).await;
    let tickets: Vec<_> = fixture
        .joined(["u1", "u2"])
        .await
        .iter()
        .map(|seen| seen.ticket)
        .collect();
    fixture.define(&json!({"session_s": 60})).await;
    let published = scripts::publish(&fixture.store, &fixture.keys, Mark::ZERO, 2, &sha256(&tickets)).await;
    assert!(published.expect("a reply").1);
    fixture.define(&json!({"capacity": 1})).await;
    fixture.status(Status::Suspended).await;
    fixture.status(Status::Open).await;
    let checkpoint = scripts::checkpoint(&fixture.store, &fixture.keys, Mark::ZERO).await;
    checkpoint.expect("done");
}
