//! What Redis holds of a jackpot, as far as a skip needs it. It is read while others may write: see each part.

use std::collections::{BTreeMap, HashMap};

use jackpot_core::jackpot::adjustment_record::AdjustmentRecord;
use jackpot_core::jackpot::batch_record::BatchRecord;
use jackpot_core::jackpot::epoch::Epoch;
use jackpot_core::jackpot::record::{CallRecord, InRun, Record};
use jackpot_core::mark::Mark;
use redis::cmd;

use crate::scripts::snapshot;
use jackpot_kernel::ledger::stuck::StuckError;
use jackpot_kernel::ledger::stuck::held::{hash, read, scan};
use jackpot_kernel::store::Store;
use jackpot_kernel::store::keys::JackpotKeys;

/// Its small parts, read before a checkpoint: an event up to that checkpoint has done whatever they hold.
#[derive(Debug)]
pub struct Held {
    /// As a view reports it, and `puts`.
    pub(super) state: BTreeMap<String, String>,
    /// Entry ids by sequence.
    pub(super) pending: BTreeMap<u64, String>,
    /// JSON by version.
    pub(super) definitions: BTreeMap<u64, String>,
    pub(super) epochs: BTreeMap<u64, Epoch>,
    /// Digest and time by id.
    pub(super) adjustments: BTreeMap<String, (String, i64)>,
    /// Payouts by the number of their last step, as far as Redis has it.
    pub(super) stepped: BTreeMap<u64, String>,
}

/// The records of entries with certain sequences.
#[derive(Debug, Default)]
pub(super) struct Records {
    /// Entry id and record by sequence.
    pub(super) entries: BTreeMap<u64, (String, String)>,
    /// Fields and records of batches.
    pub(super) batches: Vec<(String, String)>,
}

impl Held {
    pub(super) async fn read(store: &Store, keys: &JackpotKeys) -> Result<Self, StuckError> {
        let pending = sorted(store, &keys.pending).await?.into_iter().collect();
        let stepped = sorted(store, &keys.steps).await?.into_iter();
        let stepped = stepped.filter_map(|(n, member)| Some((n, member.strip_prefix("p!")?.to_owned())));
        let mut state = snapshot(store, keys, Mark::ZERO).await?.held;
        let puts: Option<String> = read(store, cmd("HGET").arg(&keys.state).arg("puts")).await?;
        state.extend(puts.map(|puts| ("puts".to_owned(), puts)));
        let definitions = hash(store, &keys.definitions).await?.into_iter();
        let epochs = hash(store, &keys.epochs).await?.into_iter();
        let adjustments = hash(store, &keys.adjustments).await?.into_iter();
        Ok(Self {
            state,
            pending,
            stepped: stepped.collect(),
            definitions: definitions
                .filter_map(|(v, json)| Some((v.parse().ok()?, json)))
                .collect(),
            epochs: epochs
                .filter_map(|(epoch, text)| {
                    let epoch = epoch.parse().ok()?;
                    Some((epoch, Epoch::parse(epoch, &text)?))
                })
                .collect(),
            adjustments: adjustments
                .filter_map(|(id, text)| {
                    let AdjustmentRecord { digest, at_ms } = AdjustmentRecord::parse(&text).ok()?;
                    Some((id, (digest, at_ms)))
                })
                .collect(),
        })
    }

    pub(super) fn number(&self, field: &str) -> Option<u64> {
        self.state.get(field)?.parse().ok()
    }

    /// The whole record of an entry; `None` when Redis has none.
    pub(super) async fn record(
        &self,
        store: &Store,
        keys: &JackpotKeys,
        entry_id: &str,
    ) -> Result<Option<String>, StuckError> {
        for key in [&keys.seen_a, &keys.seen_b] {
            let text: Option<String> = read(store, cmd("HGET").arg(key).arg(entry_id)).await?;
            let Some(text) = text else { continue };
            let Ok(in_run) = InRun::parse(&text) else {
                return Ok(Some(text));
            };
            let of_call: Option<String> = read(store, cmd("HGET").arg(key).arg(in_run.call.as_str())).await?;
            return Ok(whole(&text, of_call.as_deref()).map(|record| record.to_string()));
        }
        Ok(None)
    }

    /// The whole records of entries with these sequences, from both generations. A record may be newer than the last
    /// look at the stream: then a later event says the same again.
    pub(super) async fn records(
        &self,
        store: &Store,
        keys: &JackpotKeys,
        first: u64,
        last: u64,
    ) -> Result<Records, StuckError> {
        let mut found = Records::default();
        for key in [&keys.seen_a, &keys.seen_b] {
            // First the common records of calls, then the records of the entries that were taken in them.
            let mut calls: HashMap<String, String> = HashMap::new();
            scan(store, key, |name, text| {
                let call = CallRecord::parse(&text).ok().filter(|_| name.starts_with(':'));
                if call.is_some_and(|call| (first..=last).contains(&call.first)) {
                    calls.insert(name, text);
                }
            })
            .await?;
            scan(store, key, |name, text| found.add(name, &text, &calls, first, last)).await?;
        }
        Ok(found)
    }
}

/// The members of a sorted set with their scores.
async fn sorted(store: &Store, key: &str) -> Result<Vec<(u64, String)>, StuckError> {
    let mut scores = cmd("ZRANGE");
    scores.arg(key).arg(0).arg(-1).arg("WITHSCORES");
    let all: Vec<(String, f64)> = read(store, &scores).await?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "sequences and numbers of events are integers below 2^53"
    )]
    let of = |(member, score): (String, f64)| (score as u64, member);
    Ok(all.into_iter().map(of).collect())
}

impl Records {
    fn add(&mut self, name: String, text: &str, calls: &HashMap<String, String>, first: u64, last: u64) {
        if name.starts_with(':') {
            return;
        }
        if name.ends_with(':') {
            if BatchRecord::parse(text).is_ok_and(|record| (first..=last).contains(&record.first)) {
                self.batches.push((name, text.to_owned()));
            }
            return;
        }
        let record = match InRun::parse(text) {
            Ok(in_run) => calls
                .get(in_run.call.as_str())
                .and_then(|of_call| whole(text, Some(of_call))),
            Err(_) => Record::parse(text).ok(),
        };
        if let Some(record) = record.filter(|record| (first..=last).contains(&record.sequence)) {
            self.entries.insert(record.sequence, (name, record.to_string()));
        }
    }
}

/// The record of an entry that was taken in a run, joined with the record of its call.
fn whole(text: &str, of_call: Option<&str>) -> Option<Record> {
    Record::parse_whole(&format!("{text} {}", of_call?)).ok()
}
