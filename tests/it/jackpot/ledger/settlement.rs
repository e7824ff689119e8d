//! Settlement with the ledger: every step, races of two instances, callers that die, a Redis that is rebuilt in each state,
//! and what `verify` finds.

use jackpot_api::payout::{ListedPayout, PayoutStepRow};
use jackpot_core::jackpot::settlement::PayoutState;
use std::cell::Cell;
use std::future::Future;
use std::time::Duration;

use futures_util::future::join_all;
use jackpot::http::code::Code;
use jackpot::http::problem::Problem;
use jackpot::jackpot::ledger::event::Kind;
use jackpot::jackpot::ledger::postings;
use jackpot::jackpot::ledger::queries::Queries;
use jackpot::jackpot::ledger::queries::payouts::PayoutFilters;
use jackpot::jackpot::operate::Operate;
use jackpot::jackpot::scripts::{Approval, Settle, Stepped, settle};
use jackpot::jackpot::settlement::Asked;
use jackpot::operator::Operator;
use jackpot::proof::verify::Place;
use jackpot::subject::Wanted;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::derived::payout_id;
use jackpot_core::jackpot::record::State as RecordState;
use jackpot_core::jackpot::settlement::{Attempt, Ended, Standing, State, Step};
use jackpot_core::signing::Jwks;

use crate::jackpot::fixture::{put as put_definition, sent};
use crate::jackpot::ledger::cycles::exported;
use crate::jackpot::ledger::fixture::JackpotLedger;
use crate::proof::names;
use crate::support::prelude::*;

on_both_databases!(
    every_step_reaches_its_row_and_the_books_balance,
    a_request_to_void_is_withdrawn,
    a_withdrawal_answers_its_own_caller_alone,
    of_two_steps_at_once_one_is_taken,
    a_repeat_after_any_lost_reply_changes_nothing,
    a_step_that_redis_lost_never_was,
    a_lost_redis_is_rebuilt_in_each_state,
    a_slow_caller_never_decides_on_what_was_dropped,
    a_raised_limit_waits_for_another_owner,
    verify_names_steps_that_can_not_follow,
);

const DEADLINE: Duration = Duration::from_mins(1);

fn id(text: &str) -> Id {
    Id::parse(text).expect("an id")
}

/// A key of this owner.
fn key(owner: &str) -> Operator {
    Operator {
        who: format!("key-of-{owner}"),
        owner: owner.to_owned(),
        request_id: "r".to_owned(),
    }
}

fn approve() -> Asked {
    let reason = "looks right".to_owned();
    Asked::Approve { reason }
}

fn settled(settlement_id: &str) -> Asked {
    Asked::Settle {
        settlement_id: id(settlement_id),
        reference: "bank 1".to_owned(),
    }
}

fn failed(settlement_id: &str) -> Asked {
    Asked::Fail {
        settlement_id: id(settlement_id),
        reason: "account closed".to_owned(),
    }
}

fn void() -> Asked {
    let reason = "a mistake".to_owned();
    Asked::Void { reason }
}

fn withdraw() -> Asked {
    let reason = "no mistake".to_owned();
    Asked::Withdraw { reason }
}

/// A tracked jackpot with a ledger. Rank 3 pays 7, which is due; rank 4 pays 40, which is held.
struct Desk {
    ledger: JackpotLedger,
}

fn rules(limit: Option<u64>) -> Value {
    let fixed = |rank: u32, amount: u64| json!({"rank": rank, "weight": 1, "prize": {"fixed": {"tier": "grand", "amount": amount}}});
    json!({"settlement": "tracked", "approval_above": limit, "odds": {"total": 2, "ranks": [fixed(3, 7), fixed(4, 40)]}})
}

impl Desk {
    async fn with(db: LedgerDb) -> Self {
        let ledger = JackpotLedger::with(db, &rules(Some(40))).await;
        ledger.fund("f", 10_000).await;
        Self { ledger }
    }

