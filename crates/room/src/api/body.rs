//! A ticket as clients see it.

use jackpot_core::clock::rfc3339;
use jackpot_core::ids::Id;
use serde::Serialize;
use utoipa::ToSchema;

use crate::rooms::{TicketNow, state_of};
use crate::scripts::{Place, Seen};
use crate::ticket::Ticket;
use crate::tokens::Tokens;

/// A ticket and its place. A field that its status does not use is left out, except an unknown `eta_s`.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TicketBody {
    /// A secret: its holder has the place.
    #[schema(value_type = String, example = "0f8fad5bd9cb469fa16570867728950e", pattern = "^[0-9a-f]{32}$")]
    ticket: Ticket,
    /// admitted, waiting, expired, abandoned or left
    #[schema(example = "admitted")]
    status: &'static str,
    #[serde(flatten)]
    place: PlaceBody,
}

/// The place of a ticket, by its status.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum PlaceBody {
    /// The ticket is in.
    Admitted {
        /// The pass: a JWT (RFC 7519) for the header `X-Room-Pass`, valid until `expires_at`.
        pass: String,
        /// The end of the session, a whole second in RFC 3339, like all times here. A renewal moves it.
        #[schema(example = "2026-12-01T00:05:00.000Z")]
        expires_at: String,
        admitted_at: String,
    },
    /// The ticket waits.
    Waiting {
        /// Place in the queue, from 1: the next ticket to be admitted. Before the opening each join may change it.
        #[schema(example = 18)]
        position: u64,
        /// How many tickets are ahead.
        #[schema(example = 17)]
        ahead: u64,
        /// Seconds until admission, by the rate at which sessions ended in the last minute; null when unknown.
        #[schema(example = 40)]
        eta_s: Option<u64>,
        /// Seconds after which to ask again. A place that nobody asks for is lost after `waiting_timeout_s`, and an
        /// admitted user has `session_s` to learn of it. The value is below half of both. For places far from the front
        /// it is below half of the former alone.
        #[schema(example = 1.0)]
        poll_after_s: f64,
    },
    /// The ticket has ended.
    Ended {
        #[schema(example = "2026-12-01T00:05:00.000Z")]
        ended_at: String,
    },
}

impl TicketBody {
    /// With a new pass for a ticket that is in.
    pub(crate) fn of(room: &Id, now: &TicketNow, tokens: &Tokens) -> Self {
        let Seen {
            ticket, user, place, ..
        } = &now.seen;
        let status = state_of(place);
        let place = match *place {
            Place::Admitted { admitted_ms, end_ms } => PlaceBody::Admitted {
                pass: tokens.pass(room, user, *ticket, now.now_ms, end_ms),
                expires_at: rfc3339(end_ms),
                admitted_at: rfc3339(admitted_ms),
            },
            Place::Waiting { ahead } => PlaceBody::Waiting {
                position: ahead + 1,
                ahead,
                eta_s: now.eta_s,
                poll_after_s: now.poll_after_s,
            },
            Place::Ended { at_ms, .. } => PlaceBody::Ended {
                ended_at: rfc3339(at_ms),
            },
        };
        Self {
            ticket: *ticket,
            status,
            place,
        }
    }
}
