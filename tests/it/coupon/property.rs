//! Random requests with and without metadata, steps of two consumers that die at any point, voids, redemptions, redrives,
//! definitions, and an operator who pauses, resumes and closes. After each call the raw keys match the model, the promises
//! hold, and the events agree.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jackpot::coupon::metadata::Asker;
use jackpot::coupon::record::{Record, State};
use jackpot::coupon::scripts::{self, Ask, AskReply, Defined, Mode, Redeemed, Served, StatusSet};
use jackpot_api::coupon::Status;
use jackpot_core::mark::Mark;
use jackpot_core::wire::Field;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::coupon::fixture::{CouponFixture, ask, with_codes, with_metadata};
use crate::coupon::model::{Model, Outcome, Rules, Step};
use crate::support::cases;
use crate::support::prelude::*;

/// A request of a user.
#[derive(Debug, Clone, Copy)]
struct Wish {
    request: u8,
    user: u8,
    /// It wants the queue.
    line: bool,
    has_metadata: bool,
}

#[derive(Debug, Clone)]
enum Op {
    Ask(Vec<Wish>),
    /// Requests that a draw made, as it owes the units.
    Owed(Vec<Wish>),
    /// A step. `forget`: the consumer died and does not know what it took. `repeat`: the call is sent twice.
    Serve {
        consumer: u8,
        next: usize,
        forget: bool,
        repeat: bool,
    },
    LeaseEnds,
    /// An issued request, if there is one, by its place among the issued ones.
    Void(usize),
    /// An issued or redeemed request, in the same way, and the redemption.
    Redeem(usize, u8),
    /// A dead letter, in the same way.
    Redrive(usize),
    /// A request in any state.
    VoidAny(u8),
    RedriveAny(u8),
    RedeemAny(u8, u8),
    /// Of an operator.
    Status(Status),
    Define {
        stock: u64,
        per_user: usize,
        window: bool,
        open: bool,
    },
    Age,
}

const WINDOW_MS: i64 = 10_000;
const REQUESTS: u8 = 200;

fn op() -> impl Strategy<Value = Op> {
    let one = (
        0..REQUESTS,
        0..8_u8,
        prop::bool::weighted(0.4),
        prop::bool::weighted(0.3),
    );
    let one = one.prop_map(|(request, user, line, has_metadata)| Wish {
        request,
        user,
        line,
        has_metadata,
    });
    let asks = prop::collection::vec(one.clone(), 1..6);
    let owed = prop::collection::vec(one, 1..3);
    // It is open most of the time, and closed only in some of the cases: nothing can follow.
    let status = prop_oneof![10 => Just(Status::Open), 5 => Just(Status::Paused), 1 => Just(Status::Closed)];
    let rules = (0..40_u64, 1..6_usize, any::<bool>(), prop::bool::weighted(0.9));
    let serve = (
        0..2_u8,
        0..5_usize,
        prop::bool::weighted(0.55),
        prop::bool::weighted(0.2),
    );
    prop_oneof![
        6 => asks.prop_map(Op::Ask),
        1 => owed.prop_map(Op::Owed),
        8 => serve.prop_map(|(consumer, next, forget, repeat)| Op::Serve { consumer, next, forget, repeat }),
        3 => Just(Op::LeaseEnds),
        2 => any::<usize>().prop_map(Op::Void),
        3 => (any::<usize>(), 0..3_u8).prop_map(|(place, redemption)| Op::Redeem(place, redemption)),
        4 => any::<usize>().prop_map(Op::Redrive),
        1 => (0..REQUESTS).prop_map(Op::VoidAny),
        1 => (0..REQUESTS).prop_map(Op::RedriveAny),
        1 => (0..REQUESTS, 0..3_u8).prop_map(|(request, redemption)| Op::RedeemAny(request, redemption)),
        3 => status.prop_map(Op::Status),
        2 => rules.prop_map(|(stock, per_user, window, open)| Op::Define { stock, per_user, window, open }),
        1 => Just(Op::Age),
    ]
}

/// The coupon, its model, and the requests that the consumers hold.
struct Both {
    fixture: CouponFixture,
    model: Model,
    in_hand: [Vec<String>; 2],
    takes: u64,
}

fn id(number: u8) -> String {
    format!("r{number}")
}

impl Wish {
    fn ask(self) -> Ask {
        let asked = Ask {
            mode: if self.line { Mode::Line } else { Mode::Now },
            ..ask(&id(self.request), &format!("u{}", self.user))
        };
        if self.has_metadata {
            with_metadata(asked, &[("order", &id(self.request))])
        } else {
            asked
        }
    }
}

