//! Random visits, definitions, stops, losses, passing time and jumps of the clock. After each call the raw keys and the
//! answers are what the model says, and the promises hold.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

use jackpot::room::record::{End, Record};
use jackpot::room::scripts::{Counts, DefineRefusal, Defined, Place, Seen, Visit, VisitReply};
use jackpot::room::ticket::Ticket;
use jackpot_api::room::Status;
use jackpot_core::clock::rfc3339;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::room::fixture::{RETENTION_MS, RoomFixture};
use crate::room::model::{Model, Rules, Stand};
use crate::support::cases;
use crate::support::prelude::*;

#[derive(Debug, Clone)]
enum Act {
    Join(u8),
    /// A ticket, by its place among all that there were.
    Look(usize),
    Renew(usize),
    Leave(usize),
}

#[derive(Debug, Clone)]
enum Op {
    /// `twice`: the call is sent again, as after a lost reply.
    Visit {
        acts: Vec<Act>,
        twice: bool,
    },
    Define {
        capacity: usize,
        session_s: i64,
        timeout_s: i64,
        rate: Option<usize>,
        opens: Opens,
    },
    /// Seconds.
    Pass(u64),
    /// Redis' clock jumps forward, or back when negative, by so many seconds.
    Jump(i64),
    Suspend(bool),
    /// This instance has seen this many passes more than there are.
    Lose(u64),
}

#[derive(Debug, Clone, Copy)]
enum Opens {
    Stays,
    Never,
    /// The opening in seconds from now.
    In(i64),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        6 => (0..14_u8).prop_map(Act::Join),
        3 => any::<usize>().prop_map(Act::Look),
        2 => any::<usize>().prop_map(Act::Renew),
        2 => any::<usize>().prop_map(Act::Leave),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    let rate = prop::option::weighted(0.6, 1..8_usize);
    let opens = prop_oneof![6 => Just(Opens::Stays), 1 => Just(Opens::Never), 1 => (-5..60_i64).prop_map(Opens::In)];
    let rules = (0..6_usize, 1..90_i64, 5..90_i64, rate, opens);
    let visit = (prop::collection::vec(act(), 0..8), prop::bool::weighted(0.2));
    prop_oneof![
        16 => visit.prop_map(|(acts, twice)| Op::Visit { acts, twice }),
        3 => rules.prop_map(|(capacity, session_s, timeout_s, rate, opens)| {
            Op::Define { capacity, session_s, timeout_s, rate, opens }
        }),
        6 => (0..45_u64).prop_map(Op::Pass),
        1 => Just(Op::Pass(300)),
        2 => (-90..90_i64).prop_map(Op::Jump),
        1 => prop_oneof![Just(3_600), Just(-3_600)].prop_map(Op::Jump),
        1 => prop::bool::weighted(0.3).prop_map(Op::Suspend),
        1 => (1..4_u64).prop_map(Op::Lose),
    ]
}

/// The room and its model. The model's time is the room's, plus the time that was let pass.
struct Both {
    fixture: RoomFixture,
    model: Model,
    passed_ms: i64,
    /// Sum of the jumps of Redis' clock.
    jumped_ms: i64,
    /// The room's time at the last visit, when that was sent, and the time let pass and jumped since.
    shown: (i64, Instant, i64),
    tickets: Vec<Ticket>,
}

/// The body of a PUT, by a clock that is `passed_ms` behind that of the model.
fn document(rules: &Rules, passed_ms: i64) -> serde_json::Value {
    json!({"capacity": rules.capacity, "session_s": rules.session / 1_000, "waiting_timeout_s": rules.timeout / 1_000,
        "admissions_per_minute": rules.rate, "opens_at": rules.opens_at.map(|at| rfc3339(at - passed_ms))})
}

