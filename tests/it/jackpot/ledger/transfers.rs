//! Transfers with the ledger: their rows and postings, callers that die between two steps, two instances, and a Redis that
//! is rebuilt while money is in transit.

use jackpot_api::ledger::TransferState;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::mem::swap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use jackpot::jackpot::error::PlayError;
use jackpot::jackpot::ledger::postings;
use jackpot::jackpot::ledger::queries::Queries;
use jackpot::jackpot::ledger::queries::transfers::TransferFilters;
use jackpot::jackpot::metrics::PlayMetrics;
use jackpot::jackpot::operate::Operate;
use jackpot::jackpot::scripts::Given;
use jackpot::jackpot::transfer::worker::Transfers as Worker;
use jackpot::jackpot::transfer::{Transfer, Transferred};
use jackpot::jackpot::view::Meter;
use jackpot::ledger::kind::Subjects as _;
use jackpot::proof::verify::Place;
use jackpot::stopping::Stopping;
use jackpot_api::jackpot::Status;
use jackpot_core::ids::Id;
use jackpot_core::wire::Field as _;

use crate::jackpot::fixture::{JackpotFixture, operator, tier};
use crate::jackpot::ledger::cycles::exported;
use crate::jackpot::ledger::fixture::JackpotLedger;
use crate::jackpot::must_hit::{by_amount, cycles, enter, expected, hit, open, play_apart, seed};
use crate::jackpot::transfer::held;
use crate::proof::names;
use crate::proof::story::Story;
use crate::support::fixture::Fixture;
use crate::support::prelude::*;
use crate::support::shifted_clock::ShiftedClock;

on_both_databases!(
    a_transfer_reaches_its_tables_and_its_postings_balance,
    a_transfer_whose_caller_died_after_any_step_is_ended,
    two_instances_drive_one_transfer,
    a_lost_redis_is_rebuilt_while_money_is_in_transit,
    what_redis_lost_of_a_transfer_is_done_again_once,
    transfers_that_stay_in_transit_hold_up_no_other,
    cycles_end_where_money_leaves_and_no_transfer_raises_a_pool_above_low,
    the_worker_ends_a_row_that_was_written_after_the_money_came_in,
    room_that_nobody_uses_ends,
);

const DEADLINE: Duration = Duration::from_mins(1);

/// A ledger, and two jackpots beside its own one: a paused one that gives and one that receives.
struct Moving {
    ledger: JackpotLedger,
    source: JackpotFixture,
    target: JackpotFixture,
}

impl Moving {
    async fn with(db: LedgerDb) -> Self {
        let rules = json!({
            "contribution": {"rate_ppm": 15_001},
            "tiers": [tier("grand", 1_000_000, &json!({"reserve_ppm": 333_333, "cap": 20}))],
            "odds": {"total": 1, "ranks": []},
        });
        let moving = Self::of(db, &rules, &rules).await;
        for i in 0..31 {
            moving.source.take(&format!("e{i}"), 0).await;
        }
        moving.target.take("e", 0).await;
        moving.source.status(Status::Paused).await;
        moving.learn().await;
        moving.ledger.project().await;
        moving
    }

    /// Two open jackpots with these definitions.
    async fn of(db: LedgerDb, source: &Value, target: &Value) -> Self {
        let ledger = JackpotLedger::with(db, &json!({})).await;
        let moving = Self {
            source: JackpotFixture::on(Arc::clone(&ledger.redis), source).await,
            target: JackpotFixture::on(Arc::clone(&ledger.redis), target).await,
            ledger,
        };
        moving.learn().await;
        moving
    }

    /// The instance of the ledger knows both, also after a restore.
    async fn learn(&self) {
        let registry = self.ledger.kind.registry();
        let ids = [self.source.id.clone(), self.target.id.clone()];
        registry.add_to_index(&ids).await.expect("in the index");
        for id in &ids {
            self.operate().views.refresh(id).await.expect("readable");
        }
    }

