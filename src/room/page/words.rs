//! The words of the waiting page. Pure.

use jiff::Timestamp;
use serde::Serialize;

use crate::room::scripts::End;

/// A place in the queue, as the page shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownPosition {
    /// From 1: the next one to be admitted.
    pub position: u64,
    /// Seconds until admission, if known.
    pub eta_s: Option<u64>,
    /// Whether the queue moves.
    pub motion: Motion,
}

/// Whether the queue moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Motion {
    /// The user at the front is admitted as soon as there is room.
    Moves,
    /// The room opens later; both in ms of Redis' clock.
    OpensAt {
        /// When it opens.
        opens_ms: i64,
        /// Now.
        now_ms: i64,
    },
    /// Nobody is admitted for this time.
    HeldFor {
        /// In ms.
        ms: i64,
    },
    /// Nobody is admitted, for an unknown time.
    Stands,
}

/// The texts of a page that changes while it is open, by the ids of their elements. The script only puts them there, so
/// a page says the same with and without scripts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Texts {
    /// The tab's title.
    pub title: String,
    /// The heading.
    pub heading: &'static str,
    /// The place in the queue.
    pub place: String,
    /// The estimate.
    pub wait: String,
    /// A further text; empty: none.
    pub note: String,
}

impl ShownPosition {
    /// The texts.
    #[must_use]
    pub fn texts(&self) -> Texts {
        let place = self.position.to_string();
        let title = format!("Place {place} in the line");
        let unknown = || "not known yet".to_owned();
        match self.motion {
            Motion::Moves => Texts {
                title,
                heading: "You are in the line",
                place,
                wait: self.eta_s.map_or_else(unknown, about),
                note: String::new(),
            },
            Motion::OpensAt { opens_ms, now_ms } => Texts {
                title: "Not open yet".to_owned(),
                heading: "The room is not open yet",
                place: "drawn by lot".to_owned(),
                wait: format!("{} until the opening", about(seconds(opens_ms.saturating_sub(now_ms)))),
                note: format!(
                    "It opens on {}. Everybody who is here before has the same chance of a place at the front.",
                    date(opens_ms)
                ),
            },
            Motion::HeldFor { ms } => Texts {
                title,
                heading: "The line stands still for a while",
                place,
                wait: format!("{} at least", about(seconds(ms))),
                note: "Nobody is let in for now. Your place is kept.".to_owned(),
            },
            Motion::Stands => Texts {
                title,
                heading: "The line stands still",
                place,
                wait: unknown(),
                note: "Nobody is let in for now. Your place is kept.".to_owned(),
            },
        }
    }
}

/// The message of a page without a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notice {
    /// No token, or no token of ours for this room.
    BadLink,
    /// An expired join token.
    LinkExpired,
    /// A join token that has made all its places.
    LinkUsed,
    /// Its user has left too often recently.
    TooOften {
        /// Until the user may join again.
        wait_s: u64,
    },
    /// The room's definition does not list the site to which the token would send its user.
    NotSent,
    /// The room does not exist.
    NoRoom,
    /// The ticket ended so long ago that its record was dropped.
    Forgotten,
    /// The ticket has ended.
    Ended(End),
    /// Nobody can join now.
    Closed,
    /// Redis or the ledger does not answer.
    Unavailable,
}