    /// Wins once of each rank; the payouts once the ledger has them.
    async fn win(&self, stem: &str, ranks: &[u32]) -> Vec<String> {
        let mut ids = Vec::new();
        for (index, rank) in ranks.iter().enumerate() {
            let entry_id = self.drawn(&format!("{stem}{index}"), *rank).await;
            let record = self.ledger.take(&entry_id, *rank).await;
            let RecordState::Paid { .. } = record.state else {
                panic!("{record:?}");
            };
            let history = self.ledger.snapshot().await.history;
            ids.push(payout_id(&self.ledger.id, &history, &entry_id, record.sequence));
        }
        self.ledger.project().await;
        ids
    }

    /// An id whose entry draws this rank.
    async fn drawn(&self, stem: &str, rank: u32) -> String {
        let (_, view) = self.ledger.fresh().await;
        let odds = view.definition.odds().at(sent("p", 100).stake);
        let mut ids = (0..).map(|number| format!("{stem}-{number}"));
        ids.find(|id| view.seed.rank(id, None, 0, odds) == rank)
            .expect("one of many")
    }

    fn operate(&self) -> Operate {
        self.ledger.other_instance().operate
    }

    /// Works while a projector reads.
    async fn projecting<T>(&self, work: impl Future<Output = T>) -> T {
        let mut projector = self.ledger.projector();
        let ended = Cell::new(false);
        let working = async {
            let done = work.await;
            ended.set(true);
            done
        };
        let reading = async {
            while !ended.get() {
                projector.catch_up().await;
                tokio::task::yield_now().await;
            }
        };
        let (done, ()) = tokio::join!(working, reading);
        projector.finish().await;
        done
    }

    async fn ask(&self, operate: &Operate, payout_id: &str, asked: &Asked, owner: &str) -> Result<(), Problem> {
        let sql = &self.ledger.ledger.sql;
        operate
            .settle_payout(sql, &self.ledger.id, payout_id, asked, &key(owner))
            .await
    }

    /// The code of the refusal of a call.
    async fn refused(&self, payout_id: &str, asked: &Asked, owner: &str) -> Code {
        self.act(payout_id, asked, owner).await.expect_err("refused")
    }

    /// One call of a new instance; the row after it, or the code of the refusal.
    async fn act(&self, payout_id: &str, asked: &Asked, owner: &str) -> Result<ListedPayout, Code> {
        let operate = self.operate();
        // It is a large future.
        let done = Box::pin(self.projecting(self.ask(&operate, payout_id, asked, owner))).await;
        done.map_err(|problem| problem.code)?;
        Ok(self.row(payout_id).await)
    }

    /// The same, which must be done.
    async fn done(&self, payout_id: &str, asked: &Asked, owner: &str) -> ListedPayout {
        let row = self.act(payout_id, asked, owner).await;
        row.unwrap_or_else(|code| panic!("{asked:?}: {code}"))
    }

    /// A call that dies after its script. Nobody projects, so it still waits for the ledger.
    async fn die(&self, payout_id: &str, asked: &Asked, owner: &str) {
        let (operate, before) = (self.operate(), self.ledger.stream().await.len());
        let stepped = eventually(DEADLINE, "the step is in Redis", async || {
            (self.ledger.stream().await.len() > before).then_some(())
        });
        tokio::select! {
            done = self.ask(&operate, payout_id, asked, owner) => panic!("it ended without the ledger: {done:?}"),
            () = stepped => {}
        }
    }

    async fn row(&self, payout_id: &str) -> ListedPayout {
        let queries = Queries::new(self.ledger.ledger.sql.clone(), 7);
        queries.listed_payout(payout_id).await.expect("a payout")
    }

    /// The steps of a payout: state, owner and reason.
    async fn steps(&self, payout_id: &str) -> Vec<String> {
        let queries = Queries::new(self.ledger.ledger.sql.clone(), 7);
        let whole = queries.whole_payout(payout_id).await.expect("a payout");
        assert_eq!(whole.payout, self.row(payout_id).await);
        let text = |step: PayoutStepRow| {
            let [owner, reason] = [step.owner, step.reason].map(Option::unwrap_or_default);
            format!("{} {owner} {reason}", step.state.as_str())
                .trim_end()
                .to_owned()
        };
        whole.steps.into_iter().map(text).collect()
    }

