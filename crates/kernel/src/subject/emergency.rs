//! The emergency stop, as a subject and Redis see it: the last decision, and how a subject obeys it
//! (`lua/subject/emergency.lua`). Who decides, and how all subjects are reached: `crate::ledger::emergency`.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock, PoisonError};

use futures_util::future::BoxFuture;
use jackpot_core::clock::rfc3339;
use jackpot_core::ids::Id;
use jackpot_core::mark::Mark;
use redis::Value;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::engine::Operated;
use super::{LUA, MaybeScript as _, Registry, Reply, ScriptError, index};
use crate::store::keys::EMERGENCY;
use crate::store::{Call, Script, Store};

static DECISION: LazyLock<Script> =
    LazyLock::new(|| LUA.script("emergency_decision", "allow-oom", "subject/emergency_decision"));

/// A decision of an operator: everything stops, or takes requests again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The last one has the highest. It is odd for a stop and even for a start. So where two operators cannot see each
    /// other's decision, a stop and a start never have the same.
    pub order: u64,
    pub reason: String,
    /// When it was made, ms since 1970.
    pub at_ms: i64,
    /// Name of the operator's key.
    pub who: String,
    /// Id of the HTTP request.
    pub request_id: String,
}

impl Decision {
    pub fn is_stop(&self) -> bool {
        is_stop(self.order)
    }

    /// The field of a subject that obeys it.
    pub fn field(&self) -> String {
        format!("{} {}", self.order, self.reason)
    }
}

/// The emergency stop, in the answers of what it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Stopped {
    /// Why, as the operator said.
    #[schema(example = "payout table under review")]
    pub reason: String,
    /// When it was decided, RFC 3339.
    #[schema(example = "2026-11-21T06:00:00.123Z")]
    since: String,
}

fn is_stop(order: u64) -> bool {
    order % 2 == 1
}

/// The order of the next decision after the last one; 0: there is none.
pub fn next_order(last: u64, stops: bool) -> u64 {
    if is_stop(last + 1) == stops { last + 1 } else { last + 2 }
}

/// What came of a decision at a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obedience {
    /// It obeys.
    Obeys,
    /// It has obeyed a later decision.
    Newer,
}

/// The last decision in Redis.
pub async fn last_in_redis(store: &Store) -> Result<Option<Decision>, ScriptError> {
    let mut read = redis::cmd("HMGET");
    read.arg(EMERGENCY).arg(&["order", "reason", "at", "who", "request_id"]);
    let reply = store.run(&read).await?;
    let unexpected = |reply: &dyn std::fmt::Debug| ScriptError::Reply {
        script: "HMGET",
        reply: format!("{reply:?}"),
    };
    let values: Vec<Option<String>> = redis::from_redis_value(reply).map_err(|error| unexpected(&error))?;
    let [order, reason, at_ms, who, request_id] = values.as_slice() else {
        return Err(unexpected(&values));
    };
    let Some(order) = order else {
        return Ok(None);
    };
    let text = |of: &Option<String>| of.clone().unwrap_or_default();
    let decision = order.parse().ok().zip(text(at_ms).parse().ok());
    let decision = decision.map(|(order, at_ms)| Decision {
        order,
        reason: text(reason),
        at_ms,
        who: text(who),
        request_id: text(request_id),
    });
    decision.map(Some).ok_or_else(|| unexpected(&values))
}

/// Writes a decision into Redis. `false`: Redis has another one with this order, or a later one.
pub async fn write_in_redis(store: &Store, decision: &Decision) -> Result<bool, ScriptError> {
    let call = Call::new(&DECISION)
        .key(EMERGENCY)
        .arg(decision.order)
        .arg(&decision.reason)
        .arg(decision.at_ms)
        .arg(&decision.who)
        .arg(&decision.request_id);
    let reply = store.call(&call).await?;
    let reply = Reply::parse(DECISION.name(), reply, Mark::ZERO)?;
    match reply.code() {
        "ok" => Ok(true),
        "other" => Ok(false),
        _ => Err(reply.unexpected()),
    }
}

/// The subjects of a kind, for decisions.
pub trait Obeys: Send + Sync {
    /// Remembers a decision for subjects that are created from now on.
    fn remember(&self, decision: &Arc<Decision>);
    /// The subjects that this instance knows, those of the ledger among them.
    fn used(&self) -> Vec<Id>;
    /// All names of the index.
    fn listed(&self) -> BoxFuture<'_, Result<BTreeSet<Id>, ScriptError>>;
    /// The node that holds a subject.
    fn node_of(&self, id: &Id) -> Option<Arc<str>>;
    /// Makes a subject obey. A repeat changes nothing.
    fn obey<'a>(&'a self, id: &'a Id, decision: &'a Decision) -> BoxFuture<'a, Result<Obedience, ScriptError>>;
}

/// What the script of a kind needs beside the decision.
#[derive(Debug, Default)]
pub struct Starting {
    pub keys: Vec<String>,
    pub args: Vec<String>,
}