    /// What the ledger's own instance operates with.
    fn operate(&self) -> &Operate {
        &self.ledger.kind.operate
    }

    fn wish(&self, transfer_id: &str) -> Transfer {
        let grand = Id::parse("grand").expect("an id");
        Transfer {
            transfer_id: Id::parse(transfer_id).expect("an id"),
            to: self.target.id.clone(),
            tiers: vec![(grand.clone(), grand)],
            reason: "a test".to_owned(),
            is_approval: false,
        }
    }

    /// The call of an instance, while nobody projects.
    async fn call(&self, operate: &Operate, transfer_id: &str) -> Result<Transferred, PlayError> {
        let (sql, wish) = (&self.ledger.ledger.sql, self.wish(transfer_id));
        operate.transfer(sql, &self.source.id, &wish, &operator()).await
    }

    /// The same while a projector reads.
    async fn call_with_projector(&self, operate: &Operate, transfer_id: &str) -> Transferred {
        let mut projector = self.ledger.projector();
        let ended = Cell::new(false);
        let calling = async {
            let done = self.call(operate, transfer_id).await;
            ended.set(true);
            done.expect("transferred")
        };
        let reading = async {
            while !ended.get() {
                projector.catch_up().await;
                tokio::task::yield_now().await;
            }
        };
        let (done, ()) = tokio::join!(calling, reading);
        projector.finish().await;
        done
    }

    /// Gives the money, as a call that dies before it waits.
    async fn give(&self, transfer_id: &str) {
        let (operate, source, by) = (self.operate(), &self.source.id, operator());
        let wish = self.wish(transfer_id);
        let Given::Holds(holds) = operate.give(source, &wish, None, &by).await.expect("looked") else {
            panic!("it was given before");
        };
        operate.expect(source, &wish, &holds, &by).await.expect("room");
        let given = operate.give(source, &wish, Some(&holds), &by).await.expect("given");
        assert!(matches!(given, Given::Done { now: true, .. }), "{given:?}");
    }

    /// The transfers that the source gave, as the ledger lists them.
    async fn listed(&self) -> Vec<(String, TransferState)> {
        let filters = TransferFilters {
            jackpot_id: self.source.id.clone(),
            state: None,
        };
        let queries = Queries::new(self.ledger.ledger.sql.clone(), 7);
        let page = queries.transfers(&filters, None, 10).await.expect("a page");
        page.items.into_iter().map(|row| (row.transfer_id, row.state)).collect()
    }

    /// The worker of an instance that has just started.
    fn worker(&self) -> Worker {
        Worker {
            operate: self.ledger.other_instance().operate,
            sql: self.ledger.ledger.sql.clone(),
            metrics: PlayMetrics::new(self.ledger.metrics.clone()),
        }
    }

    /// Workers of this many instances look at once. Then the ledger has what they did.
    async fn work(&self, instances: usize) {
        let workers: Vec<_> = (0..instances).map(|_| self.worker()).collect();
        for looked in join_all(workers.iter().map(|worker| worker.look(true))).await {
            looked.expect("SQL answers");
        }
        self.ledger.project().await;
        let listed = self.listed().await;
        assert!(
            listed.iter().all(|(_, state)| *state == TransferState::Done),
            "{listed:?}"
        );
    }

    /// A worker runs until nothing is in transit, and ends when the service stops.
    async fn run_worker(&self) {
        let stopping = Stopping::default();
        let worker = tokio::spawn(self.worker().run(stopping.clone()));
        let mut projector = self.ledger.projector();
        eventually(DEADLINE, "nothing is in transit", async || {
            projector.catch_up().await;
            let listed = self.listed().await;
            let is_done = |state: &TransferState| *state == TransferState::Done;
            listed.iter().all(|(_, state)| is_done(state)).then_some(())
        })
        .await;
        projector.finish().await;
        stopping.begin();
        worker.await.expect("the worker ends");
    }