    async fn listed(&self, state: PayoutState) -> Vec<String> {
        let queries = Queries::new(self.ledger.ledger.sql.clone(), 7);
        let filters = PayoutFilters {
            jackpot_id: Some(self.ledger.id.clone()),
            state: Some(state),
            ..PayoutFilters::default()
        };
        let page = queries.payouts(&filters, None, 100).await.expect("a page");
        let mut ids: Vec<_> = page.items.into_iter().map(|row| row.receipt.payout_id).collect();
        ids.sort();
        ids
    }

    /// The audit log of a payout: action, state before and after.
    async fn audited(&self, payout_id: &str) -> Vec<(String, String, String)> {
        let target = format!("{}/{payout_id}", self.ledger.id);
        let rows = self.ledger.own_rows("audit", "target action before after n", "n").await;
        let state = |json: &str| {
            serde_json::from_str::<Value>(json).expect("JSON")["state"]
                .as_str()
                .unwrap_or("")
                .to_owned()
        };
        let own = rows.into_iter().filter(|row| row[0] == target);
        own.map(|row| (row[1].clone(), state(&row[2]), state(&row[3])))
            .collect()
    }

    /// Everything agrees: events, books, Redis, both identities, postings.
    async fn assert_whole(&self) {
        self.ledger.project().await;
        self.ledger.assert_complete().await;
        let mut projector = self.ledger.projector();
        let report = self.ledger.reconcile(&mut projector).await;
        projector.finish().await;
        report.clean().unwrap_or_else(|error| panic!("{error}"));
        for row in self.ledger.own_rows("events", "moved", "n").await {
            let rows = postings::parse(&row[0]).expect("postings");
            let sum: i64 = rows.iter().map(|row| row.amount * 1_000_000 + row.micro).sum();
            assert_eq!(sum, 0, "{row:?}");
        }
    }

    async fn assert_verified(&self) {
        let story = exported(&self.ledger).await;
        let report = story.verify();
        assert!(report.is_right(), "{report}");
    }
}

