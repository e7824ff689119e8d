//! The commands that the service sends, in scripts and outside of them, and the check that its user may send each.
//!
//! A right that a script lacks would fail in its middle, after its first write. `redis.acl_check_cmd` tells before.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::LazyLock;

use redis::Value;

use crate::settings::{CheckConfig, Durability, RedisMode};

use super::checks::{CheckError, Rules};
use super::connection::Link;
use super::error::{Failure, NO_FUNCTION};
use super::script::{By, Call, Script};

/// Commands of the scripts. A test compares them with `lua/`.
pub const IN_SCRIPTS: [&str; 36] = [
    "DECRBY",
    "GET",
    "HDEL",
    "HEXISTS",
    "HGET",
    "HGETALL",
    "HKEYS",
    "HLEN",
    "HMGET",
    "HSET",
    "INCRBY",
    "LINDEX",
    "LLEN",
    "LPUSH",
    "LRANGE",
    "MGET",
    "RPOP",
    "SET",
    "SETNX",
    "TIME",
    "UNLINK",
    "XADD",
    "XRANGE",
    "XTRIM",
    "ZADD",
    "ZCARD",
    "ZCOUNT",
    "ZMSCORE",
    "ZRANGE",
    "ZRANGEBYSCORE",
    "ZRANK",
    "ZREM",
    "ZREMRANGEBYRANK",
    "ZREMRANGEBYSCORE",
    "ZREVRANGEBYSCORE",
    "ZSCORE",
];

/// When a command is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    Always,
    /// `redis.check_config = "required"`.
    ChecksConfig,
    /// `redis.durability = "replicated"`.
    Replicated,
    /// `redis.mode = "cluster"`.
    Cluster,
    /// `redis.mode = "sentinel"`.
    Sentinel,
}

/// Commands outside of scripts. A test compares them with `src/`.
pub const OUTSIDE: [(&str, When); 25] = [
    ("ASKING", When::Cluster),
    ("CLUSTER INFO", When::Cluster),
    ("CLUSTER SLOTS", When::Cluster),
    ("CONFIG GET", When::ChecksConfig),
    ("DBSIZE", When::Always),
    ("EVAL", When::Always),
    ("EXISTS", When::Always),
    ("FCALL", When::Always),
    ("FUNCTION LOAD", When::Always),
    ("GET", When::Always),
    ("HGET", When::Always),
    ("HGETALL", When::Always),
    ("HLEN", When::Always),
    ("HMGET", When::Always),
    ("HSCAN", When::Always),
    ("INFO", When::Always),
    ("MGET", When::Always),
    ("PING", When::Always),
    ("ROLE", When::Sentinel),
    ("TIME", When::Always),
    ("WAIT", When::Replicated),
    ("ZADD", When::Always),
    ("ZCARD", When::Always),
    ("ZRANGE", When::Always),
    ("ZRANGEBYLEX", When::Always),
];

/// Patterns of all keys.
pub const KEYS: [&str; 3] = ["jp:*", "cp:*", "room:*"];

/// The rule that grants a command.
pub fn grant(command: &str) -> String {
    format!("+{}", command.to_lowercase().replace(' ', "|"))
}

