//! One stream, of a jackpot, a coupon or a room, while this instance reads it.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use jackpot_core::ids::Id;
use jackpot_core::mark::Mark;

use super::ahead::Ahead;
use super::batch::{Batch, Start, With};
use super::load::Loaded;
use super::rows::{Cursor, Raw};
use super::same::Agreed;
use crate::ledger::kind::{Folded, Folds, Tables};
use crate::ledger::skipped;
use crate::store::keys::StreamKeys;
use crate::store::{Store, StoreError};
use crate::subject::{self, ScriptError, TailWish};

/// Most events read in one call: some 20 ms of work for SQL when each holds one entry.
pub(super) const MAX_EVENTS: usize = 1_000;
/// Most bytes read in one call, so that events of thousands of entries do not fill the memory.
pub(super) const MAX_BYTES: usize = 4 << 20;
/// Places that are remembered for trimming, per margin. Events between two of them are trimmed at once.
const TRIMS_PER_MARGIN: u64 = 1_000;
/// Pause before a stopped stream is tried again: an operator may have restored it.
const RETRY: Duration = Duration::from_secs(10);
/// Pause before a stream that could not be read is tried again, so that rounds need not wait for its node.
const UNREAD: Duration = Duration::from_secs(3);

/// A stream at its cursor.
#[derive(Debug)]
pub struct Stream<K: Folds> {
    pub id: Id,
    /// The token of its lease.
    pub token: i64,
    /// The last event committed.
    pub cursor: Cursor,
    /// The books at the cursor.
    pub books: K::Books,
    /// What it keeps in memory for the tables that only its kind has.
    pub tables: K::Tables,
    trims: Trims,
    /// The last committed event, canonical JSON: Redis must still have the same one under its number.
    last_body: String,
    /// Stream id of the event before it; empty for none.
    previous_id: String,
    /// Number of the last event in Redis at the last look; 0 before the first.
    last_n: u64,
    /// Events read while the previous batch was committed.
    ahead: Option<Ahead>,
    /// Whether the last read gave those: Redis may have more by now than that look saw.
    was_ahead: bool,
    stopped_at: Option<Instant>,
    unread_at: Option<Instant>,
    /// The last comparison with Redis, if nothing followed from it.
    pub(super) agreed: Option<Agreed>,
}

/// The result of reading a stream.
#[derive(Debug)]
pub enum Read {
    /// Events after the cursor; empty when there is nothing new.
    Events(Vec<Raw>),
    /// Redis has less than the ledger, or lost what this instance has seen. With its mark, zero where it has nothing.
    Lost(Mark),
    /// The stream can't be followed.
    Broken(String),
}

impl<K: Folds> Stream<K> {
    /// A stream that was just taken over.
    pub fn new(id: Id, token: i64, loaded: Loaded<K>) -> Self {
        let trims = Trims::begin(&loaded.cursor);
        Self {
            id,
            token,
            cursor: loaded.cursor,
            books: loaded.books,
            tables: loaded.tables,
            trims,
            last_body: loaded.last_body,
            previous_id: loaded.previous_stream_id,
            last_n: 0,
            ahead: None,
            was_ahead: false,
            stopped_at: None,
            unread_at: None,
            agreed: None,
        }
    }

    /// How far the ledger is.
    pub fn mark(&self) -> Mark {
        Mark::new(self.books.restores(), self.cursor.n).unwrap_or_default()
    }

    /// Whether it pauses after a stop or a failed read.
    pub fn rests(&self) -> bool {
        let within = |since: Option<Instant>, pause| since.is_some_and(|at| at.elapsed() < pause);
        within(self.stopped_at, RETRY) || within(self.unread_at, UNREAD)
    }

    /// Pauses it after a failed read.
    pub fn rest(&mut self) {
        self.unread_at = Some(Instant::now());
    }

    /// Whether it was stopped and has not resumed.
    pub fn is_stopped(&self) -> bool {
        self.stopped_at.is_some()
    }