impl Both {
    async fn new(redis: Arc<TestRedis>) -> Self {
        let rules = Rules {
            stock: 10,
            per_user: 1,
            window_ms: None,
            open: true,
        };
        Self {
            fixture: CouponFixture::on(redis, &json!({})).await,
            model: Model::new(rules),
            in_hand: [Vec::new(), Vec::new()],
            takes: 0,
        }
    }

    /// Time of the last event, which is that of the last call's decisions, if it made any.
    async fn decided_at(&self) -> i64 {
        let (_, fields) = self.fixture.events().await.pop().expect("an event");
        fields["at"].parse().expect("a time")
    }

    async fn run(&mut self, op: &Op) {
        match op {
            Op::Ask(wishes) => self.ask(wishes).await,
            Op::Owed(wishes) => self.owed(wishes).await,
            Op::Serve {
                consumer,
                next,
                forget,
                repeat,
            } => self.serve(usize::from(*consumer), *next, *forget, *repeat).await,
            Op::LeaseEnds => {
                let state = &self.fixture.keys.state;
                self.fixture
                    .raw::<()>(redis::cmd("HDEL").arg(state).arg("consumer"))
                    .await;
                self.model.holder = None;
            }
            Op::Void(place) => {
                let issued = self.those(|outcome| matches!(outcome, Outcome::Issued(_)));
                self.void(issued.get(place % issued.len().max(1)).cloned()).await;
            }
            Op::Redrive(place) => {
                let dead = self.those(|outcome| matches!(outcome, Outcome::Dead(_)));
                self.redrive(dead.get(place % dead.len().max(1)).cloned()).await;
            }
            Op::Redeem(place, redemption) => {
                let out = self.those(|outcome| matches!(outcome, Outcome::Issued(_) | Outcome::Redeemed(..)));
                self.redeem(out.get(place % out.len().max(1)).cloned(), *redemption)
                    .await;
            }
            Op::RedeemAny(request, redemption) => self.redeem(Some(id(*request)), *redemption).await,
            Op::VoidAny(request) => self.void(Some(id(*request))).await,
            Op::RedriveAny(request) => self.redrive(Some(id(*request))).await,
            Op::Status(wanted) => {
                let set = self.fixture.operated(*wanted).await;
                let done = self.model.set_status(*wanted);
                assert_eq!(done, matches!(set, StatusSet::Done(_)), "{set:?}");
            }
            Op::Define {
                stock,
                per_user,
                window,
                open,
            } => {
                let window_ms = window.then_some(WINDOW_MS);
                let (stock, per_user, open) = (*stock, *per_user, *open);
                let ends_at = (!open).then_some("2020-01-01T00:00:00Z");
                let change = json!({"stock": stock, "per_user": per_user, "ends_at": ends_at,
                    "per_user_window_s": window_ms.map(|ms| ms / 1_000)});
                let defined = self.fixture.define(&change).await;
                let rules = Rules {
                    stock,
                    per_user,
                    window_ms,
                    open,
                };
                let put = self.model.define(rules);
                assert_eq!(put, matches!(defined, Defined::Changed(_)), "{defined:?}");
            }
            Op::Age => self.age().await,
        }
    }

    async fn ask(&mut self, wishes: &[Wish]) {
        let asks: Vec<_> = wishes.iter().map(|wish| wish.ask()).collect();
        let asked = self.fixture.issue(&asks).await;
        let at = self.decided_at().await;
        let mut missed = false;
        for (ask, reply) in asks.iter().zip(asked.answers) {
            let is_known = self.model.requests.contains_key(&ask.request_id);
            let line = ask.mode == Mode::Line;
            let is_answered = self.model.ask(&ask.request_id, &word(&ask.user), line, at);
            match reply {
                AskReply::Answered(answer) => assert_eq!((true, !is_known), (is_answered, answer.fresh)),
                AskReply::NotTaken => assert!(!is_answered, "{ask:?}"),
            }
            missed |= !is_answered;
        }
        assert_eq!(asked.refusal.is_some(), missed, "{:?}", asked.refusal);
    }

    async fn owed(&mut self, wishes: &[Wish]) {
        let asks: Vec<_> = wishes.iter().map(|wish| wish.ask()).collect();
        let (store, keys) = (&self.fixture.store, &self.fixture.keys);
        let asked = scripts::issue_owed(store, keys, Mark::ZERO, &asks)
            .await
            .expect("a reply");
        assert_eq!(asked.refusal, None, "a player does not wait for an operator");
        let at = self.decided_at().await;
        for ask in &asks {
            self.model.owed(&ask.request_id, &word(&ask.user), at);
        }
    }

