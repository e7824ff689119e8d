//! Reads what scripts reply about requests: their records and details.

use jackpot_core::unreadable::Unreadable;

use crate::coupon::record::Record;

use super::{Reply, ScriptError};

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

/// Reads `known, record of each, place, text, ...`: one answer for each of `count`, `None` for a request without a
/// record. Returns `None` for a reply in another form.
pub(super) fn parse<'a>(mut texts: impl Iterator<Item = Option<&'a str>>, count: usize) -> Option<Vec<Option<Answer>>> {
    let known = texts.next()??;
    let mut answers = (0..count)
        .map(|_| {
            let text = texts.next()??;
            let record = Record::parse(text);
            let answer = (!text.is_empty()).then(|| Answer {
                fresh: record.is_ok(),
                record,
                first: None,
                place: None,
            });
            Some(answer)
        })
        .collect::<Option<Vec<_>>>()?;
    for place in known.split(',').filter(|place| !place.is_empty()) {
        if let Some(answer) = at(&mut answers, place)? {
            answer.fresh = false;
        }
    }
    while let Some(place) = texts.next() {
        let answer = at(&mut answers, place?)?.as_mut()?;
        add_detail(answer, texts.next()??)?;
    }
    Some(answers)
}

/// Reads `known, record, place, text` of one request.
pub(super) fn parse_one(reply: &Reply) -> Result<Answer, ScriptError> {
    let answer = parse(reply.strs(), 1).and_then(|mut answers| answers.pop()?);
    answer.ok_or_else(|| reply.unexpected())
}

fn at<'a>(answers: &'a mut [Option<Answer>], place: &str) -> Option<&'a mut Option<Answer>> {
    answers.get_mut(place.parse::<usize>().ok()?.checked_sub(1)?)
}

/// A first issue that is lost or unreadable is left out: the answer is complete without it.
fn add_detail(answer: &mut Answer, detail: &str) -> Option<()> {
    use crate::coupon::record::State;
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