impl Both {
    async fn new(redis: Arc<TestRedis>, opens_in: Option<i64>) -> Self {
        let fixture = RoomFixture::undefined(redis).await;
        let started = i64::try_from(std::time::UNIX_EPOCH.elapsed().expect("past 1970").as_millis()).expect("small");
        let rules = Rules {
            capacity: 3,
            session: 30_000,
            timeout: 20_000,
            rate: None,
            opens_at: opens_in.map(|seconds| started + seconds * 1_000),
        };
        let sent = Instant::now();
        assert_eq!(fixture.define(&document(&rules, 0)).await, Defined::Created(1));
        let now = fixture.last_event("define").await["at"].parse().expect("a time");
        let retention = i64::try_from(RETENTION_MS).expect("small");
        Self {
            fixture,
            model: Model::new(rules, retention, now),
            passed_ms: 0,
            jumped_ms: 0,
            shown: (now, sent, 0),
            tickets: Vec::new(),
        }
    }

    async fn run(&mut self, op: &Op) {
        match op {
            Op::Visit { acts, twice } => {
                let visits: Vec<_> = acts.iter().filter_map(|act| self.visit_of(act)).collect();
                for _ in 0..=u8::from(*twice) {
                    self.visit(&visits).await;
                }
            }
            Op::Define {
                capacity,
                session_s,
                timeout_s,
                rate,
                opens,
            } => {
                let by_ms = self.passed_ms + self.jumped_ms;
                let wall = self.fixture.snapshot().await.wall_ms + by_ms;
                let opens_at = match opens {
                    Opens::Stays => self.model.rules.opens_at,
                    Opens::Never => None,
                    Opens::In(seconds) => Some(wall + seconds * 1_000),
                };
                let rules = Rules {
                    capacity: *capacity,
                    session: session_s * 1_000,
                    timeout: timeout_s * 1_000,
                    rate: *rate,
                    opens_at,
                };
                let before = self.fixture.events().await.len();
                let defined = self.fixture.define(&document(&rules, by_ms)).await;
                let events = self.fixture.events().await;
                let last = &events.last().expect("an event").1;
                let time = |field: &str| last[field].parse::<i64>().expect("a time");
                // A call that changes nothing has no event, nor has a refused one.
                if events.len() > before {
                    let times = (time("clock") + self.passed_ms, time("at") + by_ms);
                    assert!(self.model.define(rules, times.0, times.1), "{defined:?}");
                    self.fixture.reorder().await;
                    self.model.reorder(&self.fixture.seed());
                } else if defined == Defined::Refused(DefineRefusal::Opened) {
                    let after = self.fixture.snapshot().await;
                    let put = self
                        .model
                        .define(rules, after.now_ms + self.passed_ms, after.wall_ms + by_ms);
                    assert!(!put);
                } else {
                    assert!(matches!(defined, Defined::Changed(_)), "{defined:?}");
                }
            }
            Op::Pass(seconds) => {
                self.fixture.pass(*seconds).await;
                let ms = i64::try_from(*seconds).expect("few") * 1_000;
                self.passed_ms += ms;
                // An instance stepped the room all the time.
                self.model.stepped += ms;
                self.shown.2 += ms;
            }
            Op::Jump(seconds) => {
                self.fixture.jump(*seconds).await;
                self.jumped_ms += seconds * 1_000;
                self.shown.2 += (seconds * 1_000).max(0);
            }
            Op::Suspend(stop) => {
                self.fixture
                    .status(if *stop { Status::Suspended } else { Status::Open })
                    .await;
                self.model.open = !stop;
            }
            Op::Lose(more) => self.fixture.known.hear_passes(self.model.passes + more),
        }
    }

    fn visit_of(&mut self, act: &Act) -> Option<Visit> {
        let nth = |place: usize| self.tickets.get(place % self.tickets.len().max(1)).copied();
        match act {
            Act::Join(user) => {
                let visit = self.fixture.join(&format!("u{user}"));
                let Visit::Join { ticket, .. } = visit else {
                    unreachable!()
                };
                self.tickets.push(ticket);
                Some(visit)
            }
            Act::Look(place) => nth(*place).map(Visit::Look),
            Act::Renew(place) => nth(*place).map(Visit::Renew),
            Act::Leave(place) => nth(*place).map(Visit::Leave),
        }
    }

