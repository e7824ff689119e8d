//! `lua/stream/tail.lua`.

use std::collections::BTreeMap;

use std::sync::LazyLock;

use redis::{FromRedisValue, Value};

use crate::store::keys::StreamKeys;
use crate::store::{Call, Script, Store};

use super::{EVENTS, Mark, ScriptError, run};

static TAIL: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "tail",
        "allow-oom",
        &[EVENTS, include_str!("../../lua/stream/tail.lua")],
    )
});

/// Most events of one call: each may hold as many entries as a call of `enter` takes.
pub const MAX_EVENTS: usize = 1_000;

/// What is to be read, and what may go.
#[derive(Debug, Clone, Copy)]
pub struct TailWish<'a> {
    /// Stream id of the last event the caller has; `None`: from the start.
    pub after: Option<&'a str>,
    /// At most this many, 1 to `MAX_EVENTS`; one more when that completes a batch.
    pub max_events: usize,
    /// At most this many bytes of names and values; one event is read in any case, and both segments of a batch.
    pub max_bytes: usize,
    /// Events before this stream id may be dropped, because SQL has them.
    pub trim_before: Option<&'a str>,
}

/// Events behind one.
#[derive(Debug, PartialEq, Eq)]
pub struct Tail {
    /// Its mark: n is the number of the last event in Redis, read or not.
    pub mark: Mark,
    /// Stream id and fields of each, in order.
    pub events: Vec<(String, BTreeMap<String, String>)>,
}

/// Reads the events behind one. `known`: the highest mark this instance has seen.
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
    Some((id, BTreeMap::from_redis_value_ref(fields).ok()?))
}