async fn every_step_reaches_its_row_and_the_books_balance(db: LedgerDb) {
    let desk = Desk::with(db).await;
    let won = desk.win("e", &[4, 3, 3, 4]).await;
    let [held, due, failing, voided] = &won[..] else {
        panic!("{won:?}")
    };
    assert_eq!(desk.row(held).await.state, PayoutState::Held);
    assert_eq!(desk.row(due).await.state, PayoutState::Due);
    assert_eq!(desk.refused(held, &settled("s0"), "eve").await, Code::PayoutHeld);
    assert_eq!(
        desk.refused(held, &approve(), "tester").await,
        Code::SameOwner,
        "it set the limit"
    );
    let row = desk.done(held, &approve(), "bob").await;
    assert_eq!(
        (row.state, row.approved_by.as_deref()),
        (PayoutState::Due, Some("key-of-bob"))
    );
    assert_eq!(desk.done(held, &approve(), "eve").await, row, "again: nothing");
    assert_eq!(desk.refused(held, &settled("s0"), "bob").await, Code::SameOwner);
    let row = desk.done(held, &settled("s0"), "eve").await;
    let settlement = row.settlement.clone().expect("settled");
    assert_eq!(
        (&*settlement.settlement_id, settlement.reference.as_deref()),
        ("s0", Some("bank 1"))
    );
    assert_eq!(
        desk.done(held, &settled("s0"), "anna").await,
        row,
        "a repeat answers the same row"
    );
    assert_eq!(desk.refused(due, &settled("s0"), "eve").await, Code::SettlementIdReused);
    assert_eq!(desk.refused(held, &failed("s0"), "eve").await, Code::SettlementIdReused);
    for asked in [settled("s9"), failed("s9"), void()] {
        assert_eq!(
            desk.refused(held, &asked, "eve").await,
            Code::PayoutSettled,
            "{asked:?}"
        );
    }
    desk.done(failing, &failed("f1"), "eve").await;
    desk.done(failing, &failed("f2"), "eve").await;
    let row = desk.done(failing, &settled("s2"), "eve").await;
    assert_eq!(
        desk.done(failing, &failed("f1"), "eve").await,
        row,
        "a report of an earlier attempt"
    );

    let before = desk.ledger.snapshot().await.meters.remove(0);
    let row = desk.done(voided, &void(), "anna").await;
    assert_eq!(
        (row.state, row.void_receipt.is_none()),
        (PayoutState::VoidRequested, true)
    );
    assert_eq!(desk.done(voided, &void(), "anna").await, row, "the same owner again");
    assert_eq!(desk.refused(voided, &approve(), "bob").await, Code::PayoutVoidRequested);
    assert_eq!(desk.ledger.snapshot().await.meters[0], before);
    let row = desk.done(voided, &void(), "bob").await;
    let receipt = row.void_receipt.clone().expect("signed");
    receipt
        .verify(&Jwks::new(desk.ledger.ledger.signing.public()))
        .expect("a signature");
    assert_eq!(
        (row.state, receipt.amount.get(), &receipt.payout_id),
        (PayoutState::Void, 40, voided)
    );
    assert_eq!(desk.done(voided, &void(), "eve").await, row, "once");
    let after = desk.ledger.snapshot().await.meters.remove(0);
    assert_eq!(
        (after.overflow, after.pool, after.voided, after.paid, after.funded),
        (before.overflow + 40, before.pool, 40, before.paid, before.funded)
    );
    for asked in [settled("s9"), failed("s9")] {
        assert_eq!(desk.refused(voided, &asked, "eve").await, Code::PayoutVoid, "{asked:?}");
    }
    assert_eq!(desk.listed(PayoutState::Void).await, std::slice::from_ref(voided));
    assert_eq!(desk.listed(PayoutState::Due).await, std::slice::from_ref(due));
    assert!(desk.listed(PayoutState::Paid).await.is_empty());
    let steps = desk.audited(voided).await;
    let steps: Vec<_> = steps
        .iter()
        .map(|(action, a, b)| format!("{action}: {a} {b}"))
        .collect();
    assert_eq!(
        steps,
        ["void-request: held void-requested", "void: void-requested void"]
    );
    desk.assert_whole().await;
    desk.assert_verified().await;
}

async fn a_request_to_void_is_withdrawn(db: LedgerDb) {
    let desk = Desk::with(db).await;
    let won = desk.win("e", &[4, 3]).await;
    let [held, due] = &won[..] else { panic!("{won:?}") };
    let code = Err(Code::PayoutNotVoidRequested);
    assert_eq!(desk.act(held, &withdraw(), "anna").await, code);
    let before = desk.row(held).await;
    desk.done(held, &void(), "anna").await;
    assert_eq!(desk.done(held, &withdraw(), "anna").await, before, "by who asked");
    assert_eq!(desk.act(held, &withdraw(), "anna").await, code, "once");
    assert_eq!(desk.refused(held, &settled("s0"), "eve").await, Code::PayoutHeld);
    desk.done(held, &void(), "anna").await;
    desk.done(held, &void(), "anna").await;
    desk.ledger.wipe().await;
    desk.ledger.heal().await;
    assert_eq!(desk.done(held, &withdraw(), "bob").await, before, "by another one");
    desk.done(held, &approve(), "bob").await;
    desk.done(held, &approve(), "bob").await;
    let failing = desk.done(held, &failed("f1"), "eve").await;
    desk.done(held, &void(), "eve").await;
    assert_eq!(desk.done(held, &withdraw(), "eve").await, failing);
    desk.done(held, &settled("s1"), "eve").await;
    desk.done(held, &settled("s1"), "eve").await;
    assert_eq!(desk.act(held, &withdraw(), "eve").await, code);
    assert_eq!(
        desk.steps(held).await,
        [
            "held",
            "void-requested anna a mistake",
            "held anna no mistake",
            "void-requested anna a mistake",
            "held bob no mistake",
            "due bob looks right",
            "failed eve account closed",
            "void-requested eve a mistake",
            "failed eve no mistake",
            "settled eve bank 1",
        ]
    );
    desk.done(due, &void(), "anna").await;
    desk.done(due, &withdraw(), "bob").await;
    desk.done(due, &void(), "bob").await;
    assert_eq!(
        desk.done(due, &void(), "anna").await.state,
        PayoutState::Void,
        "two owners"
    );
    assert_eq!(desk.act(due, &withdraw(), "bob").await, code);
    let audited = desk.audited(due).await;
    assert_eq!(
        audited[1],
        ["withdraw", "void-requested", "due"].map(str::to_owned).into()
    );
    desk.assert_whole().await;
    desk.assert_verified().await;
    let mut story = exported(&desk.ledger).await;
    let n = story.all(|body| body.contains("\"step\":\"withdraw\""))[0];
    story.edit(n, |fields| _ = fields.insert("after".to_owned(), "due".to_owned()));
    story.close();
    names(&story.verify(), &Place::Event(n), "it can't withdraw by 'anna'");
}

