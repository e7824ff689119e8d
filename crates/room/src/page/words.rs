//! The words of the waiting page, by its reader's language. Pure.

use jackpot_core::clock::civil;
use jackpot_ui::Words;
use jackpot_ui::money::grouped;
use jiff::civil::DateTime;
use serde::Serialize;

use crate::scripts::End;

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
        now_ms: i64,
    },
    /// Nobody is admitted for this time.
    HeldFor { ms: i64 },
    /// Nobody is admitted, for an unknown time.
    Stands,
}

/// The texts of a page that changes while it is open, by the ids of their elements. The script only puts them there, so
/// a page says the same with and without scripts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Texts {
    /// The tab's title.
    pub title: String,
    pub heading: String,
    /// The place in the queue.
    pub place: String,
    /// The estimate.
    pub wait: String,
    /// A further text; empty: none.
    pub note: String,
}

impl ShownPosition {
    pub fn texts(&self, words: Words) -> Texts {
        let place = grouped(self.position.into());
        let title = words.tv("wait-title", [("place", self.position.into())]);
        let unknown = || words.t("value-unknown");
        let part = |name: &str, seconds: u64| words.tv(name, [("time", about(words, seconds).into())]);
        match self.motion {
            Motion::Moves => Texts {
                title,
                heading: words.t("wait-moves"),
                place,
                wait: self.eta_s.map_or_else(unknown, |seconds| about(words, seconds)),
                note: String::new(),
            },
            Motion::OpensAt { opens_ms, now_ms } => Texts {
                title: words.t("wait-early-title"),
                heading: words.t("wait-early"),
                place: words.t("wait-early-place"),
                wait: part("wait-early-time", seconds(opens_ms.saturating_sub(now_ms))),
                note: words.tv("wait-early-note", [("date", date(words, opens_ms).into())]),
            },
            Motion::HeldFor { ms } => Texts {
                title,
                heading: words.t("wait-held"),
                place,
                wait: part("wait-held-time", seconds(ms)),
                note: words.t("wait-kept"),
            },
            Motion::Stands => Texts {
                title,
                heading: words.t("wait-stands"),
                place,
                wait: unknown(),
                note: words.t("wait-kept"),
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
    pub fn heading(self, words: Words) -> String {
        words.t(self.name())
    }

    /// What is wrong, and what to do.
    pub fn text(self, words: Words) -> String {
        words.t(&format!("{}-text", self.name()))
    }

    /// Of its texts.
    fn name(self) -> &'static str {
        match self {
            Self::BadLink => "wait-bad-link",
            Self::LinkExpired => "wait-link-expired",
            Self::LinkUsed => "wait-link-used",
            Self::TooOften { .. } => "wait-too-often",
            Self::NotSent => "wait-not-sent",
            Self::NoRoom => "wait-no-room",
            Self::Forgotten => "wait-forgotten",
            Self::Ended(End::Expired) => "wait-expired",
            Self::Ended(End::Abandoned) => "wait-abandoned",
            Self::Ended(End::Left) => "wait-left",
            Self::Closed => "wait-closed",
            Self::Unavailable => "wait-unavailable",
        }
    }
}

/// Seconds in words, rounded up.
fn about(words: Words, seconds: u64) -> String {
    let (name, count) = match seconds {
        0..=60 => return words.t("wait-soon"),
        61..=7_200 => ("wait-minutes", seconds.div_ceil(60)),
        7_201..=172_800 => ("wait-hours", seconds.div_ceil(3_600)),
        _ => ("wait-days", seconds.div_ceil(86_400)),
    };
    words.tv(name, [("count", count.into())])
}

fn seconds(ms: i64) -> u64 {
    u64::try_from(ms).unwrap_or(0).div_ceil(1_000)
}

fn date(words: Words, ms: i64) -> String {
    let at = civil(ms).unwrap_or(DateTime::MAX);
    at.strftime(&words.t("wait-date")).to_string()
}

#[cfg(test)]
mod tests {
    use jackpot_ui::Language;

    use super::*;

    const EN: Words = Words(Language::En);
    const KO: Words = Words(Language::Ko);

    fn texts(eta_s: Option<u64>, motion: Motion) -> Texts {
        let line = ShownPosition {
            position: 12,
            eta_s,
            motion,
        };
        line.texts(EN)
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
            assert_eq!(about(EN, seconds), text);
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

    #[test]
    fn korean_readers_read_korean() {
        let opens_ms = 1_763_719_200_000;
        let line = ShownPosition {
            position: 1_012,
            eta_s: Some(90),
            motion: Motion::Moves,
        };
        let moves = line.texts(KO);
        assert_eq!((moves.place.as_str(), moves.wait.as_str()), ("1,012", "약 2분"));
        let early = ShownPosition {
            motion: Motion::OpensAt {
                opens_ms,
                now_ms: opens_ms - 90_000,
            },
            ..line
        };
        let early = early.texts(KO);
        assert!(early.note.contains("2025년 11월 21일 10:00 UTC"), "{}", early.note);
        assert!(early.wait.contains("약 2분"), "{}", early.wait);
        for notice in [
            Notice::BadLink,
            Notice::Ended(End::Left),
            Notice::TooOften { wait_s: 3 },
        ] {
            let is_korean = |text: String| text.chars().any(|c| ('가'..='힣').contains(&c));
            assert!(is_korean(notice.heading(KO)) && is_korean(notice.text(KO)));
        }
    }
}