    async fn visit(&mut self, visits: &[Visit]) {
        let known = self.fixture.known.passes();
        let sent = Instant::now();
        let visited = self.fixture.visit(visits).await;
        let (now, before) = (visited.now_ms + self.passed_ms, self.model.clone());
        let by_ms = self.passed_ms + self.jumped_ms;
        self.goes_on(now, sent);
        let expected = self.model.visit(now, visited.wall_ms + by_ms, known, visits);
        let replies = visited.replies.iter().cloned();
        let replies = replies.map(|reply| later(reply, self.passed_ms));
        assert_eq!(replies.collect::<Vec<_>>(), expected);
        let model = &self.model;
        let (active, waiting) = (model.active() as u64, model.line().len() as u64);
        assert_eq!(
            visited.counts,
            Counts {
                active,
                waiting,
                ..model.counts
            }
        );
        assert_eq!((visited.passes, visited.more), (model.passes, false));
        assert_eq!(
            (visited.opens_ms, visited.hold_ms),
            (
                (!model.opened).then(|| model.opens - by_ms),
                (model.hold > now).then(|| model.hold - self.passed_ms)
            )
        );
        self.promises(&before);
    }

    /// The room's time never goes back, and goes on as long as time passes, whatever Redis' clock does.
    fn goes_on(&mut self, now: i64, sent: Instant) {
        let (last, at, more) = self.shown;
        let passed = i64::try_from(at.elapsed().as_millis()).expect("short") + more;
        assert!(
            (last..=last + passed + 2).contains(&now),
            "{now} behind {last} and {passed}"
        );
        self.shown = (now, sent, 0);
    }

    /// The promises, which hold whatever the model does.
    fn promises(&self, before: &Model) {
        let (model, rules) = (&self.model, &self.model.rules);
        assert!(
            model.active() <= rules.capacity.max(before.active()),
            "nobody beyond the capacity"
        );
        let holders = model
            .tickets
            .values()
            .filter(|(_, stand)| !matches!(stand, Stand::Over { .. }));
        let holders: Vec<_> = holders.map(|(user, _)| user).collect();
        assert_eq!(
            holders.iter().collect::<BTreeSet<_>>().len(),
            holders.len(),
            "a ticket for each user"
        );
        let left_behind = model.line().into_iter().filter(|ticket| before.line().contains(ticket));
        let place = |ticket: &Ticket| before.line().iter().position(|other| other == ticket);
        let first_behind = left_behind.map(|ticket| place(&ticket)).min().flatten();
        for (ticket, (_, stand)) in &model.tickets {
            let came_in = matches!(stand, Stand::In { .. }).then(|| place(ticket)).flatten();
            assert!(
                came_in.is_none() || first_behind.is_none() || came_in < first_behind,
                "in order"
            );
        }
        if let Some(rate) = rules.rate {
            let new = &model.admissions[before.admissions.len().min(model.admissions.len())..];
            for at in new {
                let window = model
                    .admissions
                    .iter()
                    .filter(|other| (at - 60_000..=*at).contains(*other));
                assert!(window.count() <= rate, "the rate, in the 60 s before each");
            }
        }
    }