impl Notice {
    /// The heading, and the tab's title.
    #[must_use]
    pub fn heading(self) -> &'static str {
        match self {
            Self::BadLink => "This link is not valid",
            Self::LinkExpired => "This link has expired",
            Self::LinkUsed => "This link has been used",
            Self::TooOften { .. } => "You have left the line too often",
            Self::NotSent => "This link leads to a site that is not known here",
            Self::NoRoom => "There is no such room",
            Self::Forgotten => "Your visit is over",
            Self::Ended(End::Expired) => "Your time is up",
            Self::Ended(End::Abandoned) => "Your place was given up",
            Self::Ended(End::Left) => "You have left the line",
            Self::Closed => "Nobody can join for now",
            Self::Unavailable => "The line can't be reached for now",
        }
    }

    /// What is wrong, and what to do.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::BadLink => "It is incomplete, or was made for something else. Go back to where it came from.",
            Self::LinkExpired => "It opens the line for a few minutes only. Go back to get a new one.",
            Self::LinkUsed => "You have joined the line with it, and your visit is over. Go back to get a new one.",
            Self::TooOften { .. } => "You can join again in less than a minute. This page tries again by itself.",
            Self::NotSent => "Nobody is sent there from this line. Go back to where you came from.",
            Self::NoRoom => "The line that you want to join is not there. Go back to where you came from.",
            Self::Forgotten => "Your place is no longer known here. To come in, go back and join the line again.",
            Self::Ended(End::Expired) => {
                "Your time in the room has ended. To come in once more, go back and join the line again."
            }
            Self::Ended(End::Abandoned) => {
                "This page was closed or offline for too long. To come in, go back and join the line again, at its end."
            }
            Self::Ended(End::Left) => "Your place is free for others. To come in, go back and join the line again.",
            Self::Closed => "This page tries again by itself.",
            Self::Unavailable => "If you had a place, it is kept for a while. This page tries again by itself.",
        }
    }
}

/// Seconds in words, rounded up.
#[must_use]
fn about(seconds: u64) -> String {
    match seconds {
        0..=60 => "less than a minute".to_owned(),
        61..=7_200 => format!("about {} minutes", seconds.div_ceil(60)),
        7_201..=172_800 => format!("about {} hours", seconds.div_ceil(3_600)),
        _ => format!("about {} days", seconds.div_ceil(86_400)),
    }
}

fn seconds(ms: i64) -> u64 {
    u64::try_from(ms).unwrap_or(0).div_ceil(1_000)
}

fn date(ms: i64) -> String {
    let at = Timestamp::from_millisecond(ms).unwrap_or_default();
    at.strftime("%-d %B %Y at %H:%M UTC").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(eta_s: Option<u64>, motion: Motion) -> Texts {
        let line = ShownPosition {
            position: 12,
            eta_s,
            motion,
        };
        line.texts()
    }

    #[test]
    fn durations_are_round_and_never_too_short() {
        for (seconds, text) in [
            (0, "less than a minute"),
            (60, "less than a minute"),
            (61, "about 2 minutes"),
            (120, "about 2 minutes"),
            (7_200, "about 120 minutes"),
            (7_201, "about 3 hours"),
            (172_800, "about 48 hours"),
            (172_801, "about 3 days"),
        ] {
            assert_eq!(about(seconds), text);
        }
    }

    #[test]
    fn a_line_that_moves_tells_place_and_time() {
        let known = texts(Some(90), Motion::Moves);
        assert_eq!((known.place.as_str(), known.wait.as_str()), ("12", "about 2 minutes"));
        assert_eq!(known.note, "");
        assert_eq!(known.title, "Place 12 in the line");
        assert_eq!(texts(None, Motion::Moves).wait, "not known yet");
    }

    #[test]
    fn before_the_opening_no_place_is_promised() {
        let opens_ms = 1_763_719_200_000;
        let before = texts(
            None,
            Motion::OpensAt {
                opens_ms,
                now_ms: opens_ms - 90_000,
            },
        );
        assert_eq!(before.place, "drawn by lot");
        assert_eq!(before.wait, "about 2 minutes until the opening");
        assert!(
            before.note.starts_with("It opens on 21 November 2025 at 10:00 UTC."),
            "{}",
            before.note
        );
    }

    #[test]
    fn a_line_that_stands_says_so() {
        let held = texts(None, Motion::HeldFor { ms: 119_001 });
        assert_eq!(held.wait, "about 2 minutes at least");
        assert_eq!(texts(None, Motion::Stands).wait, "not known yet");
        for text in [held, texts(None, Motion::Stands)] {
            assert_eq!(text.place, "12");
            assert!(text.note.ends_with("Your place is kept."));
        }
    }
}
