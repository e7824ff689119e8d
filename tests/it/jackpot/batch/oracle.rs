//! The oracle for events of batches. It plays entries one by one through the scripts of single entries, and merges
//! their events into the event of a batch. The results of both must be the same.

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
use jackpot_core::jackpot::document::{Contribution, Document};
use jackpot_core::jackpot::record::{Sent, State};
use jackpot_core::jackpot::split::{Part, split};
use jackpot_core::jackpot::steps::first_rank;
use sha2::{Digest, Sha256};

use crate::jackpot::fixture::JackpotFixture;
use crate::support::fixture::Fields;

/// Plays entries one by one to their ends, under the ids that they would have in a batch. `forced`: what some of them
/// draw and keep.
pub async fn play_singly(fixture: &JackpotFixture, batch_id: &str, sent: &[Sent], forced: &BTreeMap<usize, u32>) {
    let metrics = PlayMetrics::new(std::sync::Arc::new(Metrics::new()));
    let views = std::sync::Arc::clone(&fixture.operate.views);
    let play = crate::support::given::play(&fixture.store, views, metrics, u64::MAX);
    for (index, sent) in (1..).zip(sent) {
        let (_, view) = fixture.fresh().await;
        let entry_id = format!("{batch_id}:{index}");
        let drawn = first_rank(&entry_id, sent, &view.definition, &view.seed);
        let entry = EnterEntry {
            entry_id: entry_id.clone(),
            sent: sent.clone(),
            rank: forced.get(&index).copied().unwrap_or(drawn),
        };
        let EntryReply::Taken(record) = fixture.enter(&[entry]).await.replies.remove(0) else {
            panic!("entry {index} is taken")
        };
        if matches!(record.state, State::Pending { .. }) && !forced.contains_key(&index) {
            play.finish_pending(&fixture.id, &entry_id, record)
                .await
                .expect("finished");
        }
    }
}

