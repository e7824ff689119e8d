//! Reading `{code, mark, ...}`.

use jackpot_core::mark::Mark;
use redis::Value;

use super::{At, Part, ScriptError, Values};

/// A reply: its code, the mark, and the values after it.
#[derive(Debug)]
pub struct Reply {
    script: &'static str,
    code: String,
    mark: Mark,
    rest: Vec<Value>,
}

impl Reply {
    /// Splits a reply, and turns the codes that every script has into errors.
    pub fn parse(script: &'static str, value: Value, known: Mark) -> Result<Self, ScriptError> {
        let unexpected = |value: &Value| ScriptError::Reply {
            script,
            reply: format!("{value:?}"),
        };
        let Value::Array(items) = value else {
            return Err(unexpected(&value));
        };
        let mut items = items.into_iter();
        let code = items.next().and_then(text).ok_or_else(|| unexpected(&Value::Nil))?;
        // A subject whose events this instance has seen exists. A Redis without it has lost it.
        match code.as_str() {
            "unknown" if known > Mark::ZERO => {
                let at = Mark::ZERO;
                return Err(ScriptError::Behind { at, known });
            }
            "unknown" => return Err(ScriptError::Unknown),
            _ => {}
        }
        let mark = items.next();
        let rest = items.collect();
        let reply = Self {
            script,
            code,
            mark: Mark::ZERO,
            rest,
        };
        let mark = match mark {
            None => Mark::ZERO,
            Some(value) => text(value)
                .and_then(|t| Mark::unpack(t.parse().ok()?))
                .ok_or_else(|| reply.unexpected())?,
        };
        match reply.code.as_str() {
            "behind" => Err(ScriptError::Behind { at: mark, known }),
            "restoring" => Err(ScriptError::Restoring),
            _ => Ok(Self { mark, ..reply }),
        }
    }

    /// Turns the codes of the fence into errors too; `enter` reads them itself.
    pub fn fenced(self) -> Result<Self, ScriptError> {
        match self.code.as_str() {
            "stale" => Err(ScriptError::Stale),
            "secret" => Err(ScriptError::Secret),
            _ => Ok(self),
        }
    }

    pub fn code(&self) -> &str {
        &self.code
    }

    pub fn mark(&self) -> Mark {
        self.mark
    }

    /// The declared values after the mark, which must be all.
    pub fn read<T: Part>(&self) -> Result<At<T>, ScriptError> {
        let (mark, mut values) = (self.mark, self.values());
        let read = values.take().filter(|_| values.is_empty());
        read.map(|values| At { mark, values }).ok_or_else(|| self.unexpected())
    }

    /// The values after the mark, to be read by their declaration.
    pub fn values(&self) -> Values<'_> {
        Values::new(&self.rest)
    }

    /// The values after the mark.
    pub fn into_rest(self) -> Vec<Value> {
        self.rest
    }

    /// The values as text; `None` for a null.
    pub fn texts(&self) -> Vec<Option<String>> {
        self.rest.iter().cloned().map(text).collect()
    }

    /// The error for a reply in another form.
    pub fn unexpected(&self) -> ScriptError {
        ScriptError::Reply {
            script: self.script,
            reply: format!("{} {} {:?}", self.code, self.mark.packed(), self.rest),
        }
    }
}

fn text(value: Value) -> Option<String> {
    match value {
        Value::BulkString(bytes) => String::from_utf8(bytes).ok(),
        Value::SimpleString(text) => Some(text),
        Value::Int(number) => Some(number.to_string()),
        _ => None,
    }
}
