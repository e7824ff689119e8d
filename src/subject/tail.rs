//! `lua/subject/tail.lua`.

use std::collections::BTreeMap;

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
    let pairs = fields.chunks(2).map(|pair| match pair {
        [Value::BulkString(name), Value::BulkString(value)] => Some(as_text(name, value)),
        _ => None,
    });
    Some((id, pairs.collect::<Option<_>>()?))
}

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