    async fn compare(&self) {
        let (fixture, model) = (&self.fixture, &self.model);
        let sorted = async |key: &str| fixture.sorted(key).await;
        let scores: BTreeMap<String, i64> = sorted(&fixture.keys.seen).await.into_iter().collect();
        let orders: BTreeMap<String, i64> = sorted(&fixture.keys.waiting).await.into_iter().collect();
        let ends: BTreeMap<String, i64> = sorted(&fixture.keys.active).await.into_iter().collect();
        let drops: BTreeMap<String, i64> = sorted(&fixture.keys.ended).await.into_iter().collect();
        let held = fixture
            .hash(&fixture.keys.tickets)
            .await
            .into_iter()
            .map(|(ticket, text)| {
                let late = |at: i64| at + self.passed_ms;
                let over = |how, at_ms| Stand::Over {
                    how,
                    at: late(at_ms),
                    dropped: late(drops[&ticket]),
                };
                let (user, stand) = match Record::parse(&text).expect("readable") {
                    Record::Waiting { joined_ms, user, .. } => {
                        let (order, until) = (orders[&ticket], late(scores[&ticket]));
                        let joined = late(joined_ms);
                        (user, Stand::Waiting { order, joined, until })
                    }
                    Record::Admitted {
                        admitted_ms,
                        end_ms,
                        joined_ms,
                        user,
                    } => {
                        assert_eq!(ends[&ticket], end_ms);
                        let (admitted, end, joined) = (late(admitted_ms), late(end_ms), late(joined_ms));
                        (user, Stand::In { admitted, end, joined })
                    }
                    Record::Expired { at_ms, user } => (user, over(End::Expired, at_ms)),
                    Record::Abandoned { at_ms, user } => (user, over(End::Abandoned, at_ms)),
                    Record::Left { at_ms, user } => (user, over(End::Left, at_ms)),
                };
                (Ticket::parse(&ticket).expect("a ticket"), (user, stand))
            });
        assert_eq!(held.collect::<BTreeMap<_, _>>(), model.tickets);
        let sets = [&scores, &orders, &ends, &drops].map(BTreeMap::len);
        let (line, active) = (model.line().len(), model.active());
        assert_eq!(
            sets,
            [line, line, active, model.tickets.len() - line - active],
            "nothing else is there"
        );
        let (mut users, mut busy) = (BTreeMap::new(), BTreeMap::new());
        for (user, text) in fixture.hash(&fixture.keys.users).await {
            let (ticket, until) = text.split_once(' ').unwrap_or((&text, "0"));
            let until = until.parse::<i64>().expect("a time") + self.passed_ms;
            if ticket != "-" {
                users.insert(user.clone(), ticket.to_owned());
            }
            busy.insert(user, until);
        }
        let holders = model
            .users
            .iter()
            .map(|(user, ticket)| (user.to_string(), ticket.to_string()));
        assert_eq!(users, holders.collect());
        let now = self.fixture.snapshot().await.now_ms + self.passed_ms;
        for (user, until) in model.busy.iter().filter(|(_, until)| **until > now) {
            assert_eq!(busy.get(user.as_str()), Some(until), "{user}");
        }
        let over = busy.iter().filter(|(_, until)| **until > now).map(|(user, _)| user);
        let unknown: Vec<_> = over
            .filter(|user| !model.busy.keys().any(|known| known.as_str() == *user))
            .collect();
        assert!(unknown.is_empty(), "{unknown:?}");
        let revoked = fixture.revoked(0).await.items.into_iter();
        let revoked = revoked.map(|pass| {
            let at = [pass.exp_ms, pass.at_ms].map(|ms| ms + self.passed_ms);
            (pass.number, (pass.ticket, at[0], at[1]))
        });
        assert_eq!(revoked.collect::<BTreeMap<_, _>>(), model.revoked);
        let collected = fixture.collected().await.items.into_iter().map(|(_, ticket)| ticket);
        assert_eq!(collected.collect::<Vec<_>>(), model.collected);
    }
}

/// The same answer, `by` ms later.
fn later(reply: VisitReply, by: i64) -> VisitReply {
    let later = |mut seen: Seen| {
        seen.joined_ms = seen.joined_ms.map(|at| at + by);
        match &mut seen.place {
            Place::Waiting { .. } => {}
            Place::Admitted { admitted_ms, end_ms } => {
                *admitted_ms += by;
                *end_ms += by;
            }
            Place::Ended { at_ms, .. } => *at_ms += by,
        }
        seen
    };
    match reply {
        VisitReply::Seen(seen) => VisitReply::Seen(later(seen)),
        VisitReply::NotAdmitted(seen) => VisitReply::NotAdmitted(later(seen)),
        other => other,
    }
}

#[test]
fn a_room_does_what_its_model_does() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let _within = runtime.enter(); // what is dropped here may need it
    let redis = Arc::new(runtime.block_on(TestRedis::start()));
    let ops = (prop::option::of(0..60_i64), prop::collection::vec(op(), 30..110));
    let outcome = TestRunner::new(cases(16)).run(&ops, |(opens_in, ops)| {
        runtime.block_on(async {
            let mut both = Both::new(Arc::clone(&redis), opens_in).await;
            for op in &ops {
                both.run(op).await;
                both.compare().await;
            }
        });
        Ok(())
    });
    outcome.unwrap_or_else(|failed| panic!("{failed}"));
}