    async fn meter(fixture: &JackpotFixture) -> Meter {
        fixture.snapshot().await.meters.remove(0)
    }

    /// Money of source and target, and what is in transit between them, in millionths.
    async fn money(&self) -> (u64, u64, u64) {
        let (source, target) = (Self::meter(&self.source).await, Self::meter(&self.target).await);
        let moved = |units: u64, micro: u64| units * 1_000_000 + micro;
        let out = moved(source.transferred_out, source.transferred_out_micro);
        let into = moved(target.transferred_in, target.transferred_in_micro);
        (held(&source), held(&target), out - into)
    }

    /// Both are in the ledger as a whole, and Redis is what the ledger says.
    async fn assert_complete(&mut self) {
        for fixture in [&mut self.source, &mut self.target] {
            swap(&mut self.ledger.subject, fixture);
            self.ledger.assert_complete().await;
            let mut projector = self.ledger.projector();
            let reconciled = self.ledger.reconcile(&mut projector).await.clean();
            assert!(reconciled.is_ok(), "{reconciled:?}");
            projector.finish().await;
            swap(&mut self.ledger.subject, fixture);
        }
    }

    /// The exports of both.
    async fn exports(&mut self) -> Vec<Story> {
        let mut all = Vec::new();
        for fixture in [&mut self.source, &mut self.target] {
            swap(&mut self.ledger.subject, fixture);
            all.push(exported(&self.ledger).await);
            swap(&mut self.ledger.subject, fixture);
        }
        all
    }

