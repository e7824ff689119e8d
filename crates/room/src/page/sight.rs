//! The current state of a place token, as the page shows it.

use std::time::Duration;

use jackpot_ui::Words;

use super::claims::PlaceClaims;
use super::words::{Motion, Notice, ShownPosition, Texts};
use crate::error::RoomError;
use crate::rooms::{RoomNow, Rooms, TicketNow};
use crate::scripts::Place;
use jackpot_api::room::Status;
use jackpot_kernel::http::problem::Problem;
use jackpot_kernel::subject::ScriptError;

/// What the page shows.
#[derive(Debug)]
pub(super) enum Sight {
    /// A place in the queue.
    Waiting {
        texts: Texts,
        /// Seconds until the next look.
        poll_after_s: f64,
        /// Seconds until the page is loaded again, if nothing else keeps it up to date.
        refresh_s: u64,
    },
    /// The user is in and goes to this address, which has the pass.
    LetIn(String),
    /// The ticket has ended.
    Over(Notice),
}

impl Sight {
    /// Looks, which keeps the place alive.
    ///
    /// It does not look at a place whose user can be sent nowhere. That place ends like one whose user stops polling.
    pub(super) async fn of(words: Words, rooms: &Rooms, place: &PlaceClaims) -> Result<Self, RoomError> {
        if !rooms.sends_to(&place.room, &place.return_to).await? {
            return Ok(Self::Over(Notice::NotSent));
        }
        let now = rooms.look(&place.room, place.jti).await?;
        Ok(match &now.seen.place {
            Place::Waiting { ahead } => {
                let room = rooms.shown(&place.room).await?;
                let lost_ms = room.definition.waiting_timeout_ms().min(room.definition.session_ms());
                let line = ShownPosition {
                    position: ahead + 1,
                    eta_s: now.eta_s,
                    motion: motion(&room, &now),
                };
                Self::Waiting {
                    texts: line.texts(words),
                    poll_after_s: now.poll_after_s,
                    refresh_s: refresh_s(now.poll_after_s, lost_ms),
                }
            }
            Place::Admitted { end_ms, .. } => {
                let (user, ticket) = (&now.seen.user, now.seen.ticket);
                let pass = rooms.tokens.pass(&place.room, user, ticket, now.now_ms, *end_ms);
                Self::LetIn(place.return_to.with_pass(&pass))
            }
            Place::Ended { how, .. } => Self::Over(Notice::Ended(*how)),
        })
    }
}

/// Least time for which a page without scripts stays. Each load takes the focus from its button, so a page that loads
/// every second cannot be used by keyboard.
const STAYS_S: u64 = 3;

/// When such a page is loaded again, in seconds: as often as a program would ask, but not more often than the page can
/// be used. The second rule does not apply if the place or its session could be lost by then, which takes at least
/// `lost_ms`.
fn refresh_s(poll_after_s: f64, lost_ms: u64) -> u64 {
    let asked = Duration::from_secs_f64(poll_after_s.ceil().max(1.0)).as_secs();
    let in_time = lost_ms / 2_500;
    asked.max(STAYS_S.min(in_time))
}

/// The room's shared reading may be a second old; the ticket is current.
fn motion(room: &RoomNow, ticket: &TicketNow) -> Motion {
    let (now_ms, wall_ms) = (ticket.now_ms, ticket.wall_ms);
    if room.snapshot.status == Status::Suspended {
        Motion::Stands
    } else if let Some(opens_ms) = room.definition.opens_ms().filter(|at| *at > wall_ms) {
        Motion::OpensAt {
            opens_ms,
            now_ms: wall_ms,
        }
    } else if let Some(hold_ms) = room.snapshot.hold_ms.filter(|at| *at > now_ms) {
        Motion::HeldFor { ms: hold_ms - now_ms }
    } else if room.definition.capacity() == 0 {
        Motion::Stands
    } else {
        Motion::Moves
    }
}

/// The texts of a page when Redis did not answer for the room.
pub(super) fn notice_of(error: RoomError) -> Notice {
    match error {
        RoomError::TicketNotFound => Notice::Forgotten,
        RoomError::Script(ScriptError::Unknown) => Notice::NoRoom,
        RoomError::Suspended | RoomError::Emergency(_) => Notice::Closed,
        RoomError::TooOften { wait } => Notice::TooOften {
            wait_s: wait.as_secs() + 1,
        },
        other => {
            // Our own faults are logged where they become a problem. The browser gets a text.
            let _logged = Problem::from(other);
            Notice::Unavailable
        }
    }
}

#[cfg(test)]
mod tests {
    use super::refresh_s;

    #[test]
    fn a_page_stays_for_a_while_but_comes_again_in_time() {
        for (poll_after_s, lost_ms, refresh) in [
            (1.0, 60_000, 3),
            (1.0, 7_500, 3),
            (1.0, 5_000, 2),
            (0.8, 2_000, 1),
            (0.4, 1_000, 1),
            (6.1, 60_000, 7),
        ] {
            assert_eq!(refresh_s(poll_after_s, lost_ms), refresh, "{poll_after_s} {lost_ms}");
        }
    }
}
