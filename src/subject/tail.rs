//! `lua/subject/tail.lua`.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use jackpot_core::mark::Mark;
use redis::{FromRedisValue, Value};

use crate::store::keys::StreamKeys;
use crate::store::{Call, Script, Store};

use super::{EVENTS, ScriptError, run};

static TAIL: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "tail",
        "allow-oom",
        &[EVENTS, include_str!("../../lua/subject/tail.lua")],
    )
});

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
    /// Stream id and fields of each event, in order. [`BASE64`] says how an event without valid UTF-8 looks.
    pub events: Vec<(String, BTreeMap<String, String>)>,
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
    let events = reply
        .rest()
        .chunks(2)
        .map(parse_event)
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| reply.unexpected())?;
    Ok(Tail {
        mark: reply.mark(),
        events,
    })
}

fn parse_event(pair: &[Value]) -> Option<(String, BTreeMap<String, String>)> {
    let [id, fields] = pair else {
        return None;
    };
    let id = String::from_redis_value_ref(id).ok()?;
    let Value::Array(fields) = fields else {
        return None;
    };
    if let [Value::BulkString(name), Value::BulkString(text)] = fields.as_slice()
        && name == EVENT
        && let Some(fields) = event_fields(text)
    {
        return Some((id, fields));
    }
    let pairs = fields.chunks(2).map(|pair| match pair {
        [Value::BulkString(name), Value::BulkString(value)] => Some(as_text(name, value)),
        _ => None,
    });
    Some((id, pairs.collect::<Option<_>>()?))
}

/// The only field of an event in its stream. An event of several fields, which no script of this version writes, has its
/// names and values there.
pub const EVENT: &[u8] = b"e";

/// Reads an event: names and values in turn, each as `<length>:<bytes>` (`lua/subject/events.lua`).
pub fn event_fields(mut text: &[u8]) -> Option<BTreeMap<String, String>> {
    let mut fields = BTreeMap::new();
    while !text.is_empty() {
        let (name, rest) = sized(text)?;
        let (value, rest) = sized(rest)?;
        let (name, value) = as_text(name, value);
        fields.insert(name, value);
        text = rest;
    }
    Some(fields)
}

/// An event that is being written, as `lua/subject/events.lua` writes it. A script puts its time in.
#[derive(Debug)]
pub struct EventText {
    before_time: String,
    after_time: String,
}

/// Usual bytes of an event of one entry.
const USUAL_BYTES: usize = 512;

impl EventText {
    /// An event of this type and number.
    #[must_use]
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
    #[must_use]
    pub fn parts(self) -> (String, String) {
        (self.before_time, self.after_time)
    }
}

fn put(out: &mut String, text: &str) {
    // Writing to a string does not fail.
    let _ = write!(out, "{}:{text}", text.len());
}

/// The text at the front, and what follows it.
fn sized(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = text.iter().take(MAX_SIZE_DIGITS + 1).position(|byte| *byte == b':')?;
    let digits = std::str::from_utf8(&text[..colon]).ok()?;
    let size = digits
        .bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| digits.parse::<usize>().ok())??;
    text[colon + 1..].split_at_checked(size)
}

/// Digits of the longest text: Redis' limit of a value is 512 MiB.
const MAX_SIZE_DIGITS: usize = 9;

/// Suffix of a field whose name or value is not UTF-8; both are in Base64 then. So an event keeps every byte, even one
/// that no script of ours wrote.
pub const BASE64: &str = ":base64";

fn as_text(name: &[u8], value: &[u8]) -> (String, String) {
    match (std::str::from_utf8(name), std::str::from_utf8(value)) {
        (Ok(name), Ok(value)) => (name.to_owned(), value.to_owned()),
        (Ok(name), Err(_)) => (format!("{name}{BASE64}"), BASE64_STANDARD.encode(value)),
        (Err(_), _) => (
            format!("{BASE64}:{}", BASE64_STANDARD.encode(name)),
            BASE64_STANDARD.encode(value),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<Vec<(String, String)>> {
        event_fields(text.as_bytes()).map(|fields| fields.into_iter().collect())
    }

    #[test]
    fn names_and_values_are_read_by_their_lengths() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            of("1:n1:75:block5:a\n:1:"),
            Some(vec![pair("block", "a\n:1:"), pair("n", "7")])
        );
        assert_eq!(of("4:skip0:"), Some(vec![pair("skip", "")]));
        assert_eq!(of(""), Some(Vec::new()));
    }

    #[test]
    fn what_is_cut_or_has_no_length_is_no_event() {
        for text in [
            "1:n",
            "1:n2:7",
            "n",
            ":n1:7",
            "-1:n1:7",
            "1:n99999999999999999999:7",
            "1:n1:7x",
            "+1:n1:7",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_no_text_is_kept_in_base64() {
        let fields = event_fields(b"1:n1:\xff").unwrap();
        assert_eq!(fields.get("n:base64").map(String::as_str), Some("/w=="));
    }
}
