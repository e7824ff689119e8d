//! Reads what scripts reply about requests: their records and details.

use jackpot_core::unreadable::Unreadable;
use jackpot_core::wire::Field;

use crate::record::{Record, State};
use jackpot_kernel::reply;
use jackpot_kernel::subject::Values;

use super::{Reply, ScriptError};

reply! {
    /// What came of requests. The record of each follows, in order, empty for none, then the details of some.
    pub(super) struct Answered {
        /// Places of the requests that this call did not decide or put into the queue, from 1.
        known: Places,
    }
}

reply! {
    /// A detail of one of the records.
    pub(super) struct Detail {
        /// Its place, from 1.
        place: u64,
        /// Of an already issued request: the record of the first issue, empty if it is lost. Of a request in the queue:
        /// how many are before it.
        text: String,
    }
}

/// The record of a request: empty for none. An unreadable one may be that of its user, after `? `.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kept(pub Option<Result<Record, Unreadable>>);

impl Field for Kept {
    const TYPE: &'static str = "record of a request, or empty";
    const PATTERN: &'static str = ".*";

    fn read(text: &str) -> Option<Self> {
        Some(Self((!text.is_empty()).then(|| Record::parse(text))))
    }

    fn write(&self, out: &mut String) {
        if let Some(Ok(record)) = &self.0 {
            record.write(out);
        }
    }
}

/// Places among the requests of a call, from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Places(Vec<u64>);

impl Field for Places {
    const TYPE: &'static str = "numbers with commas";
    const PATTERN: &'static str = "[%d,]*";

    fn read(text: &str) -> Option<Self> {
        let places = text.split_terminator(',').map(u64::read);
        places.collect::<Option<_>>().map(Self)
    }

    fn write(&self, out: &mut String) {
        let places: Vec<_> = self.0.iter().map(u64::to_string).collect();
        out.push_str(&places.join(","));
    }
}

/// The reply about one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Its record. `Err`: the unreadable record, of the request or of its user; then nothing was decided, or the result
    /// is unknown.
    pub record: Result<Record, Unreadable>,
    /// Whether this call decided it, or put it into the queue.
    pub fresh: bool,
    /// Of a user who has reached the limit: request id and record of the first issue that counted.
    pub first: Option<(String, Record)>,
    /// Of a queued request: how many are before it.
    pub place: Option<u64>,
}

/// Reads the rest of a reply about `count` requests. `None` in it: a request without a record. Returns `None` for a
/// reply in another form.
pub(super) fn read(values: &mut Values<'_>, count: usize) -> Option<Vec<Option<Answer>>> {
    let Answered { known } = values.take()?;
    let answer = |Kept(record)| {
        record.map(|record| Answer {
            fresh: record.is_ok(),
            record,
            first: None,
            place: None,
        })
    };
    let answers = (0..count).map(|_| values.take().map(answer));
    let mut answers = answers.collect::<Option<Vec<_>>>()?;
    for place in known.0 {
        if let Some(answer) = at(&mut answers, place)? {
            answer.fresh = false;
        }
    }
    for Detail { place, text } in values.rest()? {
        add_detail(at(&mut answers, place)?.as_mut()?, &text)?;
    }
    Some(answers)
}

/// Reads a reply about one request.
pub(super) fn read_one(reply: &Reply) -> Result<Answer, ScriptError> {
    let answer = read(&mut reply.values(), 1).and_then(|mut answers| answers.pop()?);
    answer.ok_or_else(|| reply.unexpected())
}

fn at(answers: &mut [Option<Answer>], place: u64) -> Option<&mut Option<Answer>> {
    answers.get_mut(usize::try_from(place).ok()?.checked_sub(1)?)
}

/// A first issue that is lost or unreadable is left out: the answer is complete without it.
fn add_detail(answer: &mut Answer, detail: &str) -> Option<()> {
    match answer.record.as_ref().map(|record| &record.state) {
        Ok(State::AlreadyIssued { first, .. }) => {
            answer.first = Record::parse(detail).ok().map(|record| (first.clone(), record));
        }
        Ok(State::Queued { .. }) => answer.place = Some(detail.parse().ok()?),
        Ok(_) => return None,
        Err(_) => {}
    }
    Some(())
}