impl<K: Operated> Obeys for Registry<K> {
    fn remember(&self, decision: &Arc<Decision>) {
        let mut last = self.decision.write().unwrap_or_else(PoisonError::into_inner);
        if last.as_ref().is_none_or(|last| last.order < decision.order) {
            *last = Some(Arc::clone(decision));
        }
    }

    fn used(&self) -> Vec<Id> {
        Self::used(self)
    }

    fn listed(&self) -> BoxFuture<'_, Result<BTreeSet<Id>, ScriptError>> {
        Box::pin(index::whole(self.store(), K::INDEX))
    }

    fn node_of(&self, id: &Id) -> Option<Arc<str>> {
        self.store().node_of(self.known(id).stream().state)
    }

    fn obey<'a>(&'a self, id: &'a Id, decision: &'a Decision) -> BoxFuture<'a, Result<Obedience, ScriptError>> {
        Box::pin(async { self.make_obey(id, decision, &Starting::default()).await })
    }
}

impl<K: Operated> Registry<K> {
    /// [`ScriptError::Stale`]: its script needs another reading for this start.
    pub async fn make_obey(&self, id: &Id, decision: &Decision, more: &Starting) -> Result<Obedience, ScriptError> {
        let (known, script) = (self.known(id), K::obey_script());
        let keys = known.stream();
        let call = Call::new(script).key(keys.state).key(keys.events);
        let call = more.keys.iter().fold(call, Call::key);
        let call = call
            .arg(known.mark().packed())
            .arg(decision.order)
            .arg(&decision.reason)
            .arg(&decision.who)
            .arg(&decision.request_id);
        let call = more.args.iter().fold(call, Call::arg);
        // The script decides what a lost subject does, so a low mark is no error here.
        let reply = Reply::parse(script.name(), self.store().call(&call).await?, Mark::ZERO)?;
        match reply.code() {
            "ok" | "same" => {
                self.observe_reply(&known, Ok(reply.mark()))?;
                Ok(Obedience::Obeys)
            }
            "held" => Ok(Obedience::Obeys),
            "newer" => Ok(Obedience::Newer),
            "stale" => Err(ScriptError::Stale),
            _ => Err(reply.unexpected()),
        }
    }

    /// Makes a name obey a stop before a subject of that name is created, so that the subject begins stopped.
    ///
    /// The name is in the index by now. So a decision of later has the name in its list, and one of earlier is in Redis
    /// or remembered.
    pub(super) async fn begins(&self, id: &Id) -> Result<(), ScriptError> {
        let remembered = self.decision.read().unwrap_or_else(PoisonError::into_inner).clone();
        let in_redis = match last_in_redis(self.store()).await {
            Ok(last) => last.map(Arc::new),
            // What the ledger has is remembered within seconds.
            Err(error) if error.is_unavailable() => None,
            Err(error) => return Err(error),
        };
        let last = [remembered, in_redis]
            .into_iter()
            .flatten()
            .max_by_key(|last| last.order);
        if let Some(stop) = last.filter(|last| last.is_stop()) {
            self.make_obey(id, &stop, &Starting::default()).await?;
        }
        Ok(())
    }

    /// The emergency stop as this instance knows it: at most a second late.
    pub fn stopped(&self) -> Option<Stopped> {
        let last = self.decision.read().unwrap_or_else(PoisonError::into_inner);
        let stop = last.as_ref().filter(|last| last.is_stop())?;
        Some(Stopped {
            reason: stop.reason.clone(),
            since: rfc3339(stop.at_ms),
        })
    }

    /// Why the emergency stop holds a subject, for the answer to a refused request. Read at most once a second for each.
    pub async fn stop_reason(&self, known: &Arc<K>) -> String {
        if let Some(reason) = known.stop_reason() {
            return reason;
        }
        let read = redis::cmd("HGET").arg(known.stream().state).arg("emergency").to_owned();
        let reason = match self.store().run(&read).await {
            Ok(Value::BulkString(field)) => reason_of(&field),
            _ => None,
        };
        match reason {
            Some(reason) => {
                known.keep_stop_reason(&reason);
                reason
            }
            None => "the reason can't be read now".to_owned(),
        }
    }
}

/// The reason in a subject's field.
fn reason_of(field: &[u8]) -> Option<String> {
    let (_, reason) = std::str::from_utf8(field).ok()?.split_once(' ')?;
    Some(reason.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_decision_has_a_higher_order_and_a_stop_an_odd_one() {
        let orders = [(0, true), (1, false), (2, true), (3, true), (5, false), (6, false)];
        let next = orders.map(|(last, stops)| next_order(last, stops));
        assert_eq!(next, [1, 2, 3, 5, 6, 8]);
        assert_eq!(next_order(0, false), 2);
    }

    #[test]
    fn a_reason_may_have_spaces() {
        let decision = Decision {
            order: 7,
            reason: "a b  c".to_owned(),
            at_ms: 0,
            who: String::new(),
            request_id: String::new(),
        };
        assert_eq!(reason_of(decision.field().as_bytes()).as_deref(), Some("a b  c"));
        assert_eq!(reason_of(b"7"), None);
    }
}