/// These events, with those of the batch's entries merged into the event of the batch.
pub fn batched(singles: &[Fields], batch_id: &str) -> Vec<Fields> {
    let mut maker = Maker {
        batch_id: batch_id.to_owned(),
        fold: Fold::default(),
        out: Vec::new(),
        batch: None,
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
}

/// A batch in the making.
struct Whole {
    fields: Fields,
    /// The definition under which the next entry is drawn.
    definition: Definition,
    before: BTreeMap<Id, Meters>,
    block: Vec<String>,
    winners: Vec<String>,
    /// Amounts under the definitions before that one.
    amounts_before: String,
    /// By what entries they are for, as an event has it.
    amounts: BTreeMap<String, String>,
    split: String,
    runs: String,
    claims: String,
    changes: BTreeMap<String, BTreeMap<String, i64>>,
    applied: String,
    begins_run: bool,
}

impl Maker {
    fn add(&mut self, fields: &Fields) {
        let event = Event::parse(&fields.into()).expect("readable");
        let own = |entry_id: &str| entry_id.starts_with(&format!("{}:", self.batch_id));
        let is_own = match &event.kind {
            Kind::Enter(enter) => own(&enter.call.entries[0].entry_id),
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
        let books = &self.fold.books;
        if let Kind::Enter(enter) = &event.kind {
            assert_eq!(enter.call.entries.len(), 1, "one by one");
            let json = &self.fold.definitions[&books.version];
            let document: Document = serde_json::from_str(json).expect("a document");
            let definition = Definition::stored(document).expect("valid");
            let batch = self
                .batch
                .get_or_insert_with(|| Whole::begin(fields, definition.clone(), books.meters.clone()));
            if !batch.applied.is_empty() && batch.split.is_empty() {
                batch.split_before(definition);
            }
            batch.entry(&enter.call.entries[0].sent, &books.meters);
            if !fields["claims"].is_empty() {
                batch.winners.push(batch.block.len().to_string());
            }
        }
        let batch = self.batch.as_mut().expect("begun");
        match &event.kind {
            Kind::Enter(enter) => batch.claims(&fields["claims"], &enter.claims),
            Kind::Claim { claim, .. } => batch.claims(&fields["claims"], std::slice::from_ref(claim)),
            Kind::Finish { sequence, .. } => {
                batch.claims(&format!("{sequence},{},0,none;", fields["attempt"]), &[]);
            }
            _ => unreachable!("an event of an entry"),
        }
        for change in &event.changes {
            let meters = batch.changes.entry(change.tier.to_string()).or_default();
            *meters.entry(change.meter.to_string()).or_default() += change.delta;
        }
        if !fields["applied"].is_empty() {
            batch.applied.clone_from(&fields["applied"]);
        }
        batch.fields.insert("at".to_owned(), fields["at"].clone());
        batch.fields.insert("history".to_owned(), fields["history"].clone());
    }

    fn end_batch(&mut self) {
        let Some(batch) = self.batch.take() else { return };
        let fields = batch.end(&self.batch_id, &self.fold.books.meters);
        self.push(fields);
    }

    fn push(&mut self, mut fields: Fields) {
        fields.insert("n".to_owned(), (self.out.len() + 1).to_string());
        self.out.push(fields);
    }
}

impl Whole {
    fn begin(fields: &Fields, definition: Definition, before: BTreeMap<Id, Meters>) -> Self {
        let names = ["type", "epoch", "version", "first"].into_iter();
        Self {
            fields: names.map(|name| (name.to_owned(), fields[name].clone())).collect(),
            definition,
            before,
            block: Vec::new(),
            winners: Vec::new(),
            amounts_before: String::new(),
            amounts: BTreeMap::new(),
            split: String::new(),
            runs: String::new(),
            claims: String::new(),
            changes: BTreeMap::new(),
            applied: String::new(),
            begins_run: true,
        }
    }

    /// The next entry is drawn under the definition that came into force.
    fn split_before(&mut self, definition: Definition) {
        self.amounts_before = format!("{}|", self.take_amounts());
        self.split = (self.block.len() + 1).to_string();
        self.definition = definition;
    }

    fn take_amounts(&mut self) -> String {
        let amounts = std::mem::take(&mut self.amounts);
        let one = |(of, row): (String, String)| format!("{of}={row};");
        amounts.into_iter().map(one).collect::<Vec<_>>().concat()
    }

    fn entry(&mut self, sent: &Sent, meters: &BTreeMap<Id, Meters>) {
        self.block.push(sent.to_text());
        let part = |part: Part| format!("{},{}", part.units, part.micro);
        let source = sent.source_text();
        let contribution = self.definition.contribution_of(source);
        let mut of = match contribution {
            Contribution::Fixed(_) => "*".to_owned(),
            Contribution::RatePpm(_) => sent.stake.to_string(),
        };
        if let Some((own, _)) = source.and_then(|source| self.definition.own_contribution(source)) {
            of = format!("{of}@{own}");
        }
        let row = split(&self.definition, contribution, sent.stake);
        let row = row
            .iter()
            .map(|amount| format!("{},{}", part(amount.pool), part(amount.reserve)));
        self.amounts.insert(of, row.collect::<Vec<_>>().join("/"));
        if std::mem::take(&mut self.begins_run) {
            let place = |tier: &jackpot_core::jackpot::document::Tier| {
                let held = meters.get(&tier.tier).copied().unwrap_or_default();
                let cap = tier.cap.map_or("-".to_owned(), |cap| cap.to_string());
                format!("{},{},{},{cap}", held.pool, held.pool_micro, held.contributed_micro)
            };
            let places = self.definition.tiers().iter().map(place).collect::<Vec<_>>();
            self.runs = format!("{}{}:{};", self.runs, self.block.len(), places.join("/"));
        }
    }

    fn claims(&mut self, text: &str, claims: &[jackpot::jackpot::ledger::event::Claim]) {
        self.claims.push_str(text);
        self.begins_run |= claims
            .iter()
            .any(|claim| matches!(claim.result, ClaimResult::Paid { .. }));
    }

    /// The record of the batch with these meters.
    fn record(&self, meters: &BTreeMap<Id, Meters>) -> String {
        let totals = self.definition.tiers().iter().map(|tier| {
            let (now, before) = (
                meters.get(&tier.tier).copied().unwrap_or_default(),
                self.before.get(&tier.tier).copied().unwrap_or_default(),
            );
            format!("{}+{}+{}", tier.tier, now.contributed - before.contributed, now.pool)
        });
        let digest = BASE64_URL_SAFE_NO_PAD.encode(&Sha256::digest(self.block.join("\n"))[..16]);
        let winners = if self.winners.is_empty() {
            "-".to_owned()
        } else {
            self.winners.join(",")
        };
        let totals = totals.collect::<Vec<_>>().join(",");
        let (first, count, epoch) = (&self.fields["first"], self.block.len(), &self.fields["epoch"]);
        format!("{first} {count} {digest} {epoch} {totals} {winners}")
    }

    fn end(mut self, batch_id: &str, meters: &BTreeMap<Id, Meters>) -> Fields {
        let record = self.record(meters);
        let amounts = self.take_amounts();
        let amounts = format!("{}{amounts}", self.amounts_before);
        let changed = self.changes.iter().map(|(tier, meters)| {
            let meters = meters.iter().filter(|(_, delta)| **delta != 0);
            let meters = meters
                .map(|(meter, delta)| format!("{meter}:{delta}"))
                .collect::<Vec<_>>();
            (tier, meters)
        });
        let changed = changed.filter(|(_, meters)| !meters.is_empty());
        let changed = changed
            .map(|(tier, meters)| format!("{tier} {};", meters.join(",")))
            .collect::<Vec<_>>()
            .concat();
        let mut fields = self.fields;
        for (name, value) in [
            ("batch", batch_id.to_owned()),
            ("count", self.block.len().to_string()),
            ("block", self.block.join("\n")),
            ("skip", String::new()),
            ("amounts", amounts),
            ("runs", self.runs),
            ("call", String::new()),
            ("claims", self.claims),
            ("meters", changed),
            ("applied", self.applied),
            ("split", self.split),
            ("record", record),
        ] {
            fields.insert(name.to_owned(), value);
        }
        fields
    }
}
