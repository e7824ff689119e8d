//! Promise 1 (and 2, 4, 5, 8, 9): random operations on a real Redis, beside a pure model. After every step the test
//! compares every meter and checks the identity. At the end it rebuilds everything from the events.

mod steps;

use jackpot_api::ledger::AdjustmentState;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use jackpot::jackpot::error::PlayError;
use jackpot::jackpot::ledger::event::leaves;
use jackpot::jackpot::reverse::{ReversalWish, Round as Found};
use jackpot::jackpot::scripts::{
    Adjust, Adjusted, Approves, EnterEntry, EntryReply, Given, Refusal, Settle, Snapshot, Stepped, Withdrawn,
    approve_adjustment, enter_despite, settle, withdraw,
};
use jackpot::jackpot::transfer::Transfer;
use jackpot::operator::Operator;
use jackpot_api::jackpot::Status;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::cycle::{CycleRow, CycleSeed, Cycles};
use jackpot_core::jackpot::leaving::Leaving;
use jackpot_core::jackpot::record::{Record, Sent, State};
use jackpot_core::jackpot::reversal::ReversalRecord;
use jackpot_core::jackpot::settlement::{Standing, State as Payout, Step as Taken};
use jackpot_core::jackpot::transfer::Part;
use jackpot_core::secret::MasterSecret;
use jackpot_core::wire::{Field as _, OrDash};
use proptest::test_runner::{TestCaseError, TestRunner};

use crate::jackpot::fixture::{JackpotFixture, SECRET, funding, operator, sent};
use crate::jackpot::model::{Model, Moved, Prize, Round, Rules, Tier, Trigger};
use crate::support::cases;
use crate::support::prelude::*;
use crate::support::redis::Flavour;
use steps::{KEYS, LIMIT, changed, document_of};
pub use steps::{Step, case};

/// Sequences of operations tried, each on a new jackpot.
const CASES: u32 = 60;
/// The second owner.
fn second() -> Operator {
    Operator {
        owner: "second".to_owned(),
        ..operator()
    }
}

/// Tier and kind of each rank.
fn prize(rank: u32) -> (usize, Prize) {
    match rank {
        1 => (0, Prize::All),
        2 => (1, Prize::All),
        3 => (0, Prize::Share(333_333)),
        _ => (1, Prize::Fixed(70)),
    }
}

/// Whether the entries with this id come from the source with a contribution of its own.
fn is_vip(id: u8) -> bool {
    id.is_multiple_of(3)
}

/// An entry of (id, rank, stake).
fn sent_of((id, rank, stake): &(u8, u32, u64)) -> EnterEntry {
    EnterEntry {
        entry_id: format!("e{id}"),
        sent: Sent {
            source: is_vip(*id).then(|| Id::parse("vip").expect("an id")),
            ..sent("p", *stake)
        },
        rank: *rank,
    }
}

/// A transfer that was given: whether back, its id, its parts, and what they are with the tiers that they go to.
struct InTransit {
    back: bool,
    transfer_id: Id,
    parts: Vec<Part>,
    moved: Vec<(usize, Moved)>,
}

struct Case<'a> {
    fixture: &'a JackpotFixture,
    model: Model,
    /// Two definitions, with their rules, and the one that was put last.
    definitions: [(Vec<Rules>, Value); 2],
    put: usize,
    /// The jackpot that transfers go to, and come back from.
    other: &'a JackpotFixture,
    other_model: Model,
    in_transit: Vec<InTransit>,
    /// Whether the clock of Redis jumps between steps. Then no limit is set: what counts in 24 hours is not modelled.
    turns_clock: bool,
    /// What left both jackpots by one owner alone.
    took: [u64; 2],
    /// The record of each id as last answered, by generation.
    newer: HashMap<u8, Record>,
    older: HashMap<u8, Record>,
    /// What each entry was taken with.
    rounds: HashMap<u8, Round>,
    /// What each reversal gave back, by generation.
    reversed: HashMap<u8, ReversalRecord>,
    reversed_before: HashMap<u8, ReversalRecord>,
    /// The keys that cancelled an entry before it came, by generation.
    cancelled: HashMap<u8, Vec<usize>>,
    cancelled_before: HashMap<u8, Vec<usize>>,
    /// Contribution of the jackpot, and of entries of the source `vip`.
    rate: u128,
    vip_rate: u128,
    paused: bool,
}