    async fn serve(&mut self, consumer: usize, next: usize, forget: bool, repeat: bool) {
        let name = format!("consumer-{consumer}");
        let mut served = std::mem::take(&mut self.in_hand[consumer]);
        if forget {
            served.clear();
        }
        self.takes += 1;
        let take_id = format!("take-{}", self.takes);
        for _ in 0..=u8::from(repeat) {
            let codes = with_codes(served.iter().map(String::as_str));
            let reply = self.fixture.serve(&name, &take_id, &codes, next).await;
            let at = self.decided_at().await;
            match (reply, self.model.serve(&name, &take_id, &served, next, at)) {
                (Served::Held { .. }, Step::Held) | (Served::Stopped { .. }, Step::Paused) => {
                    self.in_hand[consumer].clone_from(&served);
                }
                (Served::Done { taken, waiting, .. }, Step::Taken(expected)) => {
                    let taken = taken.into_iter().map(|taken| (taken.request_id, taken.attempts));
                    assert_eq!(taken.collect::<Vec<_>>(), expected);
                    assert_eq!(waiting, self.model.line.len() as u64);
                    self.in_hand[consumer] = expected.into_iter().map(|(id, _)| id).collect();
                }
                other => panic!("{other:?}"),
            }
        }
    }

    /// Ids of the requests whose outcome fits `is`.
    fn those(&self, is: fn(&Outcome) -> bool) -> Vec<String> {
        let all = self.model.requests.iter();
        all.filter(|(_, (_, outcome))| is(outcome))
            .map(|(id, _)| id.clone())
            .collect()
    }

    async fn void(&mut self, request: Option<String>) {
        if let Some(request) = request {
            self.fixture.void(&request).await;
            self.model.void(&request);
        }
    }

    async fn redeem(&mut self, request: Option<String>, redemption: u8) {
        if let Some(request) = request {
            let redemption = format!("till-{redemption}");
            let redeemed = self.fixture.redeem(&request, &redemption, "a receipt").await;
            let done = self.model.redeem(&request, &redemption);
            assert_eq!(done, matches!(redeemed, Redeemed::Done(_)), "{redeemed:?}");
        }
    }

    async fn redrive(&mut self, request: Option<String>) {
        if let Some(request) = request {
            self.fixture.redrive(&request).await;
            self.model.redrive(&request);
        }
    }

    async fn age(&mut self) {
        self.model.age(WINDOW_MS);
        for (user, text) in users_text(&self.model) {
            let users = &self.fixture.keys.users;
            self.fixture
                .raw::<()>(redis::cmd("HSET").arg(users).arg(user).arg(text))
                .await;
        }
    }

    async fn compare(&self) {
        let (fixture, model) = (&self.fixture, &self.model);
        let requests = fixture.hash(&fixture.keys.requests).await;
        let held = requests.iter().map(|(id, text)| (id.clone(), outcome(text)));
        assert_eq!(held.collect::<BTreeMap<_, _>>(), model.requests);
        assert_eq!(fixture.hash(&fixture.keys.users).await, users_text(model));
        for (key, expected) in [(&fixture.keys.queue, &model.line), (&fixture.keys.dead, &model.dead)] {
            let held = fixture.sorted(key).await.into_iter().map(|(id, arrival)| (arrival, id));
            assert_eq!(&held.collect::<BTreeMap<_, _>>(), expected);
        }
        let state = fixture.hash(&fixture.keys.state).await;
        for (field, expected) in [
            ("seq", model.issued),
            ("voided", model.voided),
            ("arrivals", model.arrivals),
            ("stock", model.rules.stock),
        ] {
            assert_eq!(state[field], expected.to_string(), "{field}");
        }
        assert_eq!(state["status"], model.status.as_str());
        let redeemed = state.get("redeemed").map_or("0", String::as_str);
        assert_eq!(redeemed, model.redeemed.to_string());
        self.promises();
    }

    /// The promises, which hold whatever the model does.
    fn promises(&self) {
        let outcomes = || self.model.requests.values().map(|(_, outcome)| outcome);
        let out = outcomes()
            .filter(|outcome| matches!(outcome, Outcome::Issued(_) | Outcome::Redeemed(..)))
            .count() as u64;
        assert_eq!(out, self.model.issued - self.model.voided);
        assert!(out <= self.model.rules.stock);
        let sequences = outcomes().filter_map(|outcome| match outcome {
            Outcome::Issued(sequence) | Outcome::Voided(sequence) | Outcome::Redeemed(sequence, _) => Some(*sequence),
            _ => None,
        });
        let sequences = sequences.collect::<BTreeSet<_>>();
        assert!(sequences.into_iter().eq(1..=self.model.issued), "dense, each once");
    }

