//! A small exact model of a room, and what its forgers use. It has a tick every millisecond.

use std::collections::VecDeque;

use serde_json::json;

use crate::finding::Judged;
use crate::forge::{self, Honest};
use crate::room::answer::{Ended, How, Place, Session};
use crate::room::evidence::{Admission, Counts, Evidence, Join, Opening, Renewal, Sample, Shown, Visit};
use crate::room::pass;
use crate::room::plan::{Part, Plan, user_id};

/// The service's clock at the start of the run.
const START_MS: i64 = 1_800_000_000_000;
/// From the time when a place is free to the user who takes it.
pub const PROMOTED_AFTER_MS: u64 = 1;
/// From an admission to its answer, and then to what comes next.
const ANSWERED_MS: i64 = 20;
/// Between two late users.
const LATE_MS: i64 = 400;
/// The key that signs passes.
const KEY: u8 = 7;

impl Honest for Plan {
    const OPTIONS: &'static [&'static [&'static str]] = &[
        &["--room"],
        &["--users", "200"],
        &["--capacity", "20"],
        &["--session-s", "2"],
        &["--waiting-timeout-s", "3"],
        &["--stay-ms", "50"],
        &["--abandon", "10"],
        &["--leave", "10"],
        &["--die", "10"],
        &["--renew", "10"],
    ];

    fn model(self) -> Evidence {
        let plan = self;
        let visits = (0..plan.crowd.users)
            .map(|number| Visit::new(plan.user(number)))
            .collect();
        let mut model = Model {
            opened_ms: START_MS + i64::from(plan.early()) + 10,
            free: 0,
            queue: VecDeque::new(),
            inside: Vec::new(),
            counts: Counts::default(),
            visits,
            samples: Vec::new(),
            shown: Vec::new(),
            plan,
        };
        let mut now_ms = START_MS;
        while model.visits.iter().any(|visit| visit.finally.is_none()) {
            model.tick(now_ms);
            now_ms += 1;
        }
        model.evidence()
    }
}

/// Honest evidence with these options.
pub fn honest(line: &str) -> Evidence {
    forge::honest::<Plan>(line)
}

/// A rule finds a forgery, and names it so.
pub fn found(rule: &str, line: &str, named: &str, forge: impl FnOnce(&mut Evidence)) -> String {
    forge::found::<Plan>(rule, line, named, forge)
}

/// What a rule says.
pub fn judged(rule: &str, evidence: &Evidence) -> Judged {
    forge::judged::<Plan>(rule, evidence)
}

struct Model {
    plan: Plan,
    opened_ms: i64,
    free: u64,
    /// Users who wait, by number.
    queue: VecDeque<usize>,
    /// Users who are in, and until when.
    inside: Vec<(usize, i64, How)>,
    counts: Counts,
    visits: Vec<Visit>,
    samples: Vec<Sample>,
    shown: Vec<Shown>,
}

impl Model {
    fn tick(&mut self, now_ms: i64) {
        if now_ms == self.opened_ms {
            self.free = self.plan.options.capacity;
            self.counts.capacity = self.plan.options.capacity;
        }
        while self.free > 0
            && let Some(user) = self.queue.pop_front()
        {
            self.admit(user, now_ms);
        }
        for user in 0..self.visits.len() {
            if now_ms == self.joins_ms(user) {
                self.join(user, now_ms);
            }
        }
        self.give_up(now_ms);
        let mut gone: Vec<(usize, i64, How)> = Vec::new();
        self.inside.retain(|stay| {
            let is_over = stay.1 == now_ms;
            gone.extend(is_over.then_some(*stay));
            !is_over
        });
        for (user, _, how) in gone {
            self.free += 1;
            self.end(user, how, now_ms);
        }
        self.look(now_ms);
    }

    fn joins_ms(&self, user: usize) -> i64 {
        let user = i64::try_from(user).expect("few");
        match user - i64::from(self.plan.early()) {
            ..0 => START_MS + user,
            late => self.opened_ms + 20 + late * LATE_MS,
        }
    }

    fn join(&mut self, user: usize, now_ms: i64) {
        let waits = self.free == 0;
        if waits {
            self.queue.push_back(user);
        }
        let join = Join {
            sent_us: micros(now_ms) - 300,
            answered_us: micros(now_ms) + 300,
            status: 201,
            ticket: format!("t{user}").into(),
            position: waits.then_some(self.queue.len() as u64),
        };
        let visit = &mut self.visits[user];
        visit.position = join.position;
        if visit.user.twice {
            visit.joins.push(Join {
                status: 200,
                ..join.clone()
            });
        }
        visit.joins.push(join);
        if !waits {
            self.admit(user, now_ms);
        }
    }

