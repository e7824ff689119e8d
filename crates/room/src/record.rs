//! Redis' record of a ticket. The `record` of Lua is made from it. Pure.

use jackpot_core::ids::PersonId;

jackpot_core::record! {
    /// A ticket, in the hash `tickets` by its id. Times are in ms of the room's time.
    pub enum Record as "place" {
        /// It waits.
        "w" Waiting {
            /// Join number in the room, from 1.
            join: u64,
            /// When the ticket was made.
            joined_ms: i64,
            /// Its user.
            user: PersonId,
        }
        /// It is in.
        "a" Admitted {
            /// Time of admission.
            admitted_ms: i64,
            /// End of the session, on a whole second.
            end_ms: i64,
            /// When the ticket was made.
            joined_ms: i64,
            /// Its user.
            user: PersonId,
        }
        /// Expired: it was in until its session ended.
        "e" Expired {
            /// Time of the end.
            at_ms: i64,
            /// Its user.
            user: PersonId,
        }
        /// Abandoned: it waited, and was not seen in time.
        "b" Abandoned {
            /// Time of the end.
            at_ms: i64,
            /// Its user.
            user: PersonId,
        }
        /// Its user left, in or waiting.
        "l" Left {
            /// Time of the end.
            at_ms: i64,
            /// Its user.
            user: PersonId,
        }
    }
}

jackpot_core::names! {
    /// Why a ticket has ended.
    pub enum End {
        /// The session reached its end.
        Expired = "expired",
        /// It waited, and was not seen in time.
        Abandoned = "abandoned",
        /// Its holder left, in or waiting.
        Left = "left",
    }
}

#[cfg(test)]
mod tests {
    use jackpot_core::unreadable::Unreadable;

    use super::*;

    #[test]
    fn records_are_what_scripts_write() {
        let user = || PersonId::parse("u-1").expect("an id");
        let waiting = Record::Waiting {
            join: 7,
            joined_ms: 5,
            user: user(),
        };
        let admitted = Record::Admitted {
            admitted_ms: 6,
            end_ms: 7_000,
            joined_ms: 5,
            user: user(),
        };
        let (at_ms, of) = (9, user);
        for (text, record) in [
            ("w 7 5 u-1", waiting),
            ("a 6 7000 5 u-1", admitted),
            ("e 9 u-1", Record::Expired { at_ms, user: of() }),
            ("b 9 u-1", Record::Abandoned { at_ms, user: of() }),
            ("l 9 u-1", Record::Left { at_ms, user: of() }),
        ] {
            assert_eq!(record.to_string(), text);
            assert_eq!(Record::parse(text), Ok(record));
        }
    }

    #[test]
    fn nothing_else_is_one() {
        for text in [
            "",
            "w",
            "w 7 5",
            "w 7 5 u 1",
            "w -7 5 u",
            "w 7 x u",
            "a 6 7 u",
            "e u",
            "e 9 -u",
            "x 9 u",
            "e 9 u ",
        ] {
            assert_eq!(Record::parse(text), Err(Unreadable::of(text)));
        }
    }
}