    /// The requests that follow from the events are those of the model. A take has no event, so its effect is left out.
    async fn assert_events_tell(&self) {
        let mut told: BTreeMap<String, (String, String)> = BTreeMap::new();
        for (n, (kind, fields)) in (1..).zip(self.fixture.events().await) {
            assert_eq!(fields["n"], i32::to_string(&n), "dense");
            let (request, user) = (fields.get("request"), fields.get("user"));
            match kind.as_str() {
                "issue" | "serve" => {
                    for line in fields["block"].lines() {
                        let mut parts = line.splitn(3, ' ').map(str::to_owned);
                        let mut next = || parts.next().expect("a line of a block");
                        told.insert(next(), (next(), next()));
                    }
                }
                "void" => {
                    let told = told.get_mut(request.expect("a request")).expect("issued");
                    assert_eq!(Some(plain(&told.0)), user.map(String::as_str));
                    told.1.replace_range(..1, "v");
                }
                "redeem" => {
                    let told = told.get_mut(request.expect("a request")).expect("issued");
                    let user = user.map(String::as_str);
                    assert_eq!((Some(plain(&told.0)), &told.1[..2]), (user, "i "));
                    told.1.replace_range(..1, "r");
                }
                "redrive" => {
                    let arrival = &fields["arrival"];
                    told.get_mut(request.expect("a request")).expect("dead").1 = format!("q {arrival}");
                }
                _ => {}
            }
        }
        let held = self.fixture.hash(&self.fixture.keys.requests).await;
        let held = held.iter().map(|(id, text)| {
            let Record { user, state } = Record::parse(text).expect("readable");
            let what = match state {
                State::Issued(issue) => format!("i {} {}", issue.sequence, issue.code),
                State::Voided(issue, _) => format!("v {} {}", issue.sequence, issue.code),
                State::Redeemed(issue, _) => format!("r {} {}", issue.sequence, issue.code),
                State::AlreadyIssued { first, .. } => format!("a {first}"),
                State::OutOfStock { .. } => "o".to_owned(),
                State::NotOpen { .. } => "n".to_owned(),
                State::Closed { .. } => "c".to_owned(),
                State::Queued { arrival, .. } => format!("q {arrival}"),
                State::Dead { attempts, .. } => format!("d {attempts}"),
            };
            (id.clone(), (word(&user), what))
        });
        assert_eq!(told, held.collect());
    }
}

/// A user with the metadata, as records and events have it.
fn word(user: &Asker) -> String {
    let mut word = String::new();
    user.write(&mut word);
    word
}

/// The user of a word that may have metadata.
fn plain(word: &str) -> &str {
    word.split('/').next().unwrap_or_default()
}

fn users_text(model: &Model) -> BTreeMap<String, String> {
    let one = |(id, at): &(String, i64)| format!("{id} {at};");
    let text = |counting: &[(String, i64)]| counting.iter().map(one).collect::<Vec<_>>().concat();
    model
        .users
        .iter()
        .map(|(user, counting)| (user.clone(), text(counting)))
        .collect()
}

/// User and outcome of a raw record.
fn outcome(text: &str) -> (String, Outcome) {
    let parts = text.split(' ').collect::<Vec<_>>();
    let number = |i: usize| parts[i].parse().expect("a number");
    let outcome = match parts[0] {
        "i" => Outcome::Issued(number(1)),
        "v" => Outcome::Voided(number(1)),
        "r" => Outcome::Redeemed(number(1), parts[5].to_owned()),
        "a" => Outcome::Already(parts[2].to_owned()),
        "o" => Outcome::OutOfStock,
        "n" => Outcome::NotOpen,
        "c" => Outcome::Closed,
        "q" => Outcome::Queued {
            arrival: number(1),
            tries: parts[2].parse().expect("a number"),
            take: parts[3].to_owned(),
        },
        "d" => Outcome::Dead(number(1)),
        _ => panic!("{text}"),
    };
    (parts.last().expect("a user").to_string(), outcome)
}

#[test]
fn a_coupon_does_what_its_model_does() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let redis = Arc::new(runtime.block_on(TestRedis::start()));
    let ops = prop::collection::vec(op(), 40..160);
    let outcome = TestRunner::new(cases(16)).run(&ops, |ops| {
        runtime.block_on(async {
            let mut both = Both::new(Arc::clone(&redis)).await;
            for op in &ops {
                both.run(op).await;
                both.compare().await;
            }
            both.assert_events_tell().await;
        });
        Ok(())
    });
    outcome.unwrap_or_else(|failed| panic!("{failed}"));
}