/// A second request may follow before the caller of a withdrawal looks again: it must not take that one back, too.
async fn a_withdrawal_answers_its_own_caller_alone(db: LedgerDb) {
    let desk = Desk::with(db).await;
    let won = desk.win("e", &[3, 3]).await;
    let instances = [desk.operate(), desk.operate()];
    for round in 0..4 {
        let payout_id = &won[0];
        desk.done(payout_id, &void(), "anna").await;
        let back = withdraw();
        let asking = ["anna", "bob"].iter().zip(&instances);
        let asking = asking.map(|(owner, operate)| desk.ask(operate, payout_id, &back, owner));
        let answers = Box::pin(desk.projecting(join_all(asking))).await;
        let done = answers.iter().filter(|answer| answer.is_ok()).count();
        assert_eq!(done, 1, "{answers:?}");
        assert_eq!(
            desk.audited(payout_id).await.len(),
            2 * (round + 1),
            "one event for each step"
        );
    }
    desk.done(&won[1], &void(), "anna").await;
    desk.die(&won[1], &withdraw(), "anna").await;
    let again = desk.act(&won[1], &withdraw(), "bob").await;
    assert_eq!(
        again,
        Err(Code::PayoutNotVoidRequested),
        "another call than the one that died"
    );
    assert_eq!(desk.row(&won[1]).await.state, PayoutState::Due);
    desk.assert_whole().await;
    desk.assert_verified().await;
}