impl Case<'_> {
    fn known(&self, id: u8) -> Option<&Record> {
        self.newer.get(&id).or_else(|| self.older.get(&id))
    }

    fn observe(&mut self, id: u8, record: Record) {
        let place = if self.older.contains_key(&id) {
            &mut self.older
        } else {
            &mut self.newer
        };
        place.insert(id, record);
    }

    async fn run(&mut self, step: &Step) {
        match step {
            Step::Enter(entries) => self.enter(entries).await,
            Step::Claim(id, rank) => self.claim(*id, *rank).await,
            Step::Define => self.define().await,
            Step::Finish(id) => {
                let was_pending = self.is_pending(*id);
                let ended = self.fixture.finish(&format!("e{id}"), 9).await.record;
                assert_eq!(ended.is_some(), self.known(*id).is_some());
                if let Some(record) = ended {
                    assert!(!matches!(record.state, State::Pending { .. }));
                    self.observe(*id, record);
                    self.settled(was_pending);
                }
            }
            Step::Reverse(id) => self.reverse(*id).await,
            Step::Cancel(id, key) => self.cancel(*id, *key).await,
            Step::Adjust(tier, amount) => self.adjust(*tier, *amount).await,
            Step::Void(tier, part) => self.void(*tier, *part).await,
            Step::Pause => self.set(Status::Paused).await,
            Step::Resume => self.set(Status::Open).await,
            Step::Rotate => self.rotate().await,
            Step::Feed(stake) => self.feed(*stake).await,
            Step::Give { back, tiers } => self.give(*back, tiers).await,
            Step::Receive { newest } => self.receive(*newest).await,
        }
    }

    fn is_pending(&self, id: u8) -> bool {
        self.known(id)
            .is_some_and(|record| matches!(record.state, State::Pending { .. }))
    }

    fn has_pending(&self) -> bool {
        let mut known = self.newer.values().chain(self.older.values());
        known.any(|record| matches!(record.state, State::Pending { .. }))
    }

    /// The waiting definition comes into force if nothing is pending and its caps hold the pools.
    fn apply_if_fits(&mut self) {
        let fits = self.model.waiting.as_ref().is_some_and(|rules| self.model.fits(rules));
        if fits && !self.has_pending() {
            self.model.apply(None);
        }
    }

    /// After an entry has its outcome: of a paused jackpot the last one counts.
    fn settled(&mut self, was_pending: bool) {
        if was_pending && self.paused {
            self.apply_if_fits();
        }
    }

    async fn define(&mut self) {
        self.put = 1 - self.put;
        let (rules, change) = &self.definitions[self.put];
        self.fixture.define(change).await;
        let holds = |tier: &Tier| {
            let micro = tier.pool_micro + tier.reserve_micro;
            tier.pool + tier.reserve + tier.overflow + micro > 0
        };
        let is_live = self.has_pending() || (!self.paused && self.model.tiers.iter().any(holds));
        let must_wait = is_live || !self.model.fits(rules);
        self.model.waiting = Some(rules.clone());
        if !must_wait || self.model.rules == *rules {
            self.model.apply(None);
        }
    }

    async fn feed(&mut self, stake: u64) {
        self.other.status(Status::Open).await;
        let one = EnterEntry {
            entry_id: TestRedis::id("f"),
            sent: sent("p", stake),
            rank: 0,
        };
        let entered = self.other.enter(&[one]).await;
        match (&entered.replies[0], self.other_model.enter(stake.into(), self.rate)) {
            (EntryReply::Taken(record), Some(_)) => expect_outcome(&mut self.other_model, record, 0),
            (EntryReply::NotTaken, None) => {}
            other => panic!("{other:?}"),
        }
    }

    /// Looks, makes room and gives, as the service does. The money is in transit then.
    async fn give(&mut self, back: bool, tiers: &[Option<usize>; 2]) {
        let names = ["grand", "mini"].map(|name| Id::parse(name).expect("an id"));
        let chosen: Vec<_> = (0..2).filter_map(|from| Some((from, tiers[from]?))).collect();
        if chosen.is_empty() {
            return;
        }
        let (source, target) = if back {
            self.other.status(Status::Paused).await;
            (self.other, self.fixture)
        } else {
            (self.fixture, self.other)
        };
        let mut wish = Transfer {
            transfer_id: Id::parse(&TestRedis::id("t")).expect("an id"),
            to: target.id.clone(),
            tiers: chosen
                .iter()
                .map(|(from, to)| (names[*from].clone(), names[*to].clone()))
                .collect(),
            reason: "a test".to_owned(),
            is_approval: false,
        };
        let mut by = operator();
        let looked = source
            .operate
            .give(&source.id, &wish, None, &by)
            .await
            .expect("a reply");
        let has_pending = !back && self.has_pending();
        if !back && !self.paused {
            return assert_eq!(looked, Given::Status(Status::Open));
        }
        if has_pending {
            return assert_eq!(looked, Given::Pending);
        }
        let from_model = if back { &self.other_model } else { &self.model };
        if !from_model.can_give(chosen.iter().map(|(from, _)| *from)) {
            return assert_eq!(looked, Given::TooLarge);
        }
        let Given::Holds(mut holds) = looked else {
            panic!("{looked:?}");
        };
        let parts = holds.parts.clone();
        let (took, leaving) = (&mut self.took[usize::from(back)], leaves(&parts));
        assert_eq!(holds.waits, !self.turns_clock && *took + leaving >= LIMIT);
        if holds.waits {
            let held = source.operate.give(&source.id, &wish, Some(&holds), &by).await;
            assert!(matches!(held, Ok(Given::Held { now: true, .. })), "{held:?}");
            (wish.is_approval, by) = (true, second());
            let approved = source.operate.give(&source.id, &wish, None, &by).await;
            let Ok(Given::Holds(approved)) = approved else {
                panic!("it does not wait: {approved:?}");
            };
            assert_eq!((&approved.parts, approved.waits), (&parts, false));
            holds = approved;
        }
        let (from_model, to_model) = if back {
            (&mut self.other_model, &mut self.model)
        } else {
            (&mut self.model, &mut self.other_model)
        };
        let moved: Vec<_> = chosen.iter().map(|(from, to)| (*to, from_model.holds(*from))).collect();
        assert_eq!(
            parts.iter().map(moved_of).collect::<Vec<_>>(),
            moved.iter().map(|part| part.1).collect::<Vec<_>>()
        );
        let room = source.operate.expect(&source.id, &wish, &holds, &by).await;
        if !to_model.expect(&moved) {
            assert!(matches!(room, Err(PlayError::AmountTooLarge)), "{room:?}");
            return;
        }
        room.expect("room");
        for (from, _) in &chosen {
            from_model.give(*from);
        }
        let given = source
            .operate
            .give(&source.id, &wish, Some(&holds), &by)
            .await
            .expect("a reply");
        let done = Given::Done {
            now: true,
            parts: parts.clone(),
        };
        assert_eq!(given, done);
        *took += if wish.is_approval { 0 } else { leaving };
        self.in_transit.push(InTransit {
            back,
            transfer_id: wish.transfer_id,
            parts,
            moved,
        });
    }

    async fn receive(&mut self, newest: bool) {
        let at = if newest {
            self.in_transit.len().wrapping_sub(1)
        } else {
            0
        };
        if at >= self.in_transit.len() {
            return;
        }
        let one = self.in_transit.remove(at);
        let (source, target, model) = if one.back {
            (self.other, self.fixture, &mut self.model)
        } else {
            (self.fixture, self.other, &mut self.other_model)
        };
        for (tier, moved) in one.moved {
            model.receive(tier, moved);
        }
        for now in [true, false] {
            let parts = one.parts.text();
            let receiving = target.operate.receive(&target.id, &source.id, &one.transfer_id, &parts);
            let received = receiving.await;
            assert_eq!(received.expect("received"), now, "once");
        }
    }

    async fn enter(&mut self, entries: &[(u8, u32, u64)]) {
        let all = entries.iter().map(sent_of).collect::<Vec<_>>();
        let entered = self.fixture.enter(&all).await;
        let mut refusal = self.paused.then_some(Refusal::Paused);
        let mut overruled = Vec::new();
        for (&(id, rank, stake), reply) in entries.iter().zip(entered.replies) {
            let seen = self.known(id).cloned();
            match (seen, reply) {
                (Some(record), reply) => assert_eq!(reply, EntryReply::Seen(record)),
                (None, EntryReply::Cancelled(cancels)) => {
                    let keys = self.cancelled_by(id).expect("it was cancelled");
                    let binds = |key: &usize| *key == 0 || !is_vip(id);
                    if !keys.iter().any(binds) && !self.paused {
                        overruled.push(((id, rank, stake), cancels));
                    }
                }
                (None, reply) => {
                    assert!(self.cancelled_by(id).is_none(), "{reply:?}");
                    self.expect_taken(id, rank, stake, reply, &mut refusal);
                }
            }
        }
        let is_missed = |id: u8| self.known(id).is_none() && self.cancelled_by(id).is_none();
        let missed = refusal.filter(|_| entries.iter().any(|(id, ..)| is_missed(*id)));
        assert_eq!(entered.refusal, missed);
        for (entry, cancels) in overruled {
            self.enter_despite(entry, &cancels).await;
        }
    }

    /// Expects what the model says of an entry that is new.
    fn expect_taken(&mut self, id: u8, rank: u32, stake: u64, reply: EntryReply, refusal: &mut Option<Refusal>) {
        if refusal.is_some() {
            return assert_eq!(reply, EntryReply::NotTaken);
        }
        let rate = if is_vip(id) { self.vip_rate } else { self.rate };
        let Some(round) = self.model.enter(stake.into(), rate) else {
            assert_eq!(reply, EntryReply::NotTaken);
            *refusal = Some(Refusal::TooLarge);
            return;
        };
        let EntryReply::Taken(record) = reply else {
            panic!("{reply:?}")
        };
        self.expect_pools(&record);
        let waits = self.model.waiting.is_some();
        expect_outcome(&mut self.model, &record, rank);
        if waits && self.model.waiting.is_none() {
            *refusal = Some(Refusal::Stale); // the others were drawn before it came into force
        }
        self.newer.insert(id, record);
        self.rounds.insert(id, round);
    }

    /// Sends an entry again whose cancels are for other sources, as the service does.
    async fn enter_despite(&mut self, entry: (u8, u32, u64), cancels: &str) {
        let (known, view) = self.fixture.fresh().await;
        let (fence, definition) = (known.fence(&view), &view.definition);
        let (store, keys) = (&self.fixture.store, &self.fixture.keys);
        let entered = enter_despite(store, keys, &fence, definition, &sent_of(&entry), cancels).await;
        let reply = entered.expect("a reply").replies.remove(0);
        if let (EntryReply::Seen(record), Some(known)) = (&reply, self.known(entry.0)) {
            return assert_eq!(record, known);
        }
        self.expect_taken(entry.0, entry.1, entry.2, reply, &mut None);
        if self.known(entry.0).is_some() {
            self.cancelled.remove(&entry.0);
            self.cancelled_before.remove(&entry.0);
        }
    }

    /// The keys that cancelled an entry before it came.
    fn cancelled_by(&self, id: u8) -> Option<&Vec<usize>> {
        self.cancelled.get(&id).or_else(|| self.cancelled_before.get(&id))
    }

    async fn cancel(&mut self, id: u8, key: usize) {
        if self.known(id).is_some() {
            return;
        }
        let (entry_id, by) = (format!("e{id}"), operator());
        let wish = ReversalWish {
            entry_id: &entry_id,
            reversal_id: &Id::parse(&format!("r{id}")).expect("an id"),
            reason: "a test",
            by: &Operator {
                who: KEYS[key].to_owned(),
                ..by
            },
            operates: false,
        };
        let nothing = async || Ok::<Option<Found>, PlayError>(None);
        let refused = self.fixture.operate.reverse(&self.fixture.id, &wish, nothing).await;
        assert!(matches!(refused, Err(PlayError::EntryNotFound(_))), "{refused:?}");
        let mut keys = self.cancelled_by(id).cloned().unwrap_or_default();
        if !keys.contains(&key) {
            keys.push(key);
            self.cancelled.insert(id, keys);
        }
    }

    fn expect_pools(&self, record: &Record) {
        let pools = record
            .contributions
            .iter()
            .map(|c| u128::from(c.pool))
            .collect::<Vec<_>>();
        assert_eq!(pools, self.model.tiers.iter().map(|t| t.pool).collect::<Vec<_>>());
    }

    async fn claim(&mut self, id: u8, rank: u32) {
        let before = self.known(id).cloned();
        let finished = self.fixture.claim(&format!("e{id}"), 1, rank).await;
        let Some(before) = before else {
            assert_eq!(finished.record, None);
            return;
        };
        let record = finished.record.expect("remembered");
        let refused = before.refusals().iter().any(|r| r.rank == rank);
        if refused || !matches!(before.state, State::Pending { .. }) {
            assert_eq!(record, before);
        } else {
            expect_claim(&mut self.model, &record, rank);
        }
        let is_settled = self.is_pending(id) && !matches!(record.state, State::Pending { .. });
        self.observe(id, record);
        self.settled(is_settled);
    }

    /// Cancels the round of an entry without a prize. Of others the service does not ask the script.
    async fn reverse(&mut self, id: u8) {
        let known = self.known(id);
        if !known.is_some_and(|record| matches!(record.state, State::Lost | State::Ended { .. })) {
            return;
        }
        if let Some(other) = self.reversed.keys().find(|other| **other != id) {
            let reused = self.fixture.reverse(&format!("e{id}"), &format!("r{other}")).await;
            assert!(matches!(reused, Err(PlayError::ReversalIdReused(_))), "{reused:?}");
        }
        let done = self.fixture.reverse(&format!("e{id}"), &format!("r{id}")).await;
        if let Some(before) = self.reversed.get(&id).or_else(|| self.reversed_before.get(&id)) {
            assert_eq!(done.expect("done before"), (false, before.clone()));
            return;
        }
        if self.turns_clock && matches!(done, Err(PlayError::TooLate { .. })) {
            return;
        }
        let Some(expected) = self.model.reverse(self.rounds[&id]) else {
            assert!(matches!(done, Err(PlayError::AmountTooLarge)), "{done:?}");
            return;
        };
        let (now, record) = done.expect("reversed");
        let micro = |units: u64, micro: u64| u128::from(units) * 1_000_000 + u128::from(micro);
        let parts = record.tiers.iter();
        let parts = parts.map(|part| {
            (
                micro(part.amount, part.amount_micro),
                micro(part.uncovered, part.uncovered_micro),
            )
        });
        assert_eq!((now, parts.collect::<Vec<_>>()), (true, expected));
        self.reversed.insert(id, record);
    }

    async fn void(&mut self, tier: usize, part: u32) {
        let held = &self.model.tiers[tier];
        let amount = (held.paid - held.voided) * u128::from(part) / 1_000_000;
        if amount == 0 {
            return;
        }
        let (known, view) = self.fixture.fresh().await;
        let name = ["grand", "mini"][tier];
        let wish = Settle {
            payout_id: &TestRedis::id("payout"),
            seen: known.mark().n(),
            step: Taken::Void,
            before: Payout::VoidRequested,
            after: &Standing::new(Payout::Void),
            tier: &Id::parse(name).expect("an id"),
            amount: u64::try_from(amount).expect("below 2^53"),
            reason: "a test",
            by: &operator(),
        };
        let (fence, tiers) = (known.fence(&view), view.definition.tiers());
        let stepped = settle(&self.fixture.store, &known.keys, &fence, tiers, &wish).await;
        let expected = if self.model.void(tier, amount) {
            Stepped::Done
        } else {
            Stepped::TooLarge
        };
        assert_eq!(stepped.expect("a reply").1, expected);
    }

    async fn adjust(&mut self, tier: usize, amount: i64) {
        if amount == 0 {
            return;
        }
        let id = TestRedis::id("a");
        let base = funding(&id, amount.unsigned_abs());
        let (from, to) = if amount < 0 {
            (Some("pool"), None)
        } else {
            (None, Some("pool"))
        };
        let name = self.fixture.snapshot().await.meters[tier].tier.clone();
        let done = self
            .fixture
            .operate
            .adjust(
                &self.fixture.id,
                &Adjust {
                    tier: name,
                    from,
                    to,
                    ..base
                },
            )
            .await;
        let waits = amount < 0 && !self.turns_clock && self.took[0] + amount.unsigned_abs() >= LIMIT;
        if done
            .as_ref()
            .is_ok_and(|made| waits && made.state == AdjustmentState::Held)
        {
            return self.decide(&id, tier, amount).await;
        }
        if amount < 0 && done.is_ok() {
            self.took[0] += amount.unsigned_abs();
        }
        assert_eq!(done.is_ok(), self.model.adjust(tier, amount.into()), "{done:?}");
        assert!(!waits || done.is_err(), "{done:?}");
    }

    /// Approves or withdraws what waits, which has changed nothing.
    async fn decide(&mut self, id: &str, tier: usize, amount: i64) {
        self.compare_all().await;
        let (id, by) = (Id::parse(id).expect("an id"), second());
        let (known, view) = self.fixture.fresh().await;
        let (store, fence, tiers) = (&self.fixture.store, known.fence(&view), view.definition.tiers());
        if amount % 2 == 0 {
            let withdrawn = withdraw(store, &known.keys, &fence, &Leaving::Adjustment(id), "a test", &by).await;
            return assert_eq!(withdrawn.expect("a reply").1, Withdrawn::Done);
        }
        let wish = Approves {
            id: &id,
            reason: "a test",
            by: &by,
        };
        let approved = approve_adjustment(store, &known.keys, &fence, tiers, &wish).await;
        let approved = approved.expect("a reply").1;
        assert!(matches!(approved, Adjusted::Done { now: true, .. }), "{approved:?}");
        assert!(self.model.adjust(tier, amount.into()));
    }

    async fn set(&mut self, wanted: Status) {
        self.fixture.status(wanted).await;
        let was_paused = std::mem::replace(&mut self.paused, wanted == Status::Paused);
        if self.paused && !was_paused {
            self.apply_if_fits();
        }
    }

    async fn rotate(&mut self) {
        self.fixture
            .operate
            .views
            .refresh(&self.fixture.id)
            .await
            .expect("readable");
        let rotated = self
            .fixture
            .operate
            .rotate_by_retention(&self.fixture.id, 0)
            .await
            .expect("done");
        let held = self.older.values().any(|r| matches!(r.state, State::Pending { .. }));
        let opened = matches!(rotated, Some(jackpot::jackpot::scripts::Rotated::Opened(_)));
        let entries = self.newer.is_empty() && self.older.is_empty();
        let reversals = self.reversed.is_empty() && self.reversed_before.is_empty();
        let idle = entries && reversals && self.cancelled.is_empty() && self.cancelled_before.is_empty();
        assert_eq!(opened, !held && !idle);
        if opened {
            self.older = std::mem::take(&mut self.newer);
            self.reversed_before = std::mem::take(&mut self.reversed);
            self.cancelled_before = std::mem::take(&mut self.cancelled);
        }
    }

    /// Every unit is in one of the two jackpots, was paid out of it, was reversed, or is between them.
    async fn compare_all(&self) {
        compare(&self.model, &self.fixture.snapshot().await);
        compare(&self.other_model, &self.other.snapshot().await);
        compare_cycles(&self.model, self.fixture).await;
        compare_cycles(&self.other_model, self.other).await;
        let tiers = || self.model.tiers.iter().chain(&self.other_model.tiers);
        let between = self
            .in_transit
            .iter()
            .flat_map(|one| &one.moved)
            .map(|(_, moved)| moved.micro());
        assert_eq!(
            tiers().map(|tier| tier.transferred_out_micro).sum::<u128>(),
            tiers().map(|tier| tier.transferred_in_micro).sum::<u128>() + between.sum::<u128>()
        );
    }
}

