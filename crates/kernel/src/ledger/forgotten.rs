//! What a restore with `--discard` would forget: the events that Redis has and the ledger lacks, as far as they can
//! be read.

use jackpot_core::ids::Id;
use jackpot_core::mark::Mark;

use super::projector::rows::Raw;
use super::stuck::Skips;
use crate::store::Store;
use crate::subject::{self, ScriptError, Subject, TailWish};

/// Most bytes of events read in one call.
const MAX_BYTES: usize = 4 << 20;
/// Most payouts or issues that are listed one by one; the others are counted.
const MAX_LISTED: usize = 1_000;

/// What would be forgotten.
#[derive(Debug, Default)]
pub struct Forgotten {
    /// Numbers of the events, in order.
    pub events: Vec<u64>,
    /// How many of them can't be read.
    pub unreadable: u64,
    /// Number of entries of a jackpot, or of requests for a coupon.
    pub asked: u64,
    /// Payouts or issues, one line each.
    pub won: Vec<String>,
    /// Number of payouts or issues that are not listed.
    pub unlisted: u64,
}

impl Forgotten {
    /// Reads it for a subject whose last event in the ledger is `n`.
    pub async fn read<K: Skips>(_: &K, store: &Store, id: &Id, n: u64) -> Result<Self, ScriptError> {
        let known = K::Known::new(id);
        let (mut all, mut after) = (Self::default(), None);
        loop {
            let wish = TailWish {
                after: after.as_deref(),
                max_events: subject::MAX_EVENTS,
                max_bytes: MAX_BYTES,
                trim_before: None,
            };
            let tail = match subject::tail(store, known.stream(), Mark::ZERO, &wish).await {
                // Redis has nothing, or only what an earlier restore has left.
                Err(ScriptError::Unknown | ScriptError::Restoring) => return Ok(all),
                tail => tail?,
            };
            let Some((last, _)) = tail.events.last() else {
                return Ok(all);
            };
            after = Some(last.clone());
            for raw in tail.events.into_iter().map(Raw::from) {
                let number = raw.stream_id.split_once('-').and_then(|(_, n)| n.parse().ok());
                if let Some(number) = number.filter(|number| *number > n) {
                    all.events.push(number);
                    let is_readable = K::forget(&mut all, id, &raw);
                    all.unreadable += u64::from(!is_readable);
                }
            }
        }
    }

    /// Adds a payout or an issue.
    pub fn list(&mut self, line: String) {
        if self.won.len() < MAX_LISTED {
            self.won.push(line);
        } else {
            self.unlisted += 1;
        }
    }

    /// One line each, for people. `counted`: names of what was asked for and what was won.
    pub fn lines(&self, counted: Option<(&str, &str)>) -> Vec<String> {
        let (Some(first), Some(last)) = (self.events.first(), self.events.last()) else {
            return vec!["no event that Redis has and the ledger lacks".to_owned()];
        };
        let mut lines = vec![format!("events {first} to {last} ({} of them)", self.events.len())];
        if self.unreadable > 0 {
            lines.push(format!(
                "of them {} that can't be read: what they did is not listed here",
                self.unreadable
            ));
        }
        if let Some((asked, won)) = counted {
            lines.push(format!("{} {asked}, {} {won}", self.asked, self.count()));
        }
        lines.extend(self.won.iter().map(|line| format!("  {line}")));
        if self.unlisted > 0 {
            lines.push(format!("  and {} more", self.unlisted));
        }
        lines
    }

    fn count(&self) -> u64 {
        self.won.len() as u64 + self.unlisted
    }
}
