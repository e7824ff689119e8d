//! What the fixture has for a jackpot: the wrappers of its scripts, and all its keys compared with its events.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use jackpot::jackpot::error::PlayError;
use jackpot::jackpot::known::Known;
use jackpot::jackpot::ledger::books::Meters;
use jackpot::jackpot::ledger::event::Event;
use jackpot::jackpot::ledger::fold::Fold;
use jackpot::jackpot::operate::Operate;
use jackpot::jackpot::scripts::{
    self, Define, Defined, Drawn, EnterEntry, Entered, EntryReply, Fence, Finished, NewJackpot, ScriptError, Snapshot,
    Wanted,
};
use jackpot::jackpot::view::{View, Views};
use jackpot::store::Store;
use jackpot::store::keys::{JackpotKeys, StreamKeys};
use jackpot_api::jackpot::Status;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::cycle::{Cycles, Preparing, rules_text};
use jackpot_core::jackpot::definition::Definition;
use jackpot_core::jackpot::epoch::Opening;
use jackpot_core::jackpot::record::Record;
use jackpot_core::mark::Mark;
use jackpot_core::secret::MasterSecret;

use crate::support::fixture::{Capability, Fields, Fixture};
pub use crate::support::given::*;
use crate::support::prelude::*;

/// What the fixture has for a jackpot.
pub struct Jackpot {
    pub keys: JackpotKeys,
    pub operate: Operate,
}

pub type JackpotFixture = Fixture<Jackpot>;

impl Capability for Jackpot {
    type Event = Event;
    const STEM: &'static str = "t";

    fn new(id: &Id, store: &Store) -> Self {
        let views = Arc::new(Views::new(store.clone(), MasterSecret::new(SECRET)));
        Self {
            keys: JackpotKeys::new(id),
            // Ids are forgotten only when a test says so.
            operate: Operate::new(store.clone(), views).remembering(0),
        }
    }

    fn stream_keys(&self) -> StreamKeys<'_> {
        self.keys.stream()
    }

    /// As [`document`], changed by `change`.
    async fn create(fixture: &JackpotFixture, change: &Value) {
        fixture.define(change).await;
    }

    fn event(fields: Fields) -> Event {
        Event::parse(&(&fields).into()).expect("readable")
    }
}

impl JackpotFixture {
    /// The same jackpot as `other`, on another server: it draws alike, because epoch 1 has the same nonce.
    pub async fn twin(redis: Arc<TestRedis>, other: &Self, change: &Value) -> Self {
        let fixture = Self::named(redis, other.id.clone()).await;
        let opening = Opening {
            nonce: other.field("nonce").await,
            secret_id: other.field("secret").await,
            commitment: other.field("commitment").await,
        };
        let history: String = other.field("history").await;
        let own = definition(document(fixture.id.as_str(), change));
        let fence = Fence {
            known: Mark::ZERO,
            epoch: 1,
            commitment: opening.commitment.clone(),
            definition: String::new(),
            prepared: Cycles::of("", &rules_text(&own)).prepared(&Preparing {
                jackpot: &fixture.id,
                secrets: &fixture.operate.views.secrets,
                nonce: [7; 16],
                renews: None,
                following: 1,
                now: 0,
            }),
        };
        let by = operator();
        let wish = Define {
            definition: &own,
            wanted: Wanted::Absent,
            last_version: None,
            nonce: "twin",
            history: &history,
            by: &by,
        };
        let (_, defined) = scripts::define(
            &fixture.store,
            &fixture.keys,
            &fence,
            &wish,
            &NewJackpot {
                status: Status::Open,
                opening,
                retention_s: 0,
            },
        )
        .await
        .expect("a reply");
        assert_eq!(defined, Defined::Created(1));
        fixture
    }

    pub async fn define(&self, change: &Value) {
        let definition = definition(document(self.id.as_str(), change));
        self.operate
            .define(&self.id, &definition, Wanted::Any, Status::Open, &operator())
            .await
            .expect("defined");
    }

    /// What an instance knows that has just read the jackpot.
    pub async fn fresh(&self) -> (Arc<Known>, Arc<View>) {
        self.operate.views.refresh(&self.id).await.expect("readable")
    }

    pub async fn enter(&self, entries: &[EnterEntry]) -> Entered {
        let (known, view) = self.fresh().await;
        self.enter_as(&known.fence(&view), &view.definition, entries)
            .await
            .expect("a reply")
    }