/// Says of each command whether the user may send it, and of the keys whether it may write them. FCALL writes its keys.
static CHECK: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "check_rights",
        "no-writes",
        &["
local check = redis.acl_check_cmd
if not check then
  return 'unknown'
end
local lacking = {}
local knows, may = pcall(check, 'FCALL', 'check', '0')
local by = knows and may and 'FCALL' or 'EVAL'
local allowed = ''
for i = 1, tonumber(ARGV[1]) do
  local pattern = ARGV[i + 1]
  local key = string.gsub(pattern, '%*', '{check}')
  if check(by, 'check', '1', key) then
    allowed = key
  else
    lacking[#lacking + 1] = 'keys ' .. pattern
  end
end
for i = ARGV[1] + 2, #ARGV do
  local words = {}
  for word in string.gmatch(ARGV[i], '%S+') do
    words[#words + 1] = word
  end
  if ARGV[i] == 'FCALL' or ARGV[i] == 'EVAL' then
    words = { ARGV[i], 'check', '0' }
  elseif ARGV[i] == 'SET' then
    words = { 'SET', allowed, '' } -- Redis can't tell of SET alone
  end
  knows, may = pcall(check, unpack(words))
  if not knows then
    lacking[#lacking + 1] = 'name ' .. ARGV[i]
  elseif not may then
    lacking[#lacking + 1] = 'right ' .. ARGV[i]
  end
end
return lacking
"],
    )
});

/// What a user lacks.
#[derive(Debug, Default)]
struct Lacking {
    rights: BTreeSet<String>,
    keys: BTreeSet<String>,
    /// Commands that the server does not know by these names.
    names: BTreeSet<String>,
}

impl Rules {
    /// Fails with all that the user lacks on this server.
    pub(super) async fn check_rights(self, link: &Link) -> Result<(), CheckError> {
        let wanted = OUTSIDE.iter().filter(|(_, when)| self.sends(*when));
        let wanted: BTreeSet<_> = wanted.map(|(command, _)| *command).chain(IN_SCRIPTS).collect();
        let call = Call::new(&CHECK).arg(KEYS.len()).arg(&KEYS[..]);
        let call = wanted.iter().fold(call, |call, command| call.arg(*command));
        let mut lacking = Lacking::default();
        let mut is_checked = false;
        for (sent, command) in [
            (&CHECK.load(), "FUNCTION LOAD"),
            (&*call.command(By::Name), "FCALL"),
            (&*call.command(By::Source), "EVAL"),
        ] {
            match link.send(sent).await {
                Ok(_) if command == "FUNCTION LOAD" => {}
                Ok(answer) => {
                    lacking.add(&answer);
                    is_checked = true;
                }
                // Loaded before; or memory is full, and the server keeps no function.
                Err(failure) if failure.says("already exists") || failure.says(NO_FUNCTION) || failure.is_oom() => {}
                Err(failure) => lacking.add_failed(command, &failure)?,
            }
        }
        if !is_checked && wanted.contains("INFO") {
            // No script can tell of the others.
            if let Err(failure) = link.send(&redis::cmd("INFO")).await {
                lacking.add_failed("INFO", &failure)?;
            }
        }
        lacking.into_result(link.node())
    }

    fn sends(self, when: When) -> bool {
        match when {
            When::Always => true,
            When::ChecksConfig => self.check_config == CheckConfig::Required,
            When::Replicated => self.durability == Durability::Replicated,
            When::Cluster => self.mode == RedisMode::Cluster,
            When::Sentinel => self.mode == RedisMode::Sentinel,
        }
    }
}

impl Lacking {
    /// The answer of [`CHECK`].
    fn add(&mut self, answer: &Value) {
        let Value::Array(found) = answer else {
            tracing::warn!("this server has no redis.acl_check_cmd: whether its user has every right can't be checked");
            return;
        };
        for one in found {
            let text: String = redis::from_redis_value_ref(one).unwrap_or_default();
            let (list, name) = match text.split_once(' ') {
                Some(("keys", name)) => (&mut self.keys, name),
                Some(("name", name)) => (&mut self.names, name),
                Some((_, name)) => (&mut self.rights, name),
                None => continue,
            };
            list.insert(name.to_owned());
        }
    }

    fn add_failed(&mut self, command: &str, failure: &Failure) -> Result<(), CheckError> {
        let list = if failure.is_no_permission() {
            &mut self.rights
        } else if failure.is_unknown_command() {
            &mut self.names
        } else {
            return Err(CheckError::NoAnswer(failure.to_string()));
        };
        list.insert(command.to_owned());
        Ok(())
    }

    fn into_result(self, node: &Arc<str>) -> Result<(), CheckError> {
        if self.rights.is_empty() && self.keys.is_empty() && self.names.is_empty() {
            return Ok(());
        }
        let mut texts = Vec::new();
        let list = |of: &BTreeSet<String>| of.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        let grants = self.keys.iter().map(|pattern| format!("~{pattern}"));
        let grants: Vec<_> = grants.chain(self.rights.iter().map(|right| grant(right))).collect();
        if !self.rights.is_empty() {
            texts.push(format!("this user may not send {}", list(&self.rights)));
        }
        if !self.keys.is_empty() {
            texts.push(format!("this user may not write the keys {}", list(&self.keys)));
        }
        if !grants.is_empty() {
            texts.push(format!("grant it by ACL SETUSER <user> {}", grants.join(" ")));
        }
        if !self.names.is_empty() {
            texts.push(format!(
                "the server does not know {}: remove rename-command for them from its configuration, or use another server",
                list(&self.names)
            ));
        }
        if self.names.contains("CONFIG GET") {
            texts.push(
                "without CONFIG GET appendfsync can't be checked: set redis.check_config = \"if-allowed\" if the server's \
                 provider answers for what it keeps"
                    .to_owned(),
            );
        }
        Err(CheckError::Rights {
            node: Arc::clone(node),
            lacking: texts.join("; "),
        })
    }
}