    fn admit(&mut self, user: usize, now_ms: i64) {
        self.free -= 1;
        self.counts.admitted += 1;
        let session = self.session(user, now_ms, now_ms);
        let end_ms = session.expires_ms;
        let answered_us = micros(now_ms + ANSWERED_MS);
        let visit = &mut self.visits[user];
        let stay_ms = i64::try_from(visit.user.stay_ms).expect("short");
        visit.admission = Some(Admission { answered_us, session });
        let (part, first_end_ms) = (visit.user.part, end_ms);
        let end = match part {
            Part::Visit => (now_ms + ANSWERED_MS + stay_ms, How::Left),
            Part::Leave => (now_ms + ANSWERED_MS, How::Left),
            Part::Abandon | Part::Die => (end_ms, How::Expired),
            Part::Renew => {
                let renewed = self.session(user, now_ms, end_ms - self.plan.session_ms() / 2);
                self.visits[user].renewal = Some(Renewal::Longer(renewed));
                (first_end_ms + 200, How::Left)
            }
        };
        if part == Part::Abandon && self.visits[user].has_waited() {
            self.visits[user].admission = None;
        }
        self.inside.push((user, end.0, end.1));
    }

    /// A session that begins, or was renewed at `from_ms`.
    fn session(&self, user: usize, admitted_ms: i64, from_ms: i64) -> Session {
        let end_s = (from_ms + self.plan.session_ms() + 999) / 1_000;
        let claims = json!({"iss": "jackpot", "aud": self.plan.room_id, "sub": user_id(self.visits[user].user.number),
            "jti": format!("t{user}"), "iat": from_ms / 1_000, "exp": end_s});
        Session {
            admitted_ms,
            expires_ms: end_s * 1_000,
            pass: pass::tests::signed(KEY, pass::TYPE, &claims).into(),
        }
    }

    /// Takes users from the queue who leave it, or do not come back.
    fn give_up(&mut self, now_ms: i64) {
        let waiting: Vec<usize> = self.queue.iter().copied().collect();
        let timeout_ms = i64::from(self.plan.options.waiting_timeout_s) * 1_000;
        for user in waiting {
            let seen_ms = self.joins_ms(user).max(self.opened_ms);
            let how = match self.visits[user].user.part {
                Part::Leave if now_ms == seen_ms + 5 => How::Left,
                Part::Abandon if now_ms == seen_ms + timeout_ms => How::Abandoned,
                _ => continue,
            };
            self.queue.retain(|other| *other != user);
            self.end(user, how, now_ms);
        }
    }

    fn end(&mut self, user: usize, how: How, at_ms: i64) {
        match how {
            How::Left => self.counts.left += 1,
            How::Expired => self.counts.expired += 1,
            How::Abandoned => self.counts.abandoned += 1,
        }
        let (visit, ended) = (&mut self.visits[user], Ended { how, at_ms });
        visit.finally = Some(Place::Ended(ended));
        visit.ended = (visit.user.part != Part::Abandon).then_some(ended);
    }

    /// What the monitor sees.
    fn look(&mut self, now_ms: i64) {
        (self.counts.active, self.counts.waiting) = (self.inside.len() as u64, self.queue.len() as u64);
        let at_us = micros(now_ms) + 500;
        if now_ms % 4 == 0 {
            self.samples.push(Sample {
                sent_us: at_us - 300,
                answered_us: at_us,
                open: self.counts.active,
                waiting: self.counts.waiting,
                admitted: self.counts.admitted,
            });
        }
        if now_ms % 100 == 0 {
            self.shown.push(Shown {
                sent_us: at_us - 100,
                answered_us: at_us,
                counts: self.counts,
            });
        }
    }

    fn evidence(self) -> Evidence {
        Evidence {
            visits: self.visits,
            opening: Opening {
                waiting: self.plan.early().into(),
                sent_us: micros(self.opened_ms) - 200,
                answered_us: micros(self.opened_ms) + 200,
            },
            samples: self.samples,
            shown: self.shown,
            counts: self.counts,
            keys: Ok(vec![pass::tests::key(KEY)]),
            blind: None,
            kept_us: 60_000_000,
            stood_still_s: None,
            plan: self.plan,
        }
    }
}

/// Microseconds of the run, which started a little before the model.
fn micros(ms: i64) -> u64 {
    u64::try_from(ms - START_MS).expect("after the start") * 1_000 + 1_000
}

/// The first user that matches.
pub fn first(evidence: &Evidence, is: impl Fn(&Visit) -> bool) -> usize {
    evidence.visits.iter().position(is).expect("the model has one")
}

/// The session of a user by its first answer, to be forged.
pub fn session(evidence: &mut Evidence, user: usize) -> &mut Session {
    let admission = evidence.visits[user].admission.as_mut();
    &mut admission.expect("it was admitted").session
}

/// Changes how a ticket ended, in the answers to its user and after the run.
pub fn end(evidence: &mut Evidence, user: usize, how: How, at_ms: i64) {
    let (visit, ended) = (&mut evidence.visits[user], Ended { how, at_ms });
    (visit.ended, visit.finally) = (Some(ended), Some(Place::Ended(ended)));
}
