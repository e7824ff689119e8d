//! Decides which streams a round reads, and how much of them. After a database outage thousands may have news at
//! once.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Bound, RangeBounds};
use std::time::Duration;

use futures_util::{StreamExt, stream as futures};
use jackpot_core::ids::Id;
use tokio::time::timeout;
use tracing::debug;

use super::ahead::Ahead;
use super::batch::Batch;
use super::rows::Raw;
use super::stream::{Read, Stream};
use super::{AT_ONCE, Projector};
use crate::ledger::kind::Kind;
use crate::subject::{Glance, ScriptError, Subject};

/// Most events of one transaction, over all streams; further streams wait for the next one.
const MAX_EVENTS: usize = 4_000;
/// Most bytes of these events: an event may hold a thousand entries.
const MAX_BYTES: usize = 8 << 20;

/// Streams without news that a sweep reads with a script: it compares the last event, and trims. With more of them than
/// that, each has its turn every few seconds or minutes. Streams that this instance plays are read immediately, and those
/// of which the shared reading of marks ([`Registry::glances`](crate::subject::Registry::glances)) shows another mark.
const LOOKS_PER_SWEEP: usize = 10;

/// Longest wait of a round for one stream; a look takes some ten milliseconds. While one node is frozen, the streams
/// of the other nodes wait.
const LOOK: Duration = Duration::from_secs(1);
/// Longest wait for the marks of all streams, at a start: 100,000 take less than a second.
const LOOK_AT_ALL: Duration = Duration::from_secs(10);

/// How much was read, or a round has taken.
#[derive(Default, Clone, Copy)]
struct Taken {
    events: usize,
    bytes: usize,
}

impl Taken {
    fn of(read: &Read) -> Self {
        let Read::Events(raw) = read else {
            return Self::default();
        };
        Self {
            events: raw.len(),
            bytes: raw.iter().map(|raw| raw.fields.bytes()).sum(),
        }
    }

    fn add(&mut self, more: Self) {
        self.events += more.events;
        self.bytes += more.bytes;
    }

    fn is_full(&self) -> bool {
        self.events >= MAX_EVENTS || self.bytes >= MAX_BYTES
    }
}

impl<K: Kind> Projector<K> {
    /// Reads what is new in the streams, as batches. Returns also whether subjects were rebuilt.
    pub(super) async fn read(&mut self, sweep: bool) -> Result<(Vec<(Batch<K>, i64)>, bool), sqlx::Error> {
        let reads = self.read_due(sweep).await;
        let (mut batches, mut taken, mut lost) = (Vec::new(), Taken::default(), Vec::new());
        for (id, read, size) in reads {
            match read {
                Ok(Read::Events(raw)) if raw.is_empty() => self.goes_on(&id).await,
                Ok(Read::Events(raw)) => {
                    if taken.is_full() {
                        self.put_back(id, raw);
                        continue;
                    }
                    taken.add(size);
                    if !self.is_whole(&id).await? {
                        continue;
                    }
                    batches.extend(self.batch(&id, &raw));
                    self.taken_to = Some(id);
                }
                Ok(Read::Lost(at)) => lost.push((id, at)),
                Ok(Read::Broken(reason)) => self.stop(&id, &reason).await,
                // A frozen node affects only its own streams.
                Err(error) => debug!(what = K::NAME.as_str(), %id, %error, "its events can't be read now"),
            }
        }
        let rebuilt = self.rebuild(lost).await;
        Ok((batches, rebuilt))
    }

    /// Whether the last looks saw more than a round takes. Events that came since can wait for the next commit.
    pub(super) fn is_behind(&self) -> bool {
        let has_more = |stream: &Stream<K>| !stream.rests() && stream.may_have_more();
        !self.left.is_empty() || self.streams.values().any(has_more)
    }

    /// Keeps events for the next round, which begins with them.
    fn put_back(&mut self, id: Id, events: Vec<Raw>) {
        if let Some(stream) = self.streams.get_mut(&id) {
            let (after, last_n) = (stream.cursor.stream_id.clone(), stream.last_n());
            stream.keep(Ahead {
                id,
                after,
                last_n,
                events,
            });
        }
    }

