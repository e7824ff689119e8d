//! `lua/subject/tail.lua`.

use std::fmt::Write;
use std::sync::LazyLock;

use jackpot_core::fields::EventFields;
use jackpot_core::mark::Mark;
use redis::Value;

use crate::store::keys::StreamKeys;
use crate::store::{Call, Script, Store};

use super::{LUA, ScriptError, run};

static TAIL: LazyLock<Script> = LazyLock::new(|| LUA.script("tail", "allow-oom", "subject/tail"));

/// Most events of one call. Each may hold as many entries as a call of `enter` takes.
pub const MAX_EVENTS: usize = 1_000;

/// What to read, and what to trim.
#[derive(Debug, Clone, Copy)]
pub struct TailWish<'a> {
    /// Stream id of the last event the caller has; `None`: from the start.
    pub after: Option<&'a str>,
    /// At most this many, 1 to `MAX_EVENTS`; one more when that completes a batch.
    pub max_events: usize,
    /// At most this many bytes of names and values; one event is read in any case, and both segments of a batch.
    pub max_bytes: usize,
    /// Events before this stream id may be trimmed, because SQL has them.
    pub trim_before: Option<&'a str>,
}

/// Events after the caller's last one.
#[derive(Debug, PartialEq, Eq)]
pub struct Tail {
    /// The mark; n is the number of the last event in Redis, read or not.
    pub mark: Mark,
    /// Stream id and fields of each event, in order.
    pub events: Vec<(String, EventFields)>,
}

/// Reads the events after the caller's last one. `known`: the highest mark this instance has seen.
///
/// # Panics
/// When `max_events` is out of its range.
pub async fn tail(store: &Store, keys: StreamKeys<'_>, known: Mark, wish: &TailWish<'_>) -> Result<Tail, ScriptError> {
    assert!(
        (1..=MAX_EVENTS).contains(&wish.max_events),
        "1 to {MAX_EVENTS} events a call"
    );
    let call = Call::new(&TAIL)
        .key(keys.state)
        .key(keys.events)
        .arg(known.packed())
        .arg(wish.after.unwrap_or_default())
        .arg(wish.max_events)
        .arg(wish.max_bytes.max(1))
        .arg(wish.trim_before.unwrap_or_default());
    let reply = run(store, &TAIL, call, known).await?;
    if reply.code() != "ok" {
        return Err(reply.unexpected());
    }
    let mark = reply.mark();
    let events = parse_events(reply.into_rest()).ok_or_else(|| ScriptError::Reply {
        script: TAIL.name(),
        reply: format!("{} without the events of that form", mark.packed()),
    })?;
    Ok(Tail { mark, events })
}

/// Stream ids and events in turn. An event is the text of its only field, or names and values in turn where it has several
/// fields or another one, as no script of this version writes it.
fn parse_events(values: Vec<Value>) -> Option<Vec<(String, EventFields)>> {
    let mut events = Vec::with_capacity(values.len() / 2);
    let mut values = values.into_iter();
    while let Some(id) = values.next() {
        let Value::BulkString(id) = id else {
            return None;
        };
        let fields = match values.next()? {
            Value::BulkString(text) => {
                EventFields::parse(text).unwrap_or_else(|text| EventFields::of_bytes([(EVENT, text.as_slice())]))
            }
            Value::Array(fields) => EventFields::of_bytes(pairs(&fields)?),
            _ => return None,
        };
        events.push((String::from_utf8(id).ok()?, fields));
    }
    Some(events)
}

fn pairs(fields: &[Value]) -> Option<Vec<(&[u8], &[u8])>> {
    let pairs = fields.chunks(2).map(|pair| match pair {
        [Value::BulkString(name), Value::BulkString(value)] => Some((name.as_slice(), value.as_slice())),
        _ => None,
    });
    pairs.collect()
}

/// The only field of an event in its stream.
pub const EVENT: &[u8] = b"e";

/// The text of an event without its time, as `lua/subject/events.lua` writes it. The script that appends the event inserts
/// the time of Redis' clock.
#[derive(Debug)]
pub struct EventText {
    before_time: String,
    after_time: String,
}

/// Usual bytes of an event of one entry.
const USUAL_BYTES: usize = 512;

impl EventText {
    /// An event of this type and number.
    pub fn new(kind: &str, n: u64) -> Self {
        let mut before_time = String::with_capacity(64);
        put(&mut before_time, "type");
        put(&mut before_time, kind);
        put(&mut before_time, "n");
        put(&mut before_time, &n.to_string());
        put(&mut before_time, "at");
        Self {
            before_time,
            after_time: String::with_capacity(USUAL_BYTES),
        }
    }

    /// Adds a field.
    pub fn field(&mut self, name: &str, value: &str) -> &mut Self {
        put(&mut self.after_time, name);
        put(&mut self.after_time, value);
        self
    }

    /// The text before the time with its length, and after it.
    pub fn parts(self) -> (String, String) {
        (self.before_time, self.after_time)
    }
}

fn put(out: &mut String, text: &str) {
    // Writing to a string does not fail.
    let _ = write!(out, "{}:{text}", text.len());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bulk(text: &str) -> Value {
        Value::BulkString(text.as_bytes().to_vec())
    }

    fn read(values: Vec<Value>) -> Option<Vec<(String, String)>> {
        let events = parse_events(values)?.into_iter();
        Some(events.map(|(id, fields)| (id, format!("{fields:?}"))).collect())
    }

    #[test]
    fn an_event_is_a_text_or_names_and_values() {
        let fields = Value::Array(["n", "8", "type", "rubbish"].map(bulk).to_vec());
        let events = vec![bulk("1-1"), bulk("1:n1:7"), bulk("1-2"), fields, bulk("1-3"), bulk("7")];
        let event = |id: &str, fields: &str| (id.to_owned(), fields.to_owned());
        assert_eq!(
            read(events),
            Some(vec![
                event("1-1", r#"{"n": "7"}"#),
                event("1-2", r#"{"n": "8", "type": "rubbish"}"#),
                event("1-3", r#"{"e": "7"}"#)
            ])
        );
        for wrong in [
            vec![bulk("1-1")],
            vec![bulk("1-1"), Value::Nil],
            vec![Value::Nil, bulk("1:n1:7")],
            vec![bulk("1-1"), Value::Array(vec![bulk("n")])],
        ] {
            assert_eq!(read(wrong), None);
        }
    }
}
