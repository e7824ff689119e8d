//! The oracle for events of batches: entries are played one by one through the scripts of single entries, and their
//! events are put together as the event of a batch. What is made of both must be the same.

use std::collections::BTreeMap;

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use jackpot::jackpot::ledger::books::Meters;
use jackpot::jackpot::ledger::event::{ClaimResult, Event, Kind};
use jackpot::jackpot::ledger::fold::Fold;
use jackpot::jackpot::metrics::PlayMetrics;
use jackpot::jackpot::scripts::{EnterEntry, EntryReply};
use jackpot::telemetry::Metrics;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::definition::Definition;
use jackpot_core::jackpot::document::Document;
use jackpot_core::jackpot::record::{Sent, State};
use jackpot_core::jackpot::split::{Part, split};
use sha2::{Digest, Sha256};

use crate::jackpot::bench::Bench;

pub type Fields = BTreeMap<String, String>;

/// Plays entries one by one under the ids that they would have in a batch, each to its end; `forced`: what some of
/// them draw, and stay with.
pub async fn play_singly(bench: &Bench, batch_id: &str, sent: &[Sent], forced: &BTreeMap<usize, u32>) {
    let metrics = PlayMetrics::new(std::sync::Arc::new(Metrics::new()));
    let views = std::sync::Arc::clone(&bench.operate.views);
    let play = crate::support::given::play(&bench.store, views, metrics, u64::MAX);
    for (index, sent) in (1..).zip(sent) {
        let (_, view) = bench.fresh().await;
        let entry_id = format!("{batch_id}:{index}");
        let odds = view.definition.odds();
        let drawn = view.seed.rank(&entry_id, sent.client_seed.as_ref(), 0, odds);
        let entry = EnterEntry {
            entry_id: entry_id.clone(),
            sent: sent.clone(),
            rank: forced.get(&index).copied().unwrap_or(drawn),
        };
        let EntryReply::Taken(record) = bench.enter(&[entry]).await.replies.remove(0) else {
            panic!("entry {index} is taken")
        };
        if matches!(record.state, State::Pending { .. }) && !forced.contains_key(&index) {
            play.finish_pending(&bench.id, &entry_id, record)
                .await
                .expect("finished");
        }
    }
}

/// The fields of all events in Redis.
pub async fn stream(bench: &Bench) -> Vec<Fields> {
    let events = &bench.operate.views.registry.known(&bench.id).keys.events;
    let raw: Vec<(String, Fields)> = bench.raw(redis::cmd("XRANGE").arg(events).arg("-").arg("+")).await;
    raw.into_iter().map(|(_, fields)| fields).collect()
}

/// These events with those of a batch's entries put together.
pub fn batched(singles: &[Fields], batch_id: &str) -> Vec<Fields> {
    let mut maker = Maker {
        batch_id: batch_id.to_owned(),
        fold: Fold::default(),
        out: Vec::new(),
        batch: None,
        segment: None,
    };
    for fields in singles {
        maker.add(fields);
    }
    maker.end_batch();
    maker.out
}

struct Maker {
    batch_id: String,
    fold: Fold,
    out: Vec<Fields>,
    batch: Option<Whole>,
    segment: Option<Segment>,
}

/// What the record of the batch needs.
struct Whole {
    first: u64,
    count: u64,
    before: BTreeMap<Id, Meters>,
    block: Vec<String>,
    winners: Vec<String>,
}

struct Segment {
    fields: Fields,
    definition: Definition,
    block: Vec<String>,
    amounts: BTreeMap<u64, String>,
    runs: String,
    claims: String,
    changes: BTreeMap<String, BTreeMap<String, i64>>,
    applied: String,
    begins_run: bool,
}

impl Maker {
    fn add(&mut self, fields: &Fields) {
        let event = Event::parse(fields).expect("readable");
        let own = |entry_id: &str| entry_id.starts_with(&format!("{}:", self.batch_id));
        let is_own = match &event.kind {
            Kind::Enter { entries, .. } => own(&entries[0].entry_id),
            Kind::Claim { entry_id, .. } | Kind::Finish { entry_id, .. } => own(entry_id) && self.batch.is_some(),
            _ => false,
        };
        if is_own {
            self.take(fields, &event);
        } else {
            self.end_batch();
            self.push(fields.clone());
        }
        self.fold.apply(&event).expect("follows");
    }

