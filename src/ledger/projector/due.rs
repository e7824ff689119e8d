//! Which streams a round reads, and how much of them: thousands may have news at once, after the database was away.

use std::time::Duration;

use futures_util::{StreamExt, stream as futures};
use tokio::time::timeout;
use tracing::debug;

use super::ahead::Ahead;
use super::batch::Batch;
use super::rows::Raw;
use super::stream::{Read, Stream};
use super::{AT_ONCE, Projector};
use crate::ids::Id;
use crate::jackpot::scripts::ScriptError;

/// Events of one transaction, over all streams: beyond it the others wait for the next.
const MAX_EVENTS: usize = 4_000;
/// And bytes of them: an event may hold a thousand entries.
const MAX_BYTES: usize = 8 << 20;

/// How long a round waits for one stream, of which a look takes some ten milliseconds: behind a frozen node the streams
/// of the other nodes wait.
const LOOK: Duration = Duration::from_secs(1);

/// How much a round has taken.
#[derive(Default)]
struct Taken {
    events: usize,
    bytes: usize,
}

impl Taken {
    fn add(&mut self, raw: &[Raw]) {
        let texts = raw.iter().flat_map(|raw| &raw.fields);
        self.bytes += texts.map(|(name, value)| name.len() + value.len()).sum::<usize>();
        self.events += raw.len();
    }

    fn is_full(&self) -> bool {
        self.events >= MAX_EVENTS || self.bytes >= MAX_BYTES
    }
}

impl Projector {
    /// What is new in the streams, as batches; and whether there is more than was taken.
    pub(super) async fn read(&mut self, sweep: bool) -> (Vec<(Batch, i64)>, bool) {
        let reads = self.read_due(sweep).await;
        let (mut batches, mut taken, mut more) = (Vec::new(), Taken::default(), !self.left.is_empty());
        for (id, read) in reads {
            match read {
                Ok(Read::Events(raw)) if raw.is_empty() => {}
                Ok(Read::Events(raw)) => {
                    more = true;
                    if taken.is_full() {
                        self.put_back(id, raw);
                        continue;
                    }
                    taken.add(&raw);
                    batches.extend(self.batch(&id, &raw));
                    self.taken_to = Some(id);
                }
                Ok(Read::Lost) => more |= self.lost(&id).await,
                Ok(Read::Broken(reason)) => self.stop(&id, &reason).await,
                // A frozen node is its own trouble; the others go on.
                Err(error) => debug!(jackpot_id = %id, %error, "this jackpot's events can't be read now"),
            }
        }
        (batches, more)
    }

    /// For the next round, which begins with them.
    fn put_back(&mut self, jackpot: Id, events: Vec<Raw>) {
        if let Some(stream) = self.streams.get_mut(&jackpot) {
            let (after, last_n) = (stream.cursor.stream_id.clone(), stream.last_n());
            stream.keep(Ahead {
                jackpot,
                after,
                last_n,
                events,
            });
        }
    }

    /// Looks at the streams in which there may be something new, until a round is full. Whoever comes behind the last
    /// one that was taken is first: a few busy ones would hold up all others for ever.
    async fn read_due(&mut self, sweep: bool) -> Vec<(Id, Result<Read, ScriptError>)> {
        let mut due = self.due(sweep);
        let first = due.partition_point(|stream| Some(&stream.id) <= self.taken_to.as_ref());
        due.rotate_left(first);
        let (mut due, mut taken, mut reads) = (due.into_iter(), Taken::default(), Vec::new());
        while !taken.is_full() {
            let now: Vec<Stream> = due.by_ref().take(AT_ONCE).collect();
            if now.is_empty() {
                break;
            }
            // They are moved out, each to its own look.
            let looks = now.into_iter().map(|mut stream| {
                let known = self.operate.views.known(&stream.id);
                let (store, margin) = (&self.store, self.settings.trim_margin_events);
                async move {
                    let read = timeout(LOOK, stream.read(store, &known.keys, known.mark(), margin)).await;
                    if !matches!(read, Ok(Ok(_))) {
                        stream.rest();
                    }
                    (stream, read)
                }
            });
            let done: Vec<_> = futures::iter(looks).buffered(AT_ONCE).collect().await;
            for (stream, read) in done {
                if let Ok(Ok(Read::Events(raw))) = &read {
                    taken.add(raw);
                }
                if let Ok(read) = read {
                    reads.push((stream.id.clone(), read));
                } else {
                    debug!(jackpot_id = %stream.id, "this jackpot's node does not answer in time");
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

    /// Taken out of the streams, in order.
    fn due(&mut self, sweep: bool) -> Vec<Stream> {
        let (views, left) = (&self.operate.views, std::mem::take(&mut self.left));
        let is_due = |id: &Id, stream: &mut Stream| {
            let known = views.known(id);
            // What is lost is not there at the next look either: now and then will do.
            let news = || !known.is_lost() && known.mark() != stream.mark();
            let more = stream.goes_on_behind(&stream.cursor);
            !stream.rests() && (sweep || more || left.contains(id) || news())
        };
        self.streams.extract_if(.., is_due).map(|(_, stream)| stream).collect()
    }
}