    /// All postings sum to zero for each event and tier, and for each jackpot to its meters.
    async fn assert_postings(&self) {
        let mut accounts = BTreeMap::<(String, &'static str), i64>::new();
        for row in self.ledger.table("events", "id n moved").await {
            let mut sums = BTreeMap::<Id, i64>::new();
            for posting in postings::parse(&row[2]).expect("postings") {
                let micro = posting.amount * 1_000_000 + posting.micro;
                *sums.entry(posting.tier).or_default() += micro;
                *accounts.entry((row[0].clone(), posting.account.as_str())).or_default() += micro;
            }
            assert!(sums.values().all(|sum| *sum == 0), "{row:?}");
        }
        for fixture in [&self.source, &self.target] {
            let meter = Self::meter(fixture).await;
            let own = |account: &'static str| accounts.get(&(fixture.id.to_string(), account)).copied();
            let own = |account| own(account).unwrap_or_default();
            let micro = |units: u64, micro: u64| i64::try_from(units * 1_000_000 + micro).expect("small");
            let out = micro(meter.transferred_out, meter.transferred_out_micro);
            let into = micro(meter.transferred_in, meter.transferred_in_micro);
            assert_eq!(own("transfers"), out - into);
            assert_eq!(own("funding"), -meter.funded * 1_000_000, "a transfer is no funding");
            let there = own("pool") + own("reserve") + own("overflow") + own("remainder");
            assert_eq!(there, micro(0, held(&meter)));
        }
    }
}

async fn a_transfer_reaches_its_tables_and_its_postings_balance(db: LedgerDb) {
    let mut moving = Moving::with(db).await;
    let (gives, had, _) = moving.money().await;
    assert!(gives % 1_000_000 > 0, "{gives}");
    let operate = moving.operate().clone();
    let first = moving.call_with_projector(&operate, "t").await;
    assert!(first.now, "{first:?}");
    // On a slow machine the call does not wait for the ledger.
    moving.ledger.project().await;
    moving.work(1).await;
    assert_eq!(moving.money().await, (0, had + gives, 0));
    assert_eq!(moving.listed().await, [("t".to_owned(), TransferState::Done)]);
    let again = moving.call(&operate, "t").await.expect("a repeat");
    assert!(!again.now && again.state == TransferState::Done, "{again:?}");
    assert_eq!(again.parts, first.parts);
    let other = Transfer {
        reason: "another".to_owned(),
        ..moving.wish("t")
    };
    let (sql, source) = (&moving.ledger.ledger.sql, &moving.source.id);
    let reused = operate.transfer(sql, source, &other, &operator()).await;
    assert!(matches!(reused, Err(PlayError::TransferIdReused(_))), "{reused:?}");
    let columns = "jackpot_id transfer_id to_id parts";
    let row = [
        moving.source.id.to_string(),
        "t".to_owned(),
        moving.target.id.to_string(),
        first.parts.text(),
    ];
    assert_eq!(moving.ledger.table("transfers", columns).await, [row]);
    let audited = moving.ledger.table("audit", "target who reason").await;
    let own: Vec<_> = audited.iter().filter(|row| row[0].contains("/t")).collect();
    assert!(own.iter().any(|row| row[1..] == ["tester", "a test"]), "{audited:?}");
    moving.assert_postings().await;
    moving.assert_complete().await;
}

async fn a_transfer_whose_caller_died_after_any_step_is_ended(db: LedgerDb) {
    let mut moving = Moving::with(db).await;
    let by = operator();
    let (gives, had, _) = moving.money().await;
    // It died after it looked, and after it made room: the money is where it was, and no worker touches it.
    let wish = moving.wish("t");
    let looked = moving.operate().give(&moving.source.id, &wish, None, &by).await;
    let Ok(Given::Holds(holds)) = looked else {
        panic!("{looked:?}");
    };
    moving.work(1).await;
    assert_eq!(moving.money().await, (gives, had, 0));
    let room = moving.operate().expect(&moving.source.id, &wish, &holds, &by).await;
    room.expect("room");
    moving.work(1).await;
    assert_eq!(moving.money().await, (gives, had, 0));
    assert_eq!(moving.listed().await, []);
    moving.assert_complete().await;
    // After it gave: nobody receives before the ledger has it.
    let called = moving.call(moving.operate(), "t").await.expect("given");
    assert!(called.now && called.state == TransferState::InTransit, "{called:?}");
    assert_eq!(called.parts, holds.parts);
    assert_eq!(moving.money().await, (0, had, gives));
    moving.ledger.project().await;
    assert_eq!(moving.listed().await, [("t".to_owned(), TransferState::InTransit)]);
    assert_eq!(moving.money().await, (0, had, gives));
    moving.assert_postings().await;
    moving.assert_complete().await;
    moving.run_worker().await;
    assert_eq!(moving.money().await, (0, had + gives, 0));
    let again = moving.call(moving.operate(), "t").await.expect("a repeat");
    assert!(!again.now && again.state == TransferState::Done, "{again:?}");
    // After the target received, before the ledger has that.
    moving.source.status(Status::Open).await;
    moving.source.take("more", 0).await;
    moving.source.status(Status::Paused).await;
    moving.give("u").await;
    moving.ledger.project().await;
    let parts = moving.ledger.table("transfers", "transfer_id parts").await.remove(1);
    let transfer_id = moving.wish("u").transfer_id;
    let received = moving
        .operate()
        .receive(&moving.target.id, &moving.source.id, &transfer_id, &parts[1]);
    received.await.expect("received");
    assert_eq!(moving.listed().await[1].1, TransferState::InTransit);
    let all = moving.money().await;
    moving.work(2).await;
    assert_eq!(moving.money().await, all, "once");
    moving.assert_postings().await;
    moving.assert_complete().await;
}

async fn two_instances_drive_one_transfer(db: LedgerDb) {
    let mut moving = Moving::with(db).await;
    let (gives, had, _) = moving.money().await;
    let (one, other) = (moving.operate().clone(), moving.ledger.other_instance().operate);
    let (first, second) = tokio::join!(moving.call_with_projector(&one, "t"), moving.call(&other, "t"));
    let second = second.expect("transferred");
    assert!(
        first.now != second.now && first.parts == second.parts,
        "{first:?} {second:?}"
    );
    moving.ledger.project().await;
    moving.work(3).await;
    assert_eq!(moving.money().await, (0, had + gives, 0));
    moving.assert_postings().await;
    moving.assert_complete().await;
}

async fn a_lost_redis_is_rebuilt_while_money_is_in_transit(db: LedgerDb) {
    let mut moving = Moving::with(db).await;
    let (gives, had, _) = moving.money().await;
    moving.give("t").await;
    moving.ledger.project().await;
    moving.learn().await;
    moving.ledger.wipe().await;
    moving.ledger.heal().await;
    moving.learn().await;
    assert_eq!(moving.money().await, (0, had, gives));
    moving.work(2).await;
    assert_eq!(moving.money().await, (0, had + gives, 0));
    moving.assert_complete().await;
    // What is done stays done.
    moving.learn().await;
    moving.ledger.wipe().await;
    moving.ledger.heal().await;
    moving.learn().await;
    moving.work(2).await;
    let again = moving.call(moving.operate(), "t").await.expect("a repeat");
    assert!(!again.now && again.state == TransferState::Done, "{again:?}");
    assert_eq!(moving.money().await, (0, had + gives, 0));
    moving.assert_postings().await;
    moving.assert_complete().await;
}

async fn what_redis_lost_of_a_transfer_is_done_again_once(db: LedgerDb) {
    let mut moving = Moving::with(db).await;
    let (gives, had, _) = moving.money().await;
    // Redis loses what the source gave and the room of the target, which the ledger has not either.
    moving.give("t").await;
    moving.learn().await;
    moving.ledger.wipe().await;
    moving.ledger.heal().await;
    moving.learn().await;
    assert_eq!(moving.money().await, (gives, had, 0), "it was never in the ledger");
    moving.give("t").await;
    moving.ledger.project().await;
    // Redis loses what the target received.
    let transfer_id = moving.wish("t").transfer_id;
    let parts = moving.ledger.table("transfers", "parts").await.remove(0);
    let received = moving
        .operate()
        .receive(&moving.target.id, &moving.source.id, &transfer_id, &parts[0]);
    received.await.expect("received");
    assert_eq!(moving.money().await, (0, had + gives, 0));
    moving.learn().await;
    moving.ledger.wipe().await;
    moving.ledger.heal().await;
    moving.learn().await;
    assert_eq!(moving.money().await, (0, had, gives), "in transit again");
    moving.work(2).await;
    assert_eq!(moving.money().await, (0, had + gives, 0));
    moving.assert_postings().await;
    moving.assert_complete().await;
}

/// More of them than the worker reads at once, all older, to a jackpot that is not there.
async fn transfers_that_stay_in_transit_hold_up_no_other(db: LedgerDb) {
    let moving = Moving::with(db).await;
    let (gives, had, _) = moving.money().await;
    for number in 0..250 {
        let row = format!(
            "INSERT INTO transfers (jackpot_id, transfer_id, n, place, at_ms, to_id, parts, done_ms) \
             VALUES ('gone', 't{number}', {number}, 0, {}, 'nowhere', 'grand,grand,1,0,0,0,0;', 0)",
            number / 10
        );
        moving.ledger.change(&row).await;
    }
    moving.give("t").await;
    moving.ledger.project().await;
    assert_eq!(moving.money().await, (0, had, gives));
    moving.worker().look(true).await.expect("SQL answers");
    assert_eq!(moving.money().await, (0, had + gives, 0));
    moving.ledger.project().await;
    assert_eq!(moving.listed().await, [("t".to_owned(), TransferState::Done)]);
}

async fn cycles_end_where_money_leaves_and_no_transfer_raises_a_pool_above_low(db: LedgerDb) {
    let mut moving = Moving::of(db, &by_amount(50, 150), &by_amount(30, 90)).await;
    let [from, into] = [play_apart(&moving.source), play_apart(&moving.target)];
    for index in 1..=45 {
        enter(&from, &moving.source, &format!("s{index}")).await;
    }
    for index in 1..=25 {
        enter(&into, &moving.target, &format!("t{index}")).await;
    }
    moving.source.status(Status::Paused).await;
    let (ended, kept) = (open(&moving.source).await, open(&moving.target).await);
    let operate = moving.operate().clone();
    let done = moving.call_with_projector(&operate, "t").await;
    assert!(done.now, "{done:?}");
    moving.ledger.project().await;
    moving.work(1).await;
    let next = open(&moving.source).await;
    assert_eq!(
        (next.cycle, &next.nonce, next.low.0, next.high.0),
        (1, &ended.nonce, Some(50), Some(150))
    );
    assert_eq!(open(&moving.target).await, kept, "its cycle goes on");
    assert_eq!(
        moving.target.money().await,
        (30, 0, 40),
        "up to low, the rest is overflow"
    );
    moving.assert_complete().await;

    moving.source.status(Status::Open).await;
    let mut hits = Vec::new();
    for index in 1..=200 {
        let played = enter(&from, &moving.source, &format!("n{index}")).await;
        hits.extend(hit(&played.record.state).map(|hit| (index, hit.cycle, hit.trigger)));
    }
    assert_eq!(hits, expected(&moving.source, &next, &mut 0, 200));
    let trigger = kept.trigger_amount(&seed(&moving.target, &kept, 0)).expect("an amount");
    for pool in 31..=trigger {
        let played = enter(&into, &moving.target, &format!("n{pool}")).await;
        assert_eq!(hit(&played.record.state).is_some(), pool == trigger, "{pool}");
    }
    assert_eq!(moving.target.money().await, (30, 0, 10), "the refill stops at low");

    moving.source.status(Status::Closed).await;
    let all = moving.source.money().await.0;
    let done = moving.call_with_projector(&operate, "u").await;
    assert!(done.now, "{done:?}");
    moving.ledger.project().await;
    moving.work(1).await;
    assert_eq!(moving.target.money().await, (30, 0, 10 + all));
    assert!(
        !cycles(&moving.source).await.rows[0].is_open(),
        "nobody plays a closed one"
    );
    // Seeds are written after the commit that ends their cycles.
    moving.ledger.project().await;
    moving.ledger.project().await;
    moving.assert_postings().await;
    moving.assert_complete().await;
    let restarts = moving.ledger.table("cycles", "jackpot_id ended_by seed").await;
    let of_source = |by: &str| {
        let is_of = |row: &&Vec<String>| row[0] == moving.source.id.as_str() && row[1] == by;
        restarts.iter().filter(is_of).count()
    };
    assert_eq!((of_source("restart"), of_source("close")), (1, 1), "{restarts:?}");

    let stories = moving.exports().await;
    for story in &stories {
        let report = story.verify();
        assert!(report.is_right(), "{report}");
    }
    let gives = stories[0].all(|body| body.contains("\"type\":\"give\""));
    let mut forged = stories[0].clone();
    forged.edit(gives[0], |fields| {
        fields.remove("cycles");
    });
    forged.close();
    let what = "it gives all of 'grand', and the open cycle goes on";
    names(&forged.verify(), &Place::Event(gives[0]), what);
    let mut forged = stories[0].clone();
    forged.edit(gives[0], |fields| {
        let cycles = fields.get_mut("cycles").expect("changes");
        cycles.truncate(cycles.find(';').expect("an end") + 1);
    });
    forged.close();
    names(
        &forged.verify(),
        &Place::Event(gives[0]),
        "the open cycle is followed wrongly",
    );
}

/// The ledger may read the event of the target before that of the source, where it was put back to an earlier state.
async fn the_worker_ends_a_row_that_was_written_after_the_money_came_in(db: LedgerDb) {
    let moving = Moving::with(db).await;
    moving.give("t").await;
    moving.ledger.project().await;
    moving.work(1).await;
    moving.ledger.change("UPDATE transfers SET done_ms = 0").await;
    assert_eq!(moving.listed().await, [("t".to_owned(), TransferState::InTransit)]);
    let all = moving.money().await;
    moving.work(2).await;
    assert_eq!(moving.money().await, all, "nothing is received again");
}

/// Room that was made for a call that then raced, died or was refused ends, and what was given still comes in.
async fn room_that_nobody_uses_ends(db: LedgerDb) {
    let clock = Arc::new(ShiftedClock::new());
    let redis = Arc::new(TestRedis::by(&clock).await);
    let ledger = JackpotLedger::of(db, Fixture::on(Arc::clone(&redis), &json!({})).await).await;
    ledger.ledger.claim(&ledger.store).await.expect("a Redis of its own");
    let mut moving = Moving {
        source: JackpotFixture::on(Arc::clone(&redis), &json!({})).await,
        target: JackpotFixture::on(redis, &json!({})).await,
        ledger,
    };
    moving.learn().await;
    moving.source.fund("f", 70).await;
    moving.source.status(Status::Paused).await;
    let (by, source) = (operator(), moving.source.id.clone());
    let prepare = async |transfer_id: &str| {
        let (wish, operate) = (moving.wish(transfer_id), moving.operate());
        let Ok(Given::Holds(holds)) = operate.give(&source, &wish, None, &by).await else {
            panic!("it was given before");
        };
        operate.expect(&source, &wish, &holds, &by).await.expect("room");
        (wish, holds)
    };
    prepare("died").await;
    let (wish, holds) = prepare("refused").await;
    moving.source.status(Status::Open).await;
    let refused = moving.operate().give(&source, &wish, Some(&holds), &by).await;
    assert!(matches!(refused, Ok(Given::Status(Status::Open))), "{refused:?}");
    moving.source.status(Status::Paused).await;
    let (slow, looked) = prepare("slow").await;
    // Its parts change before it gives, and two calls with its id race with others for the same money.
    prepare("changed").await;
    moving.source.fund("g", 5).await;
    let ended = Cell::new(false);
    let calling = async {
        let calls = ["changed", "b", "changed", "c"].map(|transfer_id| moving.call(moving.operate(), transfer_id));
        let all = join_all(calls).await;
        ended.set(true);
        all
    };
    let mut projector = moving.ledger.projector();
    let reading = async {
        while !ended.get() {
            projector.catch_up().await;
            tokio::task::yield_now().await;
        }
    };
    let (called, ()) = tokio::join!(calling, reading);
    projector.finish().await;
    let gave = called
        .iter()
        .flatten()
        .filter(|called| called.now)
        .flat_map(|called| &called.parts);
    assert_eq!(gave.map(|part| part.pool).sum::<u64>(), 75, "{called:?}");
    moving.source.fund("h", 30).await;
    moving.give("last").await;
    moving.ledger.project().await;

    let expected = async || Moving::meter(&moving.target).await.expected;
    let before = expected().await;
    assert!(before >= 4 * 70 + 30, "{before}");
    moving.worker().look_at_rooms().await.expect("looked");
    assert_eq!(expected().await, before, "somebody may still use it");
    clock.set_s(11);
    moving.worker().look_at_rooms().await.expect("looked");
    assert_eq!(expected().await, 30, "what was given has its room");
    let late = moving.operate().give(&source, &slow, Some(&looked), &by).await;
    assert!(matches!(late, Ok(Given::Holds(_))), "{late:?}");
    moving.work(1).await;
    moving.worker().look_at_rooms().await.expect("looked");
    moving.ledger.project().await;
    assert_eq!(expected().await, 0);
    let rooms = moving.ledger.table("transfer_rooms", "freed_ms").await;
    assert!(rooms.len() >= 5 && rooms.iter().all(|row| row[0] != "0"), "{rooms:?}");
    assert_eq!(Moving::meter(&moving.target).await.pool, 105);
    moving.assert_complete().await;
    for story in moving.exports().await {
        let report = story.verify();
        assert!(report.is_right(), "{report}");
    }
}
