//! Keeps an open page up to date with server-sent events.

use std::time::Duration;

use actix_web::web::Bytes;
use futures_util::Stream;
use jackpot_ui::Words;
use serde::Serialize;
use tokio::time::sleep;
use tracing::debug;

use super::claims::PlaceClaims;
use super::listeners::Listener;
use super::sight::Sight;
use super::words::Texts;
use crate::error::RoomError;
use crate::rooms::Rooms;
use jackpot_kernel::http::problem::Problem;
use jackpot_kernel::stopping::Stopping;
use jackpot_kernel::subject::ScriptError;
use jackpot_kernel::telemetry::GaugeGuard;

/// Until the next look after a failed one: often enough for the shortest useful timeout of a room.
const AFTER_FAILURE: Duration = Duration::from_secs(1);

/// Sends `place` with the texts of the page, at once and then as often as a program would ask. It sends them even
/// without a change, so that proxies keep the connection and the page notices a dead one. Sends `moved` and ends when
/// there is no place to show any more. A listener counts as present: each look keeps the place alive.
pub(super) fn events(
    words: Words,
    rooms: Rooms,
    place: PlaceClaims,
    stopping: Stopping,
    open: (GaugeGuard, Listener),
) -> impl Stream<Item = Result<Bytes, Problem>> {
    async_stream::stream! {
        let _open = open;
        loop {
            let pause = match Sight::of(words, &rooms, &place).await {
                Ok(Sight::Waiting {
                    texts, poll_after_s, ..
                }) => {
                    yield Ok(event("place", &Some(texts)));
                    Duration::from_secs_f64(poll_after_s)
                }
                Ok(Sight::LetIn(_) | Sight::Over(_))
                | Err(RoomError::TicketNotFound | RoomError::Script(ScriptError::Unknown)) => break,
                // After a reload the page would have nothing to show, and all pages would ask at once.
                Err(error) => {
                    debug!(%error, "the place could not be read; its stream waits");
                    AFTER_FAILURE
                }
            };
            tokio::select! {
                () = stopping.wait() => return,
                () = sleep(pause) => {}
            }
        }
        yield Ok(event("moved", &None::<Texts>));
    }
}

fn event<T: Serialize>(name: &str, data: &T) -> Bytes {
    let json = serde_json::to_string(data).expect("plain data is JSON");
    Bytes::from(format!("event: {name}\ndata: {json}\n\n"))
}
