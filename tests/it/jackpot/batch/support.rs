//! Fixtures of the tests of batches.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use jackpot::jackpot::batch::{Batch, Drawn, Entries};
use jackpot::jackpot::metrics::PlayMetrics;
use jackpot::jackpot::play::Play;
use jackpot::jackpot::scripts::{self, BatchCall, BatchReply, FoundBatch, ScriptError};
use jackpot::jackpot::segment::{Segment, Step};
use jackpot::telemetry::Metrics;
use jackpot_core::ids::BatchId;
use jackpot_core::jackpot::added::Splits;
use jackpot_core::jackpot::definition::Definition;
use jackpot_core::jackpot::record::Sent;

use crate::jackpot::fixture::JackpotFixture;

/// Plays on this jackpot's Redis.
pub fn play(fixture: &JackpotFixture, max_backlog: u64) -> Play {
    let metrics = PlayMetrics::new(Arc::new(Metrics::new()));
    let views = Arc::clone(&fixture.operate.views);
    crate::support::given::play(&fixture.store, views, metrics, max_backlog)
}

pub fn batch(batch_id: &str, sent: &[Sent]) -> Arc<Batch> {
    Arc::new(Batch {
        batch_id: BatchId::parse(batch_id).expect("an id"),
        entries: Entries::of(sent).expect("1 to 10,000"),
    })
}

/// The entries at `positions` as a caller would send them, but with attempts that the test decides: by index (from 1),
/// such as `"0 1;1 0;"`. Each loser is a separate step, because the caller decides how losers are combined.
pub fn drawn(
    batch: &Batch,
    positions: Range<usize>,
    definition: &Definition,
    stamp: &str,
    prizes: &[(usize, &str)],
) -> Drawn {
    let prizes = prizes.iter().copied().collect::<BTreeMap<_, _>>();
    let mut drawn = Drawn {
        stamp: stamp.to_owned(),
        positions: positions.clone(),
        segment: Segment {
            ranks: vec![1, 2, 3],
            ..Segment::default()
        },
    };
    let segment = &mut drawn.segment;
    let mut splits = Splits::new(definition);
    for i in positions {
        let stake = batch.entries.stake(i);
        let row = splits.of(stake, batch.entries.source(i));
        let sent = batch.entries.sent(i);
        segment.rows.push(splits.rows()[row].clone());
        segment.steps.push(Step {
            entries: 1,
            row: segment.rows.len() - 1,
            winner: prizes.get(&(i + 1)).map_or_else(String::new, |attempts| {
                format!("{}|{}|{attempts}", sent.fingerprint(), sent.to_text())
            }),
        });
    }
    segment.amounts = splits.into_text();
    drawn
}

/// One call of the script, by an instance that has just read.
pub async fn call(
    fixture: &JackpotFixture,
    batch: &Batch,
    segments: &[(&Drawn, &Definition)],
) -> Result<BatchReply, ScriptError> {
    let (known, view) = fixture.fresh().await;
    let call = BatchCall {
        batch,
        fingerprint: &batch.fingerprint(),
        segments,
        cancels: "",
    };
    let reply = scripts::enter_batch(&fixture.store, &known.keys, &known.fence(&view), &call).await?;
    Ok(reply.1)
}

/// One call for a batch of one segment under the definition in force.
pub async fn call_whole(fixture: &JackpotFixture, batch: &Batch, prizes: &[(usize, &str)]) -> BatchReply {
    let (_, view) = fixture.fresh().await;
    let all = 0..batch.entries.len();
    let drawn = drawn(batch, all, &view.definition, &view.stamp, prizes);
    call(fixture, batch, &[(&drawn, &view.definition)])
        .await
        .expect("a reply")
}

pub fn taken(reply: BatchReply) -> FoundBatch {
    match reply {
        BatchReply::Found(found) if !found.replayed => found,
        other => panic!("{other:?}"),
    }
}