    fn take(&mut self, fields: &Fields, event: &Event) {
        if self.segment.as_ref().is_some_and(|segment| !segment.applied.is_empty()) {
            self.end_segment(String::new());
        }
        let books = &self.fold.books;
        if let Kind::Enter { entries, first, .. } = &event.kind {
            assert_eq!(entries.len(), 1, "one by one");
            let batch = self.batch.get_or_insert_with(|| Whole {
                first: *first,
                count: 0,
                before: books.meters.clone(),
                block: Vec::new(),
                winners: Vec::new(),
            });
            batch.count += 1;
            let segment = self.segment.get_or_insert_with(|| {
                let json = &self.fold.definitions[&books.version];
                let document: Document = serde_json::from_str(json).expect("a document");
                let mut head = Fields::new();
                for name in ["type", "epoch", "version", "first"] {
                    head.insert(name.to_owned(), fields[name].clone());
                }
                head.insert("from".to_owned(), batch.count.to_string());
                Segment::new(head, Definition::stored(document).expect("valid"))
            });
            let sent = &entries[0].sent;
            segment.entry(batch.count, sent, &books.meters);
            segment.begins_run = false;
            batch.block.push(sent.to_text());
            if !fields["claims"].is_empty() {
                batch.winners.push(batch.count.to_string());
            }
        }
        let segment = self.segment.as_mut().expect("begun");
        match &event.kind {
            Kind::Enter { claims, .. } => segment.claims(&fields["claims"], claims),
            Kind::Claim { claim, .. } => segment.claims(&fields["claims"], std::slice::from_ref(claim)),
            Kind::Finish { sequence, .. } => {
                segment.claims(&format!("{sequence},{},0,none,-,0,0,0;", fields["attempt"]), &[]);
            }
            _ => unreachable!("an event of an entry"),
        }
        for change in &event.changes {
            let meters = segment.changes.entry(change.tier.to_string()).or_default();
            *meters.entry(change.meter.clone()).or_default() += change.delta;
        }
        segment.applied.clone_from(&fields["applied"]);
        segment.fields.insert("at".to_owned(), fields["at"].clone());
        segment.fields.insert("history".to_owned(), fields["history"].clone());
    }

    fn end_batch(&mut self) {
        let Some(batch) = self.batch.take() else { return };
        let books = &self.fold.books;
        let segment = self.segment.as_ref().expect("begun");
        let totals = segment.definition.tiers().iter().map(|tier| {
            let (now, before) = (
                books.meters.get(&tier.tier).copied().unwrap_or_default(),
                batch.before.get(&tier.tier).copied().unwrap_or_default(),
            );
            format!("{}+{}+{}", tier.tier, now.contributed - before.contributed, now.pool)
        });
        let digest = BASE64_URL_SAFE_NO_PAD.encode(&Sha256::digest(batch.block.join("\n"))[..16]);
        let winners = if batch.winners.is_empty() {
            "-".to_owned()
        } else {
            batch.winners.join(",")
        };
        let totals = totals.collect::<Vec<_>>().join(",");
        let (first, count, epoch) = (batch.first, batch.count, books.epoch);
        self.end_segment(format!("{first} {count} {digest} {epoch} {totals} {winners}"));
    }

    fn end_segment(&mut self, record: String) {
        let segment = self.segment.take().expect("begun");
        let mut fields = segment.fields;
        let meters = segment.changes.iter().map(|(tier, meters)| {
            let meters = meters.iter().filter(|(_, delta)| **delta != 0);
            let meters = meters
                .map(|(meter, delta)| format!("{meter}:{delta}"))
                .collect::<Vec<_>>();
            (tier, meters)
        });
        let meters = meters.filter(|(_, meters)| !meters.is_empty());
        let meters = meters
            .map(|(tier, meters)| format!("{tier} {};", meters.join(" ")))
            .collect::<Vec<_>>()
            .concat();
        let amounts = segment
            .amounts
            .iter()
            .map(|(stake, row)| format!("{stake}={row};"))
            .collect::<Vec<_>>()
            .concat();
        let tiers = segment
            .definition
            .tiers()
            .iter()
            .map(|tier| tier.tier.as_str())
            .collect::<Vec<_>>();
        for (name, value) in [
            ("batch", self.batch_id.clone()),
            ("count", segment.block.len().to_string()),
            ("block", segment.block.join("\n")),
            ("amounts", amounts),
            ("tiers", tiers.join(",")),
            ("runs", segment.runs),
            ("claims", segment.claims),
            ("meters", meters),
            ("applied", segment.applied),
            ("record", record),
        ] {
            fields.insert(name.to_owned(), value);
        }
        self.push(fields);
    }

    fn push(&mut self, mut fields: Fields) {
        fields.insert("n".to_owned(), (self.out.len() + 1).to_string());
        self.out.push(fields);
    }
}

impl Segment {
    fn new(fields: Fields, definition: Definition) -> Self {
        Self {
            fields,
            definition,
            block: Vec::new(),
            amounts: BTreeMap::new(),
            runs: String::new(),
            claims: String::new(),
            changes: BTreeMap::new(),
            applied: String::new(),
            begins_run: true,
        }
    }

    fn entry(&mut self, index: u64, sent: &Sent, meters: &BTreeMap<Id, Meters>) {
        self.block.push(sent.to_text());
        let part = |part: Part| format!("{},{}", part.units, part.micro);
        let row = split(&self.definition, sent.stake);
        let row = row
            .iter()
            .map(|amount| format!("{},{}", part(amount.pool), part(amount.reserve)));
        self.amounts.insert(sent.stake.get(), row.collect::<Vec<_>>().join("/"));
        if self.begins_run {
            let place = |tier: &jackpot_core::jackpot::document::Tier| {
                let held = meters.get(&tier.tier).copied().unwrap_or_default();
                let cap = tier.cap.map_or("-".to_owned(), |cap| cap.to_string());
                format!("{},{},{},{cap}", held.pool, held.pool_micro, held.contributed_micro)
            };
            let places = self.definition.tiers().iter().map(place).collect::<Vec<_>>();
            self.runs = format!("{}{index} {};", self.runs, places.join("/"));
        }
    }

    fn claims(&mut self, text: &str, claims: &[jackpot::jackpot::ledger::event::Claim]) {
        self.claims.push_str(text);
        self.begins_run |= claims
            .iter()
            .any(|claim| matches!(claim.result, ClaimResult::Paid { .. }));
    }
}