    /// Whether Redis may have had events at the last read that were not taken.
    pub fn may_have_more(&self) -> bool {
        self.was_ahead || self.goes_on_behind(&self.cursor)
    }

    /// Whether the last look saw events after a place.
    pub fn goes_on_behind(&self, cursor: &Cursor) -> bool {
        self.last_n > cursor.n
    }

    /// Number of the last event in Redis at the last look.
    pub(super) fn last_n(&self) -> u64 {
        self.last_n
    }

    /// Keeps events for the next [`read`](Self::read), if that begins where they begin.
    pub(super) fn keep(&mut self, ahead: Ahead) {
        self.ahead = Some(ahead);
    }

    /// Stops it for now. Returns whether the stop is new.
    pub fn stop(&mut self) -> bool {
        self.stopped_at.replace(Instant::now()).is_none()
    }

    /// Resumes it: the cause of the stop is gone.
    pub fn go_on(&mut self) {
        self.stopped_at = None;
    }

    /// Reads the events after the cursor. `seen` is the highest mark that this instance has seen in Redis.
    pub async fn read(
        &mut self,
        store: &Store,
        keys: StreamKeys<'_>,
        seen: Mark,
        margin: u64,
    ) -> Result<Read, ScriptError> {
        self.last_n = 0;
        let ahead = self.ahead.take().filter(|ahead| ahead.after == self.cursor.stream_id);
        self.was_ahead = ahead.is_some();
        if let Some(ahead) = ahead {
            self.last_n = ahead.last_n;
            return Ok(Read::Events(ahead.events));
        }
        let trim = self.trim_before(margin);
        let wish = TailWish {
            // Read the last event again: the same number with other content means another history.
            after: Some(self.previous_id.as_str()).filter(|id| !id.is_empty()),
            max_events: MAX_EVENTS,
            max_bytes: MAX_BYTES,
            trim_before: trim.as_deref(),
        };
        let tail = match subject::tail(store, keys, self.mark(), &wish).await {
            Err(ScriptError::Behind { at, .. }) if self.cursor.n > 0 => return Ok(Read::Lost(at)),
            // Only the holder of this lease restores, so a restore that is under way was left by an instance that
            // died.
            Err(ScriptError::Unknown | ScriptError::Restoring) if self.cursor.n > 0 => {
                return Ok(Read::Lost(Mark::ZERO));
            }
            Err(ScriptError::Unknown) => return Ok(Read::Events(Vec::new())),
            // The node is reachable, but what it holds is not ours.
            Err(error) if is_damage(&error) => return Ok(Read::Broken(error.to_string())),
            other => other?,
        };
        let raw = |(stream_id, fields)| Raw { stream_id, fields };
        let events = tail.events.into_iter().map(raw).collect();
        let news = match self.behind_the_last(events) {
            Ok(news) => news,
            Err(broken) => return Ok(Read::Broken(broken)),
        };
        if news.is_empty() && tail.mark.n() > self.cursor.n {
            let (at, redis) = (self.cursor.n, tail.mark.n());
            return Ok(Read::Broken(format!(
                "Redis is at event {redis}, but its stream has none after event {at}, the ledger's last"
            )));
        }
        if news.is_empty() && tail.mark < seen {
            return Ok(Read::Lost(tail.mark));
        }
        self.last_n = tail.mark.n();
        Ok(Read::Events(news))
    }

    /// Removes the last committed event from the front, if it is the ledger's last one. Trimming leaves it there;
    /// only a restore begins a stream without it.
    fn behind_the_last(&self, mut events: Vec<Raw>) -> Result<Vec<Raw>, String> {
        let n = self.cursor.n;
        let Some(first) = events.first().filter(|_| n > 0) else {
            return Ok(events);
        };
        let field = |name: &str| first.fields.get(name).unwrap_or_default();
        // Check this first: the number of a skipped event may be unreadable.
        if skipped::is_last(&first.fields, &self.last_body) {
            events.remove(0);
        } else if field("n") == n.to_string() {
            return Err(format!(
                "event {n} in Redis is another one than event {n} in the ledger"
            ));
        } else if field("type") != "restore" && skipped::of_stream(&self.last_body).is_some() {
            return Err(format!(
                "Redis' stream goes on with event {} and does not hold event {n}, the ledger's last",
                field("n")
            ));
        }
        Ok(events)
    }

