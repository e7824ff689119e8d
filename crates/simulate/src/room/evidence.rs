//! Everything a run of a room has seen, for the checks to judge.

use super::answer::{Ended, How, Place, Session};
use super::pass::Key;
use super::plan::{Plan, User};

/// A join with its answer. Times are microseconds of the run; `sent` is the first try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Join {
    pub sent_us: u64,
    pub told_us: u64,
    /// HTTP status of its answer.
    pub status: u16,
    pub ticket: Box<str>,
    /// Of one who was told to wait.
    pub position: Option<u64>,
}

/// That a user is in, as it was told first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admission {
    pub told_us: u64,
    pub session: Session,
}

/// What a renewal said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Renewal {
    Longer(Session),
    /// There is no session.
    Refused {
        /// Whether a look behind the refusal said that there is one.
        is_in: bool,
    },
}

/// One user's way through the room.
#[derive(Debug, Clone)]
pub struct Visit {
    pub user: User,
    /// One, or two of the same instant.
    pub joins: Vec<Join>,
    /// The place in the line as it was told last.
    pub position: Option<u64>,
    /// A place that became worse: from, to.
    pub fell_back: Option<(u64, u64)>,
    pub admission: Option<Admission>,
    pub renewal: Option<Renewal>,
    /// That it is over, as the user was told.
    pub told: Option<Ended>,
    /// The place behind the run.
    pub finally: Option<Place>,
    /// That the service did not know the ticket any more then, so long behind its join, in microseconds.
    pub forgotten_us: Option<u64>,
    pub looks: u64,
    /// Events of its stream.
    pub events: u64,
    /// The most by which it called later than it was told to; where the service was killed, by which it was answered
    /// later.
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
            told: None,
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

    /// How it ended, behind the run; of a ticket that is forgotten by then, as its user was told.
    pub fn end(&self) -> Option<Ended> {
        match self.finally {
            Some(Place::Ended(ended)) => Some(ended),
            None if self.forgotten_us.is_some() => self.told,
            _ => None,
        }
    }

    /// Whether nobody can tell any more how it ended.
    pub fn is_untold(&self) -> bool {
        self.forgotten_us.is_some() && self.told.is_none()
    }

    /// Whether it was back so late that it may have lost by that what is kept for so many seconds, its place or its
    /// session: the service tells it to come back before half of them are over.
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

    /// The session as it was told last.
    pub fn session(&self) -> Option<&Session> {
        self.renewed()
            .or_else(|| self.admission.as_ref().map(|admission| &admission.session))
    }

    /// Admitted, and its session ended before it came back to be told.
    pub fn was_missed(&self) -> bool {
        self.admission.is_none() && self.end().is_some_and(|ended| ended.how == How::Expired)
    }

    /// From when at the latest until when it was in, in milliseconds of the service's clock.
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
    pub told_us: u64,
    /// Sessions whose end has not come.
    pub open: u64,
    pub waiting: u64,
    pub admitted: u64,
}

/// What `GET /v1/rooms/{id}` says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub capacity: u64,
    pub active: u64,
    pub waiting: u64,
    pub admitted: u64,
    pub expired: u64,
    pub abandoned: u64,
    pub left: u64,
}

/// The same during the run, and when it was asked for and told, in microseconds of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shown {
    pub sent_us: u64,
    pub told_us: u64,
    pub counts: Counts,
}

/// When the room got its capacity, in microseconds of the run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Opening {
    /// Who waited then, as the service showed it.
    pub waiting: u64,
    pub sent_us: u64,
    pub told_us: u64,
}

/// Everything a run has seen.
#[derive(Debug, Clone)]
pub struct Evidence {
    pub plan: Plan,
    /// By the user's number.
    pub visits: Vec<Visit>,
    pub opening: Opening,
    /// In the order of time; none of a given service, whose Redis is not ours to ask.
    pub samples: Vec<Sample>,
    /// Why there is none, where Redis was asked.
    pub blind: Option<String>,
    /// In the order of time.
    pub shown: Vec<Shown>,
    /// Behind the run.
    pub counts: Counts,
    /// The public keys, or why they could not be read.
    pub keys: Result<Vec<Key>, String>,
    /// How long the service keeps a ticket behind its end at least, in microseconds.
    pub kept_us: u64,
    /// That nobody came further for so long, in seconds, that the others were not waited for.
    pub stood_still_s: Option<u64>,
}

impl Evidence {
    /// Those who were to join before anybody was let in, so that they were told all the places from the first on.
    pub fn early(&self) -> &[Visit] {
        &self.visits[..self.plan.early() as usize]
    }
}
