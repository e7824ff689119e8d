//! What operators did, as rows for people. Every capability has definitions, statuses, restores and skipped events;
//! this file describes them. Pure.

use std::fmt::Display;

use jackpot_core::fields::EventFields;
use jackpot_core::ids::Id;
use serde_json::{Value, json};

use super::events::Obeyed;

/// One action of an operator, or of the service in an operator's place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    /// Name of the key; `service` and `ledger` for the service's own actions.
    pub who: String,
    pub action: &'static str,
    /// The jackpot, with the adjustment if there is one.
    pub target: String,
    /// The state before, JSON.
    pub before: String,
    /// The state after, JSON.
    pub after: String,
    /// Why, as the operator said.
    pub reason: String,
    pub request_id: String,
    /// Order of the decision about the emergency stop that was obeyed; `None` for all other actions.
    pub decision: Option<u64>,
}

/// What an event says was done, without the actor.
#[derive(Debug)]
pub struct Done {
    action: &'static str,
    part: Option<String>,
    before: Value,
    after: Value,
    decision: Option<u64>,
}

impl Done {
    pub fn new(action: &'static str, before: Value, after: Value) -> Self {
        Self {
            action,
            part: None,
            before,
            after,
            decision: None,
        }
    }

    /// Sets the target to a part of the subject, such as one request.
    #[must_use]
    pub fn to(self, part: impl Display) -> Self {
        Self {
            part: Some(part.to_string()),
            ..self
        }
    }

    /// A definition was put. `before`, `after`: version and definition, JSON; empty for none.
    pub fn define(before: (u64, &str), after: (u64, &str)) -> Self {
        let version = |(version, json)| match serde_json::from_str::<Value>(json) {
            Ok(definition) => json!({"version": version, "definition": definition}),
            Err(_) => Value::Null,
        };
        Self::new("define", version(before), version(after))
    }

    /// The status was set.
    pub fn status(before: &str, after: &str) -> Self {
        let action = match after {
            "open" => "resume",
            "paused" => "pause",
            "suspended" => "suspend",
            _ => "close",
        };
        Self::new(action, json!(before), json!(after))
    }

    /// The same for a status whose change put another version of the definition in force.
    #[must_use]
    pub fn with_version(self, before: u64, after: u64) -> Self {
        let with = |status: &Value, version: u64| json!({"status": status, "version": version});
        Self {
            before: with(&self.before, before),
            after: with(&self.after, after),
            ..self
        }
    }

    /// It obeys the emergency stop, or its end.
    pub fn obeyed(obeyed: Obeyed) -> Self {
        let (action, before, after) = if obeyed.stopped {
            ("emergency-stop", "taking", "stopped")
        } else {
            ("emergency-start", "stopped", "taking")
        };
        Self {
            decision: Some(obeyed.decision),
            ..Self::new(action, json!(before), json!(after))
        }
    }

    /// Redis was rebuilt. `from_n`: its last event before the restore; `n`, `restores`: the subject's values after
    /// it.
    pub fn restore(from_n: Option<u64>, n: u64, restores: u64) -> Self {
        let redis = json!({"redis_event": from_n});
        Self::new("restore", redis, json!({"event": n, "restores": restores}))
    }

    /// Makes the row. `fields`: the event's fields.
    pub fn action(self, subject: &Id, fields: &EventFields) -> Action {
        let text = |name: &str| fields.get(name).unwrap_or_default().to_owned();
        Action {
            who: text("who"),
            action: self.action,
            target: self
                .part
                .map_or_else(|| subject.to_string(), |part| format!("{subject}/{part}")),
            before: self.before.to_string(),
            after: self.after.to_string(),
            reason: text("reason"),
            request_id: text("request_id"),
            decision: self.decision,
        }
    }
}