    pub async fn enter_as(
        &self,
        fence: &Fence,
        definition: &Definition,
        entries: &[EnterEntry],
    ) -> Result<Entered, ScriptError> {
        scripts::enter(&self.store, &self.keys, fence, definition, entries).await
    }

    /// Enters one entry, which must be taken; returns its record.
    pub async fn take(&self, entry_id: &str, rank: u32) -> Record {
        match self.enter(&[entry(entry_id, rank)]).await.replies.remove(0) {
            EntryReply::Taken(record) => record,
            other => panic!("{other:?}"),
        }
    }

    /// The claim of a redraw, under the definition in force.
    pub async fn claim(&self, entry_id: &str, attempt: u32, rank: u32) -> Finished {
        let (known, view) = self.fresh().await;
        let prize = view.definition.money_prize(rank).expect("a money prize").clone();
        let (fence, tiers) = (known.fence(&view), view.definition.tiers());
        scripts::claim(
            &self.store,
            &self.keys,
            &fence,
            tiers,
            drawn(entry_id, attempt, rank),
            &prize,
        )
        .await
        .expect("a reply")
    }

    pub async fn finish(&self, entry_id: &str, attempt: u32) -> Finished {
        let (known, view) = self.fresh().await;
        let (fence, tiers) = (known.fence(&view), view.definition.tiers());
        scripts::finish(&self.store, &self.keys, &fence, tiers, entry_id, attempt)
            .await
            .expect("a reply")
    }

    pub async fn status(&self, wanted: Status) {
        self.operate
            .set_status(&self.id, wanted, "a test".to_owned(), &operator())
            .await
            .expect("done");
    }

    pub async fn fund(&self, adjustment_id: &str, amount: u64) {
        let wish = funding(adjustment_id, amount);
        assert!(self.operate.adjust(&self.id, &wish).await.expect("done").now);
    }

    pub async fn snapshot(&self) -> Snapshot {
        self.operate.views.snapshot(&self.id).await.expect("readable")
    }

    /// Pool, reserve and overflow of the first tier.
    pub async fn money(&self) -> (u64, u64, u64) {
        let meter = &self.snapshot().await.meters[0];
        (meter.pool, meter.reserve, meter.overflow)
    }

    /// Rebuilds the jackpot from its events and compares everything with Redis.
    pub async fn assert_rebuilds(&self) {
        self.assert_follows_from(&self.events().await).await;
    }

    /// The same from these events.
    pub async fn assert_follows_from(&self, events: &[Event]) {
        let mut fold = Fold::default();
        for event in events {
            fold.apply(event).expect("follows");
        }
        let snapshot = self.snapshot().await;
        let books = &fold.books;
        let state = (
            snapshot.mark.n(),
            Some(snapshot.status),
            snapshot.version,
            snapshot.last_version,
            (snapshot.epoch, &snapshot.opening, &snapshot.history),
        );
        let rebuilt = (
            books.n,
            books.status,
            books.version,
            books.last_version,
            (books.epoch, &books.opening, &books.history),
        );
        assert_eq!(rebuilt, state);
        assert_eq!(books.held_hold(), snapshot.hold);
        assert_eq!(books.waiting.map(|v| fold.definitions[&v].clone()), snapshot.waiting);
        for meter in &snapshot.meters {
            let rebuilt = books.meters.get(&meter.tier).copied().unwrap_or_default();
            let units = |value: u64| i64::try_from(value).expect("below 2^53");
            let held = Meters {
                pool_micro: rebuilt.pool_micro,
                reserve_micro: units(meter.remainder_micro) - rebuilt.pool_micro,
                pool: units(meter.pool),
                reserve: units(meter.reserve),
                overflow: units(meter.overflow),
                contributed: units(meter.contributed),
                contributed_micro: units(meter.contributed_micro),
                funded: meter.funded_in_redis,
                paid: units(meter.paid),
                wins: units(meter.wins),
                funded_micro: units(meter.funded_micro),
                reversed: units(meter.reversed),
                reversed_micro: units(meter.reversed_micro),
                transferred_in: units(meter.transferred_in),
                transferred_in_micro: units(meter.transferred_in_micro),
                transferred_out: units(meter.transferred_out),
                transferred_out_micro: units(meter.transferred_out_micro),
                expected: units(meter.expected),
                voided: units(meter.voided),
                ..Meters::default()
            };
            assert_eq!(rebuilt, held);
            assert_eq!(rebuilt.difference_micro(), 0);
        }
        self.assert_records(fold).await;
    }