/// Eight calls of four instances at once: each payout ends in one way, with one event for each step.
async fn of_two_steps_at_once_one_is_taken(db: LedgerDb) {
    let desk = Desk::with(db).await;
    let instances: Vec<_> = (0..4).map(|_| desk.operate()).collect();
    for round in 0..4 {
        let won = desk.win(&format!("r{round}-"), &[3, 3, 4]).await;
        let [twice, torn, approved] = &won[..] else {
            panic!("{won:?}")
        };
        desk.done(torn, &void(), "anna").await;
        let overflow = desk.ledger.money().await.2;
        let (one, other) = (settled(&format!("a{round}")), settled(&format!("b{round}")));
        let late = settled(&format!("c{round}"));
        let (ok, back, early) = (approve(), void(), settled(&format!("d{round}")));
        let calls: Vec<(&String, &Asked, &str)> = vec![
            (twice, &one, "eve"),
            (twice, &other, "eve"),
            (torn, &late, "eve"),
            (torn, &back, "bob"),
            (approved, &ok, "bob"),
            (approved, &ok, "eve"),
            (twice, &one, "anna"),
            (torn, &back, "eve"),
            (approved, &early, "anna"),
        ];
        let asking = calls.iter().enumerate().map(|(i, (payout_id, asked, owner))| {
            let operate = &instances[i % instances.len()];
            let desk = &desk;
            async move {
                desk.ask(operate, payout_id, asked, owner)
                    .await
                    .map_err(|problem| problem.code)
            }
        });
        let answers = desk.projecting(join_all(asking)).await;
        let row = desk.row(twice).await.settlement.expect("settled").settlement_id;
        let (won, lost) = if row == format!("a{round}") { (0, 1) } else { (1, 0) };
        assert_eq!(
            (answers[won], answers[lost]),
            (Ok(()), Err(Code::PayoutSettled)),
            "{answers:?}"
        );
        assert_eq!(answers[6].is_ok(), won == 0, "{answers:?}");
        assert!(
            matches!(answers[2], Err(Code::PayoutVoidRequested | Code::PayoutVoid)),
            "{answers:?}"
        );
        assert_eq!((answers[3], answers[7]), (Ok(()), Ok(())));
        assert_eq!((answers[4], answers[5]), (Ok(()), Ok(())));
        assert_eq!(desk.row(torn).await.state, PayoutState::Void);
        assert_eq!(desk.ledger.money().await.2, overflow + 7, "once");
        let went_on = match answers[8] {
            Ok(()) => 1,
            Err(code) => {
                assert_eq!(code, Code::PayoutHeld);
                0
            }
        };
        for (of, steps) in [(twice, 1), (torn, 2), (approved, 1 + went_on)] {
            assert_eq!(desk.audited(of).await.len(), steps, "{:?}", desk.audited(of).await);
        }
    }
    desk.assert_whole().await;
    desk.assert_verified().await;
}

/// The caller dies after its script, and again before it reads the row.
async fn a_repeat_after_any_lost_reply_changes_nothing(db: LedgerDb) {
    let desk = Desk::with(db).await;
    let won = desk.win("e", &[4, 3]).await;
    let [held, due] = &won[..] else { panic!("{won:?}") };
    let steps = [
        (held, approve(), "bob"),
        (held, failed("f"), "eve"),
        (held, settled("s"), "eve"),
        (due, void(), "anna"),
        (due, void(), "bob"),
    ];
    for (payout_id, asked, owner) in &steps {
        let before = desk.ledger.stream().await.len();
        desk.die(payout_id, asked, owner).await;
        let row = desk.done(payout_id, asked, owner).await;
        assert_eq!(desk.done(payout_id, asked, owner).await, row);
        assert_eq!(desk.ledger.stream().await.len(), before + 1, "{asked:?}: one event");
    }
    desk.assert_whole().await;
    desk.assert_verified().await;
}

/// Redis loses a step before the ledger has it. The call had not answered; the next one takes the step.
async fn a_step_that_redis_lost_never_was(db: LedgerDb) {
    let desk = Desk::with(db).await;
    let won = desk.win("e", &[3]).await;
    desk.done(&won[0], &void(), "anna").await;
    let before = desk.ledger.money().await.2;
    desk.die(&won[0], &void(), "bob").await;
    assert_eq!(desk.ledger.money().await.2, before + 7);
    desk.ledger.wipe().await;
    desk.ledger.heal().await;
    assert_eq!(desk.ledger.money().await.2, before, "it was never in the ledger");
    assert_eq!(desk.row(&won[0]).await.state, PayoutState::VoidRequested);
    let row = desk.done(&won[0], &void(), "bob").await;
    assert_eq!(row.state, PayoutState::Void);
    assert_eq!(desk.ledger.money().await.2, before + 7, "once");
    desk.assert_whole().await;
    desk.assert_verified().await;
}