    /// Stream id of the newest batch end that is a margin before the cursor.
    pub(super) fn trim_before(&mut self, margin: u64) -> Option<String> {
        self.trims.before(self.cursor.n, margin)
    }

    /// Where its next batch begins.
    pub fn start<'a>(&'a self, with: With<'a>) -> Start<'a, K> {
        Start {
            id: &self.id,
            cursor: &self.cursor,
            books: &self.books,
            tables: &self.tables,
            with,
        }
    }

    /// Moves on after a committed batch.
    pub fn advance(&mut self, mut batch: Batch<K>, margin: u64) {
        for event in &batch.events {
            self.trims.remember(&event.cursor, margin);
        }
        let Some(last) = batch.events.pop() else {
            return;
        };
        let previous = batch.events.pop();
        self.tables.advance(&mut batch);
        self.previous_id = previous.map_or_else(|| self.cursor.stream_id.clone(), |event| event.cursor.stream_id);
        self.last_body = last.body;
        self.cursor = batch.to;
        self.books = batch.books;
        self.stopped_at = None;
    }
}

/// Ends of batches up to which Redis may trim, oldest first: number and stream id.
#[derive(Debug)]
struct Trims(VecDeque<(u64, String)>);

impl Trims {
    fn begin(cursor: &Cursor) -> Self {
        Self(VecDeque::from([(cursor.n, cursor.stream_id.clone())]))
    }

    /// Remembers a place, unless it is within a thousandth of the margin after the last one.
    fn remember(&mut self, place: &Cursor, margin: u64) {
        let step = margin / TRIMS_PER_MARGIN;
        if self.0.back().is_none_or(|(n, _)| place.n > n + step) {
            self.0.push_back((place.n, place.stream_id.clone()));
        }
    }

    /// Stream id of the newest place that is a margin before event `n`. Forgets it and the older ones.
    fn before(&mut self, n: u64, margin: u64) -> Option<String> {
        let mut before = None;
        while self.0.len() > 1 && self.0.front().is_some_and(|(place, _)| place + margin <= n) {
            before = self.0.pop_front().map(|(_, stream_id)| stream_id);
        }
        before.filter(|id| !id.is_empty())
    }
}

/// Whether Redis answers but what it holds can't be read: a repeat does not help.
pub(crate) fn is_damage(error: &ScriptError) -> bool {
    match error {
        ScriptError::Reply { .. } | ScriptError::Record(_) | ScriptError::Store(StoreError::Protocol { .. }) => true,
        ScriptError::Store(StoreError::Script { code, .. }) => code == "WRONGTYPE",
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jackpot_core::chain::ChainHash;

    #[test]
    fn events_that_come_one_by_one_are_trimmed_behind_any_margin() {
        const MARGIN: u64 = 50_000;
        let id = Id::parse("spring").expect("an id");
        let cursor = |n: u64| Cursor {
            n,
            hash: ChainHash::first(&id),
            stream_id: format!("{n}-0"),
        };
        let mut trims = Trims::begin(&cursor(0));
        let mut trimmed = 0;
        for n in 1..=4 * MARGIN {
            trims.remember(&cursor(n), MARGIN);
            assert!(trims.0.len() <= 1_002);
            if let Some(before) = trims.before(n, MARGIN) {
                trimmed = before.trim_end_matches("-0").parse().expect("a number");
                assert!(trimmed + MARGIN <= n, "{trimmed} at {n}");
            }
            assert!(n - trimmed <= MARGIN + MARGIN / 100, "{trimmed} at {n}");
        }
    }
}
