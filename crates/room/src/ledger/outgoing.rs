//! What the events of a room tell other systems.

use jackpot_core::clock::rfc3339;
use jackpot_core::ids::Id;
use serde_json::json;

use super::event::{Event, Kind};
use super::projector::Rooms;
use jackpot_api::room::Status;
use jackpot_kernel::ledger::outgoing::{Fields, SUSPENDED, TellError, Teller, Tells, Told, Wants};
use jackpot_kernel::ledger::stored::Stored;
use jackpot_kernel::sql::AtHome;
use jackpot_kernel::subject::kinds::ROOM;

const OPENED: &str = "room.opened";

impl Tells for Rooms {
    const TYPES: &'static [&'static str] = &[OPENED, SUSPENDED];

    async fn tell(_: &AtHome, id: &Id, rows: &[Stored], wants: Wants<'_>) -> Result<Vec<Told>, TellError> {
        let told = rows.iter().map(|row| {
            let fields = Fields::of(ROOM, id, row)?;
            let event = Event::parse(&fields.all).map_err(|error| fields.unreadable(&error))?;
            let mut teller = Teller::new(wants);
            match &event.kind {
                Kind::Opened(opened) => teller.add(
                    OPENED,
                    || json!({"joined": opened.joined, "sha256": opened.sha256, "at": rfc3339(event.at_ms)}),
                ),
                Kind::Status(change) => teller.suspended(change.after == Status::Suspended, &fields),
                _ => {}
            }
            Ok(teller.told(row, &fields))
        });
        told.collect()
    }
}