/// Expects what came of an entry: a hit, else what its rank wins.
fn expect_outcome(model: &mut Model, record: &Record, rank: u32) {
    match (model.hit(), &record.state) {
        (Some(expected), State::MustHit { hit }) => {
            let tier = ["grand", "mini"][expected.tier];
            assert_eq!(
                (
                    hit.tier.as_str(),
                    hit.cycle,
                    u128::from(hit.trigger),
                    u128::from(hit.amount)
                ),
                (tier, expected.cycle.number, expected.cycle.trigger, expected.amount)
            );
            assert_eq!(hit.claim_order, model.claim_order);
        }
        (None, State::Lost) if rank == 0 => {}
        (None, _) if rank > 0 => expect_claim(model, record, rank),
        other => panic!("{other:?}"),
    }
}

/// Expects the outcome of the first claim, or of that of a redraw.
fn expect_claim(model: &mut Model, record: &Record, rank: u32) {
    let (tier, prize) = prize(rank);
    match (model.claim(tier, prize), &record.state) {
        (Some(amount), State::Paid { payout, .. }) => {
            assert_eq!(
                (u128::from(payout.amount), payout.claim_order),
                (amount, model.claim_order)
            );
        }
        (None, State::Pending { refusals, .. }) => assert_eq!(refusals.last().expect("a refusal").rank, rank),
        other => panic!("{other:?}"),
    }
}