async fn a_lost_redis_is_rebuilt_in_each_state(db: LedgerDb) {
    let desk = Desk::with(db).await;
    let won = desk.win("e", &[4, 3, 3, 3, 3, 3]).await;
    let [held, due, done, failing, asked, voided] = &won[..] else {
        panic!("{won:?}")
    };
    desk.done(done, &settled("s1"), "eve").await;
    desk.done(failing, &failed("f1"), "eve").await;
    desk.done(asked, &void(), "anna").await;
    desk.done(voided, &void(), "anna").await;
    desk.done(voided, &void(), "bob").await;
    let mut rows = Vec::new();
    for payout_id in &won {
        rows.push(desk.row(payout_id).await);
    }
    let meter = desk.ledger.snapshot().await.meters.remove(0);
    desk.ledger.wipe().await;
    desk.ledger.heal().await;
    let restored = desk.ledger.snapshot().await;
    assert_eq!((&restored.meters[0], meter.voided), (&meter, 7));
    assert_eq!(restored.hold.expect("a limit").to_string(), "tracked 40 tester - - -");
    for (payout_id, row) in won.iter().zip(&rows) {
        assert_eq!(desk.row(payout_id).await, *row);
    }
    // Each goes on from where it was.
    desk.done(held, &approve(), "bob").await;
    desk.done(held, &settled("s2"), "eve").await;
    desk.done(due, &settled("s3"), "eve").await;
    assert_eq!(desk.refused(done, &settled("s4"), "eve").await, Code::PayoutSettled);
    assert_eq!(desk.refused(due, &settled("s1"), "eve").await, Code::SettlementIdReused);
    desk.done(failing, &settled("s5"), "eve").await;
    desk.done(asked, &void(), "bob").await;
    assert_eq!(desk.done(voided, &void(), "eve").await, rows[5]);
    let next = desk.win("n", &[4]).await;
    assert_eq!(
        desk.row(&next[0]).await.state,
        PayoutState::Held,
        "the limit is there again"
    );
    desk.assert_whole().await;
    desk.assert_verified().await;
}

/// Redis drops numbers that the ledger has. A caller that read the ledger before gets `later`, whatever it asks for.
async fn a_slow_caller_never_decides_on_what_was_dropped(db: LedgerDb) {
    let desk = Desk::with(db).await;
    let won = desk.win("e", &[3, 3]).await;
    let seen = desk.ledger.n().await;
    desk.done(&won[0], &settled("s1"), "eve").await;
    let (known, view) = desk.ledger.fresh().await;
    let step = async |payout_id: &str, settlement_id: &str, seen: u64| {
        let after = Standing {
            attempt: Some(Attempt {
                ended: Ended::Settled,
                settlement_id: settlement_id.to_owned(),
                text: "bank 1".to_owned(),
                at_ms: 0,
            }),
            ..Standing::new(State::Settled)
        };
        let (fence, tiers) = (known.fence(&view), view.definition.tiers());
        let wish = Settle {
            payout_id,
            seen,
            step: Step::Settle,
            before: State::Due,
            after: &after,
            tier: &id("grand"),
            amount: 7,
            reason: "bank 1",
            by: &key("eve"),
        };
        settle(&desk.ledger.store, &known.keys, &fence, tiers, &wish)
            .await
            .expect("a reply")
            .1
    };
    // A checkpoint may follow the step.
    let (n, member) = (desk.ledger.n().await, format!("p!{}", won[0]));
    let last: u64 = desk
        .ledger
        .raw(redis::cmd("ZSCORE").arg(&known.keys.steps).arg(member))
        .await;
    let before = desk.ledger.dump().await;
    assert_eq!(
        step(&won[0], "s2", seen).await,
        Stepped::Later(last),
        "another step of the payout"
    );
    assert_eq!(
        step(&won[1], "s1", seen).await,
        Stepped::Later(last),
        "the same settlement id"
    );
    assert_eq!(desk.ledger.dump().await, before, "nothing was written");
    // As if a thousand other payouts had been settled since.
    let mut add = redis::cmd("ZADD");
    add.arg(&known.keys.steps);
    for other in 0..1_000 {
        add.arg(seen).arg(format!("p!other-{other}"));
    }
    desk.ledger.raw::<()>(&mut add).await;
    assert_eq!(step(&won[1], "s3", last).await, Stepped::Done);
    let kept: Vec<(String, u64)> = desk.ledger.sorted(&known.keys.steps).await;
    let kept: Vec<_> = kept.iter().map(|(member, n)| (member.as_str(), *n)).collect();
    let own = format!("p!{}", won[1]);
    assert_eq!(kept, [("!floor", last), (own.as_str(), n + 1), ("s!s3", n + 1)]);
    let before = desk.ledger.dump().await;
    assert_eq!(
        step("another", "s4", last - 1).await,
        Stepped::Later(last),
        "below the floor"
    );
    assert_eq!(desk.ledger.dump().await, before);
    desk.assert_whole().await;
}