    /// Compares the raw keys that are not money with the events.
    async fn assert_records(&self, fold: Fold) {
        let books = &fold.books;
        let keys = &self.keys;
        let cycles: Option<String> = self.raw(redis::cmd("HGET").arg(&keys.state).arg("cycles")).await;
        let mut cycles = Cycles::parse(&cycles.unwrap_or_default()).expect("cycles");
        cycles.rows.sort_by(|a, b| a.tier.cmp(&b.tier));
        assert_eq!(books.held_cycles(), cycles);
        let fields = self.state().await;
        assert_eq!(
            (&books.sequence.to_string(), &books.claim_order.to_string()),
            (&fields["seq"], &fields["order"])
        );
        assert_eq!(
            (&books.puts, &books.restores.to_string()),
            (&fields["puts"], &fields["restores"])
        );
        let generation = (
            books.generation.start.to_string(),
            books.generation.opened_ms.to_string(),
            books.generation.version.to_string(),
        );
        assert_eq!(books.generation.letter, fields["gen"]);
        assert_eq!(
            (&generation.0, &generation.1, &generation.2),
            (&fields["gen_start"], &fields["gen_opened"], &fields["gen_version"])
        );
        let (newer, older) = if fields["gen"] == "a" {
            (&keys.seen_a, &keys.seen_b)
        } else {
            (&keys.seen_b, &keys.seen_a)
        };
        let sorted = |records: HashMap<String, String>| records.into_iter().collect::<BTreeMap<_, _>>();
        assert_eq!(sorted(fold.seen), each_by_itself(&self.hash(newer).await));
        assert_eq!(sorted(fold.seen_before), each_by_itself(&self.hash(older).await));
        let definitions = fold
            .definitions
            .into_iter()
            .map(|(version, json)| (version.to_string(), json));
        assert_eq!(
            definitions.collect::<BTreeMap<_, _>>(),
            self.hash(&keys.definitions).await
        );
        let adjustments = fold
            .adjustments
            .into_iter()
            .map(|(id, (digest, at))| (id, format!("{digest} {at}")));
        assert_eq!(
            adjustments.collect::<BTreeMap<_, _>>(),
            self.hash(&keys.adjustments).await
        );
        assert_eq!(fold.epochs, self.operate.epochs(&self.id).await.expect("readable"));
        let pending: Vec<(String, u64)> = self.sorted(&keys.pending).await;
        let pending = pending
            .into_iter()
            .map(|(entry, seq)| (seq, entry))
            .collect::<BTreeMap<_, _>>();
        let rebuilt = books.pending.iter().map(|(seq, p)| (*seq, p.entry_id.clone()));
        assert_eq!(rebuilt.collect::<BTreeMap<_, _>>(), pending);
    }
}

/// Puts a definition; returns whether the jackpot is new.
pub async fn put(fixture: &JackpotFixture, change: &Value, wanted: Wanted) -> Result<bool, PlayError> {
    let definition = definition(document(fixture.id.as_str(), change));
    let put = fixture
        .operate
        .define(&fixture.id, &definition, wanted, Status::Open, &operator())
        .await?;
    Ok(put.created)
}

/// What an attempt drew.
pub fn drawn(entry_id: &str, attempt: u32, rank: u32) -> Drawn<'_> {
    Drawn {
        entry_id,
        attempt,
        rank,
    }
}

/// The field whose rule was broken.
pub fn rule_of(result: Result<impl std::fmt::Debug, PlayError>) -> String {
    match result {
        Err(PlayError::Invalid(wrong)) => wrong[0].field.clone(),
        other => panic!("{other:?}"),
    }
}

/// The records of entries. Those of a run come without the part that they share with their call.
fn each_by_itself(records: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let entries = records.iter().filter(|(id, _)| !id.starts_with(':'));
    let by_itself = |(id, text): (&String, &String)| {
        let Some(call) = text.strip_prefix(':').and_then(|rest| rest.split(' ').next()) else {
            return (id.clone(), text.clone());
        };
        let whole = format!("{text} {}", records[&format!(":{call}")]);
        (id.clone(), Record::parse_whole(&whole).expect("readable").to_string())
    };
    entries.map(by_itself).collect()
}