/// Triggers of a jackpot's cycles, by the test's secret and the nonce that Redis has.
async fn triggers(fixture: &JackpotFixture) -> Trigger {
    let cycles = cycles_of(fixture).await;
    let id = fixture.id.clone();
    Rc::new(move |tier, number, low, high| {
        let name = Id::parse(["grand", "mini"][tier]).expect("an id");
        let begun = cycles.rows.iter().find(|row| row.tier == name).expect("a cycle");
        let small = |number: u128| OrDash(Some(u64::try_from(number).expect("small")));
        let row = CycleRow {
            cycle: number,
            low: small(low),
            high: small(high),
            ..begun.clone()
        };
        let seed = CycleSeed::derive(&MasterSecret::new(SECRET), &id, &name, number, &row.nonce);
        row.trigger_amount(&seed).expect("an amount").into()
    })
}

/// What Redis holds of cycles; none for a jackpot without a rule.
async fn cycles_of(fixture: &JackpotFixture) -> Cycles {
    let text: Option<String> = fixture
        .raw(redis::cmd("HGET").arg(&fixture.keys.state).arg("cycles"))
        .await;
    text.map_or_else(Cycles::default, |text| Cycles::parse(&text).expect("cycles"))
}

async fn compare_cycles(model: &Model, fixture: &JackpotFixture) {
    let held = cycles_of(fixture).await;
    let open = held
        .rows
        .iter()
        .filter(|row| row.is_open())
        .map(|row| (row.tier.as_str(), row.cycle, row.low.0));
    let tiers = ["grand", "mini"].into_iter().zip(&model.tiers);
    let expected = tiers.filter_map(|(name, tier)| {
        let cycle = tier.cycle?;
        Some((name, cycle.number, u64::try_from(cycle.low).ok()))
    });
    let sorted = |all: &mut Vec<(&str, u64, Option<u64>)>| all.sort_unstable();
    let (mut open, mut expected) = (open.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    sorted(&mut open);
    sorted(&mut expected);
    assert_eq!(open, expected);
}

fn moved_of(part: &Part) -> Moved {
    Moved {
        pool: part.pool.into(),
        pool_micro: part.pool_micro.into(),
        reserve: part.reserve.into(),
        reserve_micro: part.reserve_micro.into(),
        overflow: part.overflow.into(),
    }
}

fn compare(model: &Model, snapshot: &Snapshot) {
    for (meter, tier) in snapshot.meters.iter().zip(&model.tiers) {
        assert_eq!(tier.balance(), 0, "the model itself conserves");
        let shown = [
            meter.pool,
            meter.reserve,
            meter.overflow,
            meter.remainder_micro,
            meter.paid,
            meter.wins,
        ];
        let remainder = tier.pool_micro + tier.reserve_micro;
        assert_eq!(
            shown.map(u128::from),
            [tier.pool, tier.reserve, tier.overflow, remainder, tier.paid, tier.wins]
        );
        let contributed = u128::from(meter.contributed) * 1_000_000 + u128::from(meter.contributed_micro);
        let reversed = u128::from(meter.reversed) * 1_000_000 + u128::from(meter.reversed_micro);
        let micro = |units: u64, micro: u64| u128::from(units) * 1_000_000 + u128::from(micro);
        let came_in = micro(meter.transferred_in, meter.transferred_in_micro);
        let went_out = micro(meter.transferred_out, meter.transferred_out_micro);
        assert_eq!(
            (contributed, reversed, came_in, went_out),
            (
                tier.contributed_micro,
                tier.reversed_micro,
                tier.transferred_in_micro,
                tier.transferred_out_micro,
            )
        );
        assert_eq!(
            [meter.expected, meter.voided].map(u128::from),
            [tier.expected, tier.voided]
        );
        // What is shown as funded is whole units, without transfers and voids.
        let in_redis = i128::from(meter.funded_in_redis) * 1_000_000 + i128::from(meter.funded_micro);
        let signed = |amount: u128| i128::try_from(amount).expect("far below 2^127");
        let funded = in_redis - signed(came_in + (tier.expected + tier.voided) * 1_000_000);
        assert_eq!(
            (funded, i128::from(meter.funded)),
            (tier.funded_micro, tier.funded_micro.div_euclid(1_000_000))
        );
    }
}

async fn try_case(redis: &Arc<TestRedis>, rules: &[Rules], rate: u128, steps: &[Step]) {
    let (fixture, other) = play_both(redis, rules, rate, steps).await;
    fixture.assert_rebuilds().await;
    other.assert_rebuilds().await;
}

/// Plays a case beside the model, and returns the jackpot that the steps name.
pub async fn play(redis: &Arc<TestRedis>, rules: &[Rules], rate: u128, steps: &[Step]) -> JackpotFixture {
    play_both(redis, rules, rate, steps).await.0
}

/// The same with something before each step, which may turn the clock of Redis: then a round may be too old to be cancelled.
pub async fn play_between(
    redis: &Arc<TestRedis>,
    rules: &[Rules],
    rate: u128,
    steps: &[Step],
    before: impl AsyncFnMut(&JackpotFixture, usize),
) -> JackpotFixture {
    play_both_between(redis, rules, rate, steps, true, before).await.0
}

async fn play_both(
    redis: &Arc<TestRedis>,
    rules: &[Rules],
    rate: u128,
    steps: &[Step],
) -> (JackpotFixture, JackpotFixture) {
    play_both_between(redis, rules, rate, steps, false, async |_, _| {}).await
}

async fn play_both_between(
    redis: &Arc<TestRedis>,
    rules: &[Rules],
    rate: u128,
    steps: &[Step],
    turns_clock: bool,
    mut before: impl AsyncFnMut(&JackpotFixture, usize),
) -> (JackpotFixture, JackpotFixture) {
    let change = document_of(rules, rate, turns_clock);
    let fixture = JackpotFixture::on(redis.clone(), &change).await;
    let other = JackpotFixture::on(redis.clone(), &change).await;
    let second = changed(rules);
    let of_second = document_of(&second, rate, turns_clock);
    let vip_rate = 1_000_000 - rate;
    let mut case = Case {
        fixture: &fixture,
        model: Model::new(rules.to_vec(), triggers(&fixture).await),
        definitions: [(rules.to_vec(), change), (second, of_second)],
        put: 0,
        other: &other,
        other_model: Model::new(rules.to_vec(), triggers(&other).await),
        in_transit: Vec::new(),
        turns_clock,
        took: [0, 0],
        newer: HashMap::new(),
        older: HashMap::new(),
        rounds: HashMap::new(),
        reversed: HashMap::new(),
        reversed_before: HashMap::new(),
        cancelled: HashMap::new(),
        cancelled_before: HashMap::new(),
        rate,
        vip_rate,
        paused: false,
    };
    for (place, step) in steps.iter().enumerate() {
        before(&fixture, place).await;
        case.run(step).await;
        case.compare_all().await;
    }
    (fixture, other)
}

#[test]
fn any_sequence_of_operations_keeps_every_unit() {
    try_on(Flavour::Redis);
}

#[test]
fn any_sequence_of_operations_keeps_every_unit_on_valkey() {
    try_on(Flavour::Valkey);
}

fn try_on(flavour: Flavour) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    // The removal of a container needs the runtime, also at the end of this test.
    let _entered = runtime.enter();
    let redis = Arc::new(runtime.block_on(TestRedis::of(flavour)));
    let result = TestRunner::new(cases(CASES)).run(&case(), |(rules, rate, steps)| {
        let tried = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            runtime.block_on(try_case(&redis, &rules, rate, &steps));
        }));
        tried.map_err(|panic| {
            let text = panic
                .downcast_ref::<String>()
                .cloned()
                .unwrap_or_else(|| "a panic".to_owned());
            TestCaseError::fail(text)
        })
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}