async fn a_raised_limit_waits_for_another_owner(db: LedgerDb) {
    let desk = Desk::with(db).await;
    let operate = desk.operate();
    let approval = async |version: u64, owner: &str| {
        let by = key(owner);
        let wish = Approval {
            version,
            reason: "more sales",
            by: &by,
        };
        let done = operate.approve_limit(&desk.ledger.id, &wish).await;
        done.map(|terms| terms.approval_above.map(jackpot_core::money::Minor::get))
            .map_err(|error| Problem::from(error).code)
    };
    let waiting = desk.win("a", &[4]).await;
    put_definition(&desk.ledger, &rules(Some(100)), Wanted::Any)
        .await
        .expect("put");
    let held = desk.win("b", &[4]).await;
    assert_eq!(
        desk.row(&held[0]).await.state,
        PayoutState::Held,
        "the old limit is in force"
    );
    assert_eq!(approval(9, "bob").await, Err(Code::DefinitionNotFound));
    assert_eq!(approval(1, "bob").await, Err(Code::ApprovalSuperseded));
    assert_eq!(approval(2, "tester").await, Err(Code::SameOwner));
    desk.ledger.wipe().await;
    desk.ledger.heal().await;
    assert_eq!(approval(2, "bob").await, Ok(Some(100)), "it waits through a restore");
    assert_eq!(approval(2, "eve").await, Ok(Some(100)), "again: nothing");
    let free = desk.win("c", &[4]).await;
    assert_eq!(desk.row(&free[0]).await.state, PayoutState::Due);
    assert_eq!(desk.row(&waiting[0]).await.state, PayoutState::Held, "held stays held");
    put_definition(&desk.ledger, &rules(Some(30)), Wanted::Any)
        .await
        .expect("put");
    let low = desk.win("d", &[4]).await;
    assert_eq!(
        desk.row(&low[0]).await.state,
        PayoutState::Held,
        "a lower one counts at once"
    );
    let approvals = desk.ledger.events_of(&desk.ledger.id).await;
    let approvals = approvals.iter().filter(|event| matches!(event.kind, Kind::Approval(_)));
    assert_eq!(approvals.count(), 1);
    let rows = desk.ledger.own_rows("audit", "action who before after n", "n").await;
    let row = rows.iter().find(|row| row[0] == "approve-limit").expect("audited");
    assert_eq!(
        (&*row[1], row[2].contains(":40"), row[3].contains(":100")),
        ("key-of-bob", true, true),
        "{row:?}"
    );
    desk.assert_whole().await;
    desk.assert_verified().await;
}

async fn verify_names_steps_that_can_not_follow(db: LedgerDb) {
    let desk = Desk::with(db).await;
    let won = desk.win("e", &[4, 3, 3]).await;
    desk.done(&won[0], &approve(), "bob").await;
    desk.done(&won[1], &settled("s1"), "eve").await;
    desk.done(&won[2], &void(), "anna").await;
    desk.done(&won[2], &void(), "bob").await;
    let forged = [
        ("approve", "owner", "tester", "the owner who set the limit approves it"),
        ("settle", "amount", "8", "its tier or amount is another one"),
        ("settle", "before", "held", "it can't settle"),
        ("void", "owner", "anna", "it can't void by 'anna'"),
    ];
    for (step, field, value, finding) in forged {
        let mut story = exported(&desk.ledger).await;
        let is_step = format!("\"step\":\"{step}\"");
        let n = story.all(|body| body.contains(&is_step))[0];
        story.edit(n, |fields| _ = fields.insert(field.to_owned(), value.to_owned()));
        story.close();
        names(&story.verify(), &Place::Event(n), finding);
    }
}
