//! Redis' record of a ticket, as `lua/room/record.lua` writes it. Pure.

use jackpot_core::ids::Id;
use jackpot_core::unreadable::Unreadable;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its user.
    pub user: Id,
    pub state: State,
}

/// The state of a ticket. Times are ms of the room's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It waits.
    Waiting {
        /// Join number in the room, from 1.
        join: u64,
        /// When it was made.
        joined_ms: i64,
    },
    /// It is in.
    Admitted {
        /// Time of admission.
        admitted_ms: i64,
        /// End of the session, on a whole second.
        end_ms: i64,
        /// When the ticket was made.
        joined_ms: i64,
    },
    /// It has ended.
    Ended {
        how: End,
        /// Time of the end.
        at_ms: i64,
    },
}

/// Why a ticket has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The session reached its end.
    Expired,
    /// It waited, and was not seen in time.
    Abandoned,
    /// Its holder left, in or waiting.
    Left,
}

impl End {
    /// Its name in answers.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Expired => "expired",
            Self::Abandoned => "abandoned",
            Self::Left => "left",
        }
    }
}

impl Record {
    /// Parses a record from a script's reply.
    pub fn parse(text: &str) -> Result<Self, Unreadable> {
        parse(text).ok_or_else(|| Unreadable::of(text))
    }
}

fn parse(text: &str) -> Option<Record> {
    let (kind, rest) = text.split_once(' ')?;
    let (numbers, user) = rest.rsplit_once(' ')?;
    let numbers = numbers
        .split(' ')
        .map(str::parse)
        .collect::<Result<Vec<i64>, _>>()
        .ok()?;
    let ended = |how, at_ms| State::Ended { how, at_ms };
    let state = match (kind, &numbers[..]) {
        ("w", &[join, joined_ms]) => State::Waiting {
            join: u64::try_from(join).ok()?,
            joined_ms,
        },
        ("a", &[admitted_ms, end_ms, joined_ms]) => State::Admitted {
            admitted_ms,
            end_ms,
            joined_ms,
        },
        ("e", &[at_ms]) => ended(End::Expired, at_ms),
        ("b", &[at_ms]) => ended(End::Abandoned, at_ms),
        ("l", &[at_ms]) => ended(End::Left, at_ms),
        _ => return None,
    };
    let user = Id::parse(user).ok()?;
    Some(Record { user, state })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_what_scripts_write() {
        let state = |text: &str| Record::parse(text).map(|record| (record.user.to_string(), record.state));
        let user = "u-1".to_owned();
        let waiting = State::Waiting { join: 7, joined_ms: 5 };
        assert_eq!(state("w 7 5 u-1"), Ok((user.clone(), waiting)));
        let admitted = State::Admitted {
            admitted_ms: 6,
            end_ms: 7_000,
            joined_ms: 5,
        };
        assert_eq!(state("a 6 7000 5 u-1"), Ok((user.clone(), admitted)));
        for (text, how) in [
            ("e 9 u-1", End::Expired),
            ("b 9 u-1", End::Abandoned),
            ("l 9 u-1", End::Left),
        ] {
            assert_eq!(state(text), Ok((user.clone(), State::Ended { how, at_ms: 9 })));
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