    /// Looks at the streams that may have something new, until a round is full. Streams after the last one that was
    /// taken come first: otherwise a few busy ones would hold up all others for ever.
    async fn read_due(&mut self, sweep: bool) -> Vec<(Id, Result<Read, ScriptError>, Taken)> {
        let moved = if sweep { self.moved().await } else { BTreeSet::new() };
        let mut due = self.due(sweep, &moved);
        let first = due.partition_point(|stream| Some(&stream.id) <= self.taken_to.as_ref());
        due.rotate_left(first);
        let (mut due, mut taken, mut reads) = (due.into_iter(), Taken::default(), Vec::new());
        while !taken.is_full() {
            let now: Vec<Stream<K>> = due.by_ref().take(AT_ONCE).collect();
            if now.is_empty() {
                break;
            }
            // Each stream is moved into its own look.
            let looks = now.into_iter().map(|mut stream| {
                let known = self.kind.registry().known(&stream.id);
                let (store, margin) = (&self.store, self.settings.trim_margin_events);
                async move {
                    let read = timeout(LOOK, stream.read(store, known.stream(), known.mark(), margin)).await;
                    if !matches!(read, Ok(Ok(_))) {
                        stream.rest();
                    }
                    (stream, read)
                }
            });
            let done: Vec<_> = futures::iter(looks).buffered(AT_ONCE).collect().await;
            for (stream, read) in done {
                if let Ok(read) = read {
                    // Counted once: the texts of many events are not in the processor's cache.
                    let size = read.as_ref().map(Taken::of).unwrap_or_default();
                    taken.add(size);
                    reads.push((stream.id.clone(), read, size));
                } else {
                    debug!(what = K::NAME.as_str(), id = %stream.id, "its node does not answer in time");
                }
                self.streams.insert(stream.id.clone(), stream);
            }
        }
        for stream in due {
            self.left.insert(stream.id.clone());
            self.streams.insert(stream.id.clone(), stream);
        }
        reads
    }

    /// Streams whose mark in Redis is not the ledger's: of those whose turn it is, or at the first sweep of all.
    async fn moved(&self) -> BTreeSet<Id> {
        let registry = self.kind.registry();
        let shared;
        let (glances, all);
        if self.swept_at.is_none() {
            all = timeout(LOOK_AT_ALL, registry.glance_at(self.streams.keys())).await;
            glances = all.as_ref().map_or(&[][..], Vec::as_slice);
        } else {
            shared = timeout(LOOK, registry.glances()).await;
            glances = shared.as_ref().map_or(&[][..], |read| read.value.as_slice());
        }
        let is_news = |(id, glance): &&(Id, Glance)| {
            let stream = self.streams.get(id);
            stream.is_some_and(|stream| match glance {
                Glance::At(mark) => *mark != stream.mark() || stream.is_stopped(),
                Glance::Unclear => stream.cursor.n > 0,
            })
        };
        let moved = glances.iter().filter(is_news);
        moved.map(|(id, _)| id.clone()).collect()
    }

    /// Takes the due streams out of the map, in order.
    fn due(&mut self, sweep: bool, moved: &BTreeSet<Id>) -> Vec<Stream<K>> {
        let turn = sweep.then(|| turn(&self.streams, &mut self.looked_to, LOOKS_PER_SWEEP));
        let (kind, left) = (&self.kind, std::mem::take(&mut self.left));
        let is_due = |id: &Id, stream: &mut Stream<K>| {
            let known = kind.registry().known(id);
            // A lost subject is still lost at the next look: now and then is enough.
            let news = || !known.is_lost() && known.mark() != stream.mark();
            let more = stream.may_have_more();
            let turn = moved.contains(id) || turn.as_ref().is_some_and(|turn| turn.contains(id));
            !stream.rests() && (turn || more || left.contains(id) || news())
        };
        self.streams.extract_if(.., is_due).map(|(_, stream)| stream).collect()
    }
}

/// The streams whose turn it is although this instance saw no news there. Also sets where the next turn begins.
fn turn<T>(streams: &BTreeMap<Id, T>, looked_to: &mut Option<Id>, at_most: usize) -> (Bound<Id>, Bound<Id>) {
    let from = looked_to.take().map_or(Bound::Unbounded, Bound::Excluded);
    let mut rest = streams.range((from.clone(), Bound::Unbounded));
    let last = rest.by_ref().take(at_most).last().map(|(id, _)| id.clone());
    *looked_to = last.filter(|_| rest.next().is_some());
    (from, looked_to.clone().map_or(Bound::Unbounded, Bound::Included))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stream_has_its_turn_once_in_a_round_of_turns() {
        for (count, turns) in [(0, 1), (1, 1), (3, 1), (4, 2), (7, 3)] {
            let ids = (0..count).map(|i| (Id::parse(&format!("j{i}")).expect("an id"), i));
            let streams: BTreeMap<Id, i32> = ids.collect();
            let (mut looked_to, mut seen) = (None, Vec::new());
            for i in 1..=turns {
                let turn = turn(&streams, &mut looked_to, 3);
                seen.extend(streams.keys().filter(|id| turn.contains(*id)));
                assert_eq!(looked_to.is_none(), i == turns, "turn {i} of {count} streams");
            }
            assert!(seen.into_iter().eq(streams.keys()), "{count} streams");
        }
    }
}
