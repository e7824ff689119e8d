//! Everything a run of a room has seen, for the checks to judge.

use serde::Deserialize;

use super::answer::{Ended, How, Place, Session};
use super::pass::Key;
use super::plan::{Plan, User};

/// A join with its answer. Times are microseconds of the run; `sent` is the first try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Join {
    pub sent_us: u64,
    pub answered_us: u64,
    /// HTTP status of its answer.
    pub status: u16,
    pub ticket: Box<str>,
    /// If the answer said to wait.
    pub position: Option<u64>,
}

/// The first answer that says that the user is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admission {
    pub answered_us: u64,
    pub session: Session,
}

/// The answer to a renewal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Renewal {
    Longer(Session),
    /// There is no session.
    Refused {
        /// Whether a look after the refusal found one.
        is_in: bool,
    },
}

/// One user's way through the room.
#[derive(Debug, Clone)]
pub struct Visit {
    pub user: User,
    /// One, or two of the same instant.
    pub joins: Vec<Join>,
    /// The place in the queue, by the last answer.
    pub position: Option<u64>,
    /// A place that became worse: from, to.
    pub fell_back: Option<(u64, u64)>,
    pub admission: Option<Admission>,
    pub renewal: Option<Renewal>,
    /// The end, by the answers to the user.
    pub ended: Option<Ended>,
    /// The place after the run.
    pub finally: Option<Place>,
    /// If the service did not know the ticket any more then: the time since its join, in microseconds.
    pub forgotten_us: Option<u64>,
    pub looks: u64,
    /// Events of its stream.
    pub events: u64,
    /// How much later than asked it called, at most; after a kill of the service, how much later its answer came.
    pub late_us: u64,
    /// What is wrong with an answer.
    pub wrong: Option<String>,
}

impl Visit {
    pub fn new(user: User) -> Self {
        Self {
            user,
            joins: Vec::new(),
            position: None,
            fell_back: None,
            admission: None,
            renewal: None,
            ended: None,
            finally: None,
            forgotten_us: None,
            looks: 0,
            events: 0,
            late_us: 0,
            wrong: None,
        }
    }

    /// The ticket, once it has joined.
    pub fn ticket(&self) -> Option<&str> {
        self.joins.first().map(|join| &*join.ticket)
    }

    /// Whether an answer to a join of it said that it waits.
    pub fn has_waited(&self) -> bool {
        self.joins.iter().any(|join| join.position.is_some())
    }

    /// How it ended, after the run. If the service has forgotten the ticket by then: by the answers to its user.
    pub fn end(&self) -> Option<Ended> {
        match self.finally {
            Some(Place::Ended(ended)) => Some(ended),
            None if self.forgotten_us.is_some() => self.ended,
            _ => None,
        }
    }

    /// Whether no answer says how it ended.
    pub fn has_unknown_end(&self) -> bool {
        self.forgotten_us.is_some() && self.ended.is_none()
    }

    /// Whether it came back so late that it may have lost what the service keeps for these seconds: its place or its
    /// session. The service asks users to come back before half of them are over.
    pub fn was_late_for(&self, seconds: u32) -> bool {
        self.late_us >= u64::from(seconds) * 1_000_000 / 4
    }

    /// The session that a renewal gave.
    pub fn renewed(&self) -> Option<&Session> {
        match &self.renewal {
            Some(Renewal::Longer(session)) => Some(session),
            _ => None,
        }
    }

    /// The session, by the last answer.
    pub fn session(&self) -> Option<&Session> {
        self.renewed()
            .or_else(|| self.admission.as_ref().map(|admission| &admission.session))
    }

    /// Admitted, and its session ended before it came back.
    pub fn was_missed(&self) -> bool {
        self.admission.is_none() && self.end().is_some_and(|ended| ended.how == How::Expired)
    }

    /// Its stay at the shortest: from and to, in milliseconds of the service's clock.
    pub fn stay_ms(&self, plan: &Plan) -> Option<(i64, i64)> {
        let end_ms = self.end().map(|ended| ended.at_ms);
        match &self.admission {
            Some(admission) => Some((admission.session.admitted_ms, end_ms.unwrap_or(i64::MAX))),
            None if self.was_missed() => end_ms.map(|end_ms| (end_ms - plan.session_ms(), end_ms)),
            None => None,
        }
    }
}

/// What the monitor saw in Redis, at one instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// When it was asked for and seen, in microseconds of the run.
    pub sent_us: u64,
    pub answered_us: u64,
    /// Sessions whose end has not come.
    pub open: u64,
    pub waiting: u64,
    pub admitted: u64,
}

/// What `GET /v1/rooms/{id}` says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub struct Counts {
    pub capacity: u64,
    pub active: u64,
    pub waiting: u64,
    pub admitted: u64,
    pub expired: u64,
    pub abandoned: u64,
    pub left: u64,
}

/// The same during the run, with the times of the question and the answer, in microseconds of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shown {
    pub sent_us: u64,
    pub answered_us: u64,
    pub counts: Counts,
}

/// When the room got its capacity, in microseconds of the run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Opening {
    /// Users who waited then, as the service showed it.
    pub waiting: u64,
    pub sent_us: u64,
    pub answered_us: u64,
}

/// Everything a run has seen.
#[derive(Debug, Clone)]
pub struct Evidence {
    pub plan: Plan,
    /// By the user's number.
    pub visits: Vec<Visit>,
    pub opening: Opening,
    /// In the order of time. Only a private service has a Redis that the monitor may read.
    pub samples: Vec<Sample>,
    /// Why there are none, if the monitor tried.
    pub blind: Option<String>,
    /// In the order of time.
    pub shown: Vec<Shown>,
    /// After the run.
    pub counts: Counts,
    /// The public keys, or why they could not be read.
    pub keys: Result<Vec<Key>, String>,
    /// How long the service keeps a ticket after its end at least, in microseconds.
    pub kept_us: u64,
    /// Seconds for which the queue stood still, if the run gave up waiting.
    pub stood_still_s: Option<u64>,
}

impl Evidence {
    /// Users who join before the opening, and so have all the places from the first.
    pub fn early(&self) -> &[Visit] {
        &self.visits[..self.plan.early() as usize]
    }
}
