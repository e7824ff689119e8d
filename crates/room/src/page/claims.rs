//! The claims of the two tokens of the waiting page. Pure.
//!
//! Their `aud` is not a room but `join:<room>` and `place:<room>`. Most libraries check a pass by `aud` and not by
//! `typ`, and so such a back end accepts neither token for a pass.
//!
//! A join token stands for a user and lives for minutes. The page exchanges it at once for a place token, which stands
//! for a ticket. The place token stays in the address bar. It names no user, and it is worth as much as the place.

use jackpot_core::ids::{Id, PersonId};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::pass::Timed;
use crate::return_to::ReturnTo;
use crate::ticket::Ticket;

/// Type of a place token.
pub const PLACE: &str = "place+jwt";

/// The claims of a join token: this user may join this room.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JoinClaims {
    /// `rooms.issuer`.
    pub iss: String,
    /// The room, as `join:<room>`.
    #[serde(rename = "aud", with = "join_audience")]
    pub room: Id,
    /// The user.
    pub sub: PersonId,
    /// When it was made, in seconds of Redis' clock.
    pub iat: i64,
    /// When it expires, likewise.
    pub exp: i64,
    /// Random, so that two tokens are never equal.
    pub jti: String,
    /// Where the user goes once admitted.
    pub return_to: ReturnTo,
}

/// The claims of a place token: its holder has this ticket. The token is valid while the ticket's record is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlaceClaims {
    /// `rooms.issuer`.
    pub iss: String,
    /// The room, as `place:<room>`.
    #[serde(rename = "aud", with = "place_audience")]
    pub room: Id,
    pub jti: Ticket,
    /// Where the user goes once admitted.
    pub return_to: ReturnTo,
}

macro_rules! audience {
    ($name:ident: $prefix:literal) => {
        mod $name {
            use serde::{Deserialize, Deserializer, Serializer, de};

            use jackpot_core::ids::Id;

            pub(super) fn serialize<S: Serializer>(room: &Id, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(&format_args!(concat!($prefix, "{}"), room))
            }

            pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Id, D::Error> {
                let text = String::deserialize(deserializer)?;
                let room = text.strip_prefix($prefix).and_then(|room| Id::parse(room).ok());
                room.ok_or_else(|| de::Error::custom(concat!("must begin with ", $prefix)))
            }
        }
    };
}

audience!(join_audience: "join:");
audience!(place_audience: "place:");

/// Why a token of ours opens nothing here.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NotHere {
    /// Made for another room, or by another service with the same keys.
    #[error("the token is for another room")]
    OtherRoom,
    /// Expired. It still names the site that its user came from.
    #[error("the token has expired")]
    Expired(ReturnTo),
}

/// The longest `rooms.join_token_s`.
const LONGEST_JOIN_S: i64 = 3_600;

impl Timed for JoinClaims {
    const LONGEST_S: i64 = LONGEST_JOIN_S;

    fn times(&self) -> Option<(i64, i64)> {
        Some((self.iat, self.exp))
    }
}

/// It has no time. To make one with a retired key, somebody must know the ticket, and the ticket alone gives the place.
impl Timed for PlaceClaims {
    const LONGEST_S: i64 = 0;

    fn times(&self) -> Option<(i64, i64)> {
        None
    }
}

impl JoinClaims {
    /// Whether it opens this room now.
    pub fn check(self, issuer: &str, room: &Id, now_ms: i64) -> Result<Self, NotHere> {
        if self.iss != issuer || self.room != *room {
            return Err(NotHere::OtherRoom);
        }
        if now_ms >= self.exp.saturating_mul(1_000) {
            return Err(NotHere::Expired(self.return_to));
        }
        Ok(self)
    }
}

impl PlaceClaims {
    pub fn check(self, issuer: &str, room: &Id) -> Result<Self, NotHere> {
        if self.iss != issuer || self.room != *room {
            return Err(NotHere::OtherRoom);
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn join() -> JoinClaims {
        JoinClaims {
            iss: "jackpot".to_owned(),
            room: Id::parse("lobby").unwrap(),
            sub: PersonId::parse("ann").unwrap(),
            iat: 1_000,
            exp: 1_120,
            jti: "r".to_owned(),
            return_to: ReturnTo::parse("https://shop.example/").unwrap(),
        }
    }

    #[test]
    fn a_join_token_is_for_one_room_and_ends_on_its_second() {
        let lobby = Id::parse("lobby").unwrap();
        assert_eq!(join().check("jackpot", &lobby, 1_119_999), Ok(join()));
        let expired = NotHere::Expired(join().return_to);
        assert_eq!(join().check("jackpot", &lobby, 1_120_000), Err(expired));
        let other = Id::parse("other").unwrap();
        assert_eq!(join().check("jackpot", &other, 0), Err(NotHere::OtherRoom));
        assert_eq!(join().check("other", &lobby, 0), Err(NotHere::OtherRoom));
    }

    #[test]
    fn a_place_token_is_for_one_room_and_names_no_user() {
        let place = PlaceClaims {
            iss: "jackpot".to_owned(),
            room: Id::parse("lobby").unwrap(),
            jti: Ticket::parse(&"5f".repeat(16)).unwrap(),
            return_to: join().return_to,
        };
        let json = serde_json::to_string(&place).unwrap();
        assert!(!json.contains("sub"), "{json}");
        let other = Id::parse("other").unwrap();
        assert_eq!(place.clone().check("jackpot", &other), Err(NotHere::OtherRoom));
        assert_eq!(place.clone().check("jackpot", &place.room), Ok(place.clone()));
    }

    #[test]
    fn the_audience_of_either_is_no_room() {
        let json = serde_json::to_value(join()).unwrap();
        assert_eq!(json["aud"], "join:lobby");
        assert_eq!(serde_json::from_value::<JoinClaims>(json.clone()).unwrap(), join());
        for wrong in ["lobby", "place:lobby", "join:", "join:a:b", ":lobby", "JOIN:lobby"] {
            let mut json = json.clone();
            json["aud"] = wrong.into();
            assert!(serde_json::from_value::<JoinClaims>(json).is_err(), "{wrong}");
        }
    }

    #[test]
    fn neither_is_taken_for_the_other_or_for_a_pass() {
        let json = serde_json::to_string(&join()).unwrap();
        assert!(serde_json::from_str::<PlaceClaims>(&json).is_err());
        let wrong = json.replace("https://shop.example/", "javascript:alert(1)");
        assert!(
            serde_json::from_str::<JoinClaims>(&wrong).is_err(),
            "an address is checked again"
        );
    }
}
