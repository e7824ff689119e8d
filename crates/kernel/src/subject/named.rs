//! What an operator wants, as one argument of a script.

use std::fmt::{Display, Write as _};

use redis::{RedisWrite, ToRedisArgs};

use crate::operator::Operator;

/// Values by their names, as `named` of `lua/subject/named.lua` reads them: each name and each value is
/// `<length>:<bytes>`.
#[derive(Debug, Clone, Default)]
pub struct Named(String);

impl Named {
    pub fn new() -> Self {
        Self::default()
    }

    /// The argument.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Adds a value.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Display) -> Self {
        let value = value.to_string();
        let _ = write!(self.0, "{}:{name}{}:{value}", name.len(), value.len());
        self
    }

    /// Adds a value that is 1 for yes and 0 for no.
    #[must_use]
    pub fn with_flag(self, name: &str, is: bool) -> Self {
        self.with(name, u8::from(is))
    }

    /// Adds who wants it.
    #[must_use]
    pub fn by(self, by: &Operator) -> Self {
        self.with("who", &by.who)
            .with("owner", &by.owner)
            .with("request_id", &by.request_id)
    }

    /// Adds who wants it, and why.
    #[must_use]
    pub fn why(self, by: &Operator, reason: &str) -> Self {
        self.by(by).with("reason", reason)
    }
}

impl ToRedisArgs for Named {
    fn write_redis_args<W: ?Sized + RedisWrite>(&self, out: &mut W) {
        out.write_arg(self.0.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use jackpot_core::fields::EventFields;

    use super::*;

    #[test]
    fn values_have_their_names_whatever_is_in_them() {
        let by = Operator {
            who: "kim".to_owned(),
            owner: "3:a".to_owned(),
            request_id: String::new(),
        };
        let named = Named::new()
            .with("amount", 7)
            .with_flag("looks", true)
            .why(&by, "잭팟 4:x");
        let fields = EventFields::parse(named.0.into_bytes()).expect("each has its length");
        let read: Vec<_> = fields.iter().collect();
        assert_eq!(
            read,
            [
                ("amount", "7"),
                ("looks", "1"),
                ("owner", "3:a"),
                ("reason", "잭팟 4:x"),
                ("request_id", ""),
                ("who", "kim"),
            ]
        );
    }
}
