//! What a restore with `--discard` would forget: the events that Redis has and the ledger lacks, as far as they can be
//! read.

use jackpot_core::clock::rfc3339;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::derived::payout_id;
use jackpot_core::mark::Mark;
use jackpot_core::text::printable;

use crate::store::Store;
use crate::store::keys::{CouponKeys, JackpotKeys, RoomKeys, StreamKeys};
use crate::stream::{self, ScriptError, TailWish};

use super::coupons;
use super::event::{Claim, ClaimResult, Event, Kind};
use super::projector::rows::Raw;
use crate::stream::kinds::Streams;

/// Bytes of events read in one call.
const MAX_BYTES: usize = 4 << 20;
/// Payouts or issues that are listed one by one; the others are counted.
const MAX_LISTED: usize = 1_000;
/// Longest id that is shown, in characters.
const MAX_SHOWN: usize = 200;

/// What would be forgotten.
#[derive(Debug, Default)]
pub struct Forgotten {
    /// Numbers of the events, in order.
    pub events: Vec<u64>,
    /// Of them unreadable.
    pub unreadable: u64,
    /// Entries of a jackpot, or requests for a coupon.
    pub asked: u64,
    /// Payouts or issues, a line each.
    pub won: Vec<String>,
    /// Those that were not listed.
    pub unlisted: u64,
}

impl Forgotten {
    /// Of one whose last event in the ledger is `n`.
    pub async fn read(store: &Store, streams: Streams, id: &Id, n: u64) -> Result<Self, ScriptError> {
        let (state, events) = match streams {
            Streams::Jackpots => {
                let keys = JackpotKeys::new(id);
                (keys.state, keys.events)
            }
            Streams::Coupons => {
                let keys = CouponKeys::new(id);
                (keys.state, keys.events)
            }
            Streams::Rooms => {
                let keys = RoomKeys::new(id);
                (keys.state, keys.events)
            }
        };
        let keys = StreamKeys {
            state: &state,
            events: &events,
        };
        let (mut all, mut after) = (Self::default(), None);
        loop {
            let wish = TailWish {
                after: after.as_deref(),
                max_events: stream::MAX_EVENTS,
                max_bytes: MAX_BYTES,
                trim_before: None,
            };
            let tail = match stream::tail(store, keys, Mark::ZERO, &wish).await {
                // There is nothing, or only what an earlier restore has left.
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
                    all.add(streams, id, &raw);
                }
            }
        }
    }

    fn add(&mut self, streams: Streams, id: &Id, raw: &Raw) {
        let readable = match streams {
            Streams::Jackpots => Event::parse(&raw.fields).map(|event| self.jackpot(id, event)).is_ok(),
            Streams::Coupons => {
                let event = coupons::event::Event::parse(&raw.fields);
                event.map(|event| self.coupon(event)).is_ok()
            }
            Streams::Rooms => true,
        };
        self.unreadable += u64::from(!readable);
    }

    fn jackpot(&mut self, id: &Id, event: Event) {
        match event.kind {
            Kind::Enter {
                first, entries, claims, ..
            } => {
                self.asked += entries.len() as u64;
                for claim in claims {
                    let place = usize::try_from(claim.sequence.saturating_sub(first)).unwrap_or(usize::MAX);
                    let entry = entries.get(place);
                    let (entry_id, player) =
                        entry.map_or(("", ""), |entry| (&entry.entry_id, entry.sent.player.as_str()));
                    self.paid((id, &event.history), event.at_ms, (entry_id, player), &claim);
                }
            }
            Kind::Claim { entry_id, claim } => self.paid((id, &event.history), event.at_ms, (&entry_id, ""), &claim),
            _ => {}
        }
    }

    fn paid(&mut self, (id, history): (&Id, &str), at_ms: i64, (entry_id, player): (&str, &str), claim: &Claim) {
        if let ClaimResult::Paid { tier, amount, .. } = &claim.result {
            let to = if player.is_empty() {
                String::new()
            } else {
                format!(" to {player}")
            };
            self.list(format!(
                "payout {}: {amount} from '{tier}'{to}, entry '{}', {}",
                payout_id(id, history, entry_id, claim.sequence),
                printable(entry_id, MAX_SHOWN),
                rfc3339(at_ms)
            ));
        }
    }

    fn coupon(&mut self, event: coupons::event::Event) {
        use coupons::event::{Kind, What};
        let (Kind::Issue(lines, _) | Kind::Serve(lines, _)) = event.kind else {
            return;
        };
        for line in lines {
            self.asked += 1;
            if let What::Issued { sequence, code } = line.what {
                self.list(format!(
                    "issue {sequence}: request '{}' of {}, code {code}, {}",
                    printable(&line.request, MAX_SHOWN),
                    line.user,
                    rfc3339(event.at_ms)
                ));
            }
        }
    }

    fn list(&mut self, line: String) {
        if self.won.len() < MAX_LISTED {
            self.won.push(line);
        } else {
            self.unlisted += 1;
        }
    }

    /// For people, a line each.
    #[must_use]
    pub fn lines(&self, streams: Streams) -> Vec<String> {
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
        match streams {
            Streams::Jackpots => lines.push(format!("{} entries, {} payouts", self.asked, self.count())),
            Streams::Coupons => lines.push(format!("{} requests, {} issues", self.asked, self.count())),
            Streams::Rooms => {}
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
