//! A Lua script as it is sent to Redis, and a call of it.

use std::borrow::Cow;

use redis::{Arg, Cmd, Pipeline, ToRedisArgs, Value};

mod folder;
#[cfg(debug_assertions)]
mod mutant;

pub use folder::{Folder, Made};

/// A script: its name, and its source in the two forms in which Redis takes it. Both are made once.
///
/// Redis keeps it as a function of a library (`FUNCTION LOAD`), which runs in half the time of an `EVALSHA`: the local
/// functions are made once for the server, not in each call, and what they keep between calls stays
/// (docs/decisions/0041-a-lighter-script.md).
#[derive(Debug)]
pub struct Script {
    name: &'static str,
    /// For `EVAL`.
    source: String,
    /// Of the library, and of its only function: it names the content, so versions of the service can share a server.
    function: String,
    /// For `FUNCTION LOAD`.
    library: String,
}

impl Script {
    /// A script of these parts. The last one runs in each call; the others only declare local functions and constants.
    ///
    /// The first line `#!lua` makes Redis refuse a script before its first write when memory is full or a key was not
    /// declared. Without it a script can stop half-way. `flags` is "" or Redis' script flags, comma-separated, such as
    /// "allow-oom" or "no-writes".
    pub fn new(name: &'static str, flags: &str, parts: &[&str]) -> Self {
        #[cfg(debug_assertions)]
        let parts = &mutant::replaced(parts);
        let with_flags = if flags.is_empty() {
            String::new()
        } else {
            format!(" flags={flags}")
        };
        let (body, declared) = parts.split_last().expect("a script has a part");
        // The body is a function of its own, as in the library: Lua allows 200 local names to a function.
        let called = ["local function body()", body, "end", "return body()"];
        let source = format!("#!lua{with_flags}\n{}", [declared, &called].concat().join("\n"));
        let hash = redis::Script::new(&source).get_hash()[..HASH_DIGITS].to_owned();
        let function = format!("jackpot_{name}_{hash}");
        let flags = flags.split(',').filter(|flag| !flag.is_empty());
        let flags = flags.map(|flag| format!("'{flag}'")).collect::<Vec<_>>().join(", ");
        let library = LIBRARY
            .replace("@function", &function)
            .replace("@flags", &flags)
            .replace("@declared", &without_comments(&declared.join("\n")))
            .replace("@body", &without_comments(body));
        Self {
            name,
            source,
            function,
            library,
        }
    }

    /// What Redis gets: for `EVAL`, and for `FUNCTION LOAD`.
    pub fn sources(&self) -> [&str; 2] {
        [&self.source, &self.library]
    }

    /// The name, for logs and metrics.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The command that makes a server keep the script.
    pub(super) fn load(&self) -> Cmd {
        let mut command = redis::cmd("FUNCTION");
        command.arg("LOAD").arg(&self.library);
        command
    }
}

/// Lua without the lines that are only a comment. They would be in Redis' memory, in its append-only file and on its
/// replicas.
fn without_comments(lua: &str) -> String {
    let is_code = |line: &&str| !line.trim_start().starts_with("--");
    lua.lines().filter(is_code).collect::<Vec<_>>().join("\n")
}

/// Digits of the hash in the name of a library: two of one name differ but for one chance in 2^48.
const HASH_DIGITS: usize = 12;

/// A library with one function. While it loads, Redis gives it no standard functions, so its parts are run at the first
/// call. KEYS and ARGV are those of the call that runs: Redis runs one at a time.
const LIBRARY: &str = "#!lua name=@function
local run
local function make()
local KEYS, ARGV
local redis, cmsgpack, string, math, table = redis, cmsgpack, string, math, table
local ipairs, pcall, setmetatable, tonumber, type, unpack = ipairs, pcall, setmetatable, tonumber, type, unpack
@declared
local function body()
@body
end
return function(keys, arguments)
  KEYS, ARGV = keys, arguments
  return body()
end
end
redis.register_function{
  function_name = '@function',
  flags = {@flags},
  callback = function(keys, arguments)
    if not run then
      run = make()
    end
    return run(keys, arguments)
  end,
}
";

/// A call of a script: its keys, all in one slot, then its arguments.
#[derive(Debug)]
pub struct Call<'s> {
    script: &'s Script,
    /// As arguments of a command, because that takes one piece of memory.
    keys: Cmd,
    /// The command by name; empty until the first argument, which ends the keys.
    command: Cmd,
    at_once: bool,
}

/// Arguments of FCALL before the keys: its name, the function, the number of keys.
const BEFORE_KEYS: usize = 3;

/// Usual number of keys, and of arguments beside them; usual bytes of each key, and of all arguments. Memory is taken
/// for them at once.
const USUAL_KEYS: usize = 8;
const USUAL_ARGUMENTS: usize = 8;
const USUAL_KEY_BYTES: usize = 48;
const USUAL_ARGUMENT_BYTES: usize = 512;

/// How an attempt names its script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// As a function that the server has, as far as anyone knows.
    Name,
    /// As a function, behind the command that loads it. They go out together, so that calls which found it missing keep
    /// their order among those that come later.
    Load,
    /// By its whole source: the server can't keep it, or forgot it again.
    Source,
}

impl<'s> Call<'s> {
    /// A call without keys and arguments yet.
    pub fn new(script: &'s Script) -> Self {
        Self {
            script,
            keys: Cmd::with_capacity(USUAL_KEYS, USUAL_KEYS * USUAL_KEY_BYTES),
            command: Cmd::new(),
            at_once: false,
        }
    }

    /// With `durability = replicated`: ends with [`super::StoreError::Unconfirmed`] if no replica confirmed in time,
    /// instead of waiting for one until the total limit. For calls that make others wait.
    #[must_use]
    pub fn at_once(mut self) -> Self {
        self.at_once = true;
        self
    }

    /// Adds the next of `KEYS`, before any argument.
    #[must_use]
    pub fn key(mut self, key: impl AsRef<str>) -> Self {
        assert!(!self.has_arguments(), "keys come before arguments");
        self.keys.arg(key.as_ref());
        self
    }

    /// Adds the next of `ARGV`; a slice adds one for each of its elements.
    #[must_use]
    pub fn arg(mut self, arg: impl ToRedisArgs) -> Self {
        if !self.has_arguments() {
            self.command = self.begun(By::Name);
        }
        self.command.arg(arg);
        self
    }

    /// Whether it ends without waiting for a replica.
    pub(super) fn is_at_once(&self) -> bool {
        self.at_once
    }

    pub(super) fn script(&self) -> &'s Script {
        self.script
    }

    /// The key that decides the slot; `None` for a script without keys.
    pub(super) fn first_key(&self) -> Option<&str> {
        self.keys().next().and_then(|key| std::str::from_utf8(key).ok())
    }

    /// The command to send.
    pub(super) fn command(&self, by: By) -> Cow<'_, Cmd> {
        if by != By::Source && self.has_arguments() {
            return Cow::Borrowed(&self.command);
        }
        let mut command = self.begun(by);
        for arg in simple(&self.command).skip(BEFORE_KEYS + self.keys().len()) {
            command.arg(arg);
        }
        Cow::Owned(command)
    }

    fn keys(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        simple(&self.keys)
    }

    fn has_arguments(&self) -> bool {
        self.command.args_iter().len() > 0
    }

    /// The command up to its keys.
    fn begun(&self, by: By) -> Cmd {
        let keys = self.keys();
        let all = BEFORE_KEYS + keys.len() + USUAL_ARGUMENTS;
        let mut command = Cmd::with_capacity(all, keys.len() * USUAL_KEY_BYTES + USUAL_ARGUMENT_BYTES);
        match by {
            By::Name | By::Load => command.arg("FCALL").arg(&self.script.function),
            By::Source => command.arg("EVAL").arg(&self.script.source),
        };
        command.arg(keys.len());
        for key in keys {
            command.arg(key);
        }
        command
    }

    /// The command, and after it on the same connection the commands that report whether a replica has its effect.
    ///
    /// WAIT covers the writes of *this* connection. A retry may find its work done, write nothing, and use a new
    /// connection. Newer servers then answer at once, though no replica has the first call's effect. The marker write
    /// in between makes WAIT cover everything before it.
    pub(super) fn replicated(&self, by: By, wait_ms: u64) -> Pipeline {
        let mut pipeline = Pipeline::with_capacity(3);
        pipeline.add_command(self.command(by).into_owned());
        if let Some(key) = self.first_key() {
            mark(&mut pipeline, key);
        }
        pipeline.cmd("WAIT").arg(1).arg(wait_ms);
        pipeline
    }
}

/// The arguments of a command. It is not one of a cursor, so each is bytes.
fn simple(command: &Cmd) -> impl ExactSizeIterator<Item = &[u8]> {
    command.args_iter().map(|arg| match arg {
        Arg::Simple(bytes) => bytes,
        _ => unreachable!("no command here has a cursor"),
    })
}

/// The commands that report whether a replica has all earlier writes to the slot of `key`.
pub(super) fn confirmation(key: &str, wait_ms: u64) -> Pipeline {
    let mut pipeline = Pipeline::with_capacity(2);
    mark(&mut pipeline, key);
    pipeline.cmd("WAIT").arg(1).arg(wait_ms);
    pipeline
}

fn mark(pipeline: &mut Pipeline, key: &str) {
    pipeline.cmd("EVAL").arg(MARK).arg(1).arg(marker_key(key));
}

/// Writes the marker also when memory is full, because claims run then and must be replicated too. Returns the server's
/// `INFO replication`, or an empty text if the user may not ask. Each promotion changes the id of the history, so two
/// markers of the same history have everything in between.
const MARK: &str = "#!lua flags=allow-oom\nredis.call('SET', KEYS[1], '')\nlocal info = redis.pcall('INFO', 'replication')\n\
                    return type(info) == 'string' and info or ''";

/// A server's report with a marker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Marked {
    /// The id of the server's history.
    pub(super) history: String,
    pub(super) replicas: u64,
}

impl Marked {
    /// Parses the report; `None` if the server sent none.
    pub(super) fn read(value: &Value) -> Option<Self> {
        let Value::BulkString(text) = value else {
            return None;
        };
        let text = std::str::from_utf8(text).ok()?;
        let field = |name| text.lines().find_map(|line| line.trim_end().strip_prefix(name));
        Some(Self {
            history: field("master_replid:")?.to_owned(),
            replicas: field("connected_slaves:")?.parse().ok()?,
        })
    }
}

/// A key in the slot of `key` that no script uses.
fn marker_key(key: &str) -> String {
    let tag = key
        .split_once('{')
        .and_then(|(_, rest)| rest.split_once('}'))
        .map_or(key, |(tag, _)| tag);
    format!("jp:wait:{{{tag}}}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use redis::cluster_routing::Slot;

    #[test]
    fn the_first_line_carries_the_flags() {
        assert_eq!(
            Script::new("a", "allow-oom", &["local b", "return b"]).source,
            "#!lua flags=allow-oom\nlocal b\nlocal function body()\nreturn b\nend\nreturn body()"
        );
        let library = Script::new("a", "allow-oom,no-writes", &["local b", "return 1"]).library;
        assert!(library.contains("flags = {'allow-oom', 'no-writes'}"), "{library}");
    }

    #[test]
    fn another_content_is_another_function() {
        let [one, other] = ["return 1", "return 2"].map(|part| Script::new("a", "", &[part]).function);
        assert!(one.starts_with("jackpot_a_") && one != other, "{one} {other}");
    }

    #[test]
    fn a_call_sends_the_count_of_keys_the_keys_and_the_arguments() {
        let script = Script::new("a", "", &["return 1"]);
        let call = Call::new(&script)
            .key("jp:{x}:state")
            .key("jp:{x}:meters")
            .arg(7)
            .arg(&["b", "c"][..]);
        let sent: Vec<String> = call
            .command(By::Source)
            .args_iter()
            .filter_map(|arg| match arg {
                Arg::Simple(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
                _ => None,
            })
            .collect();
        assert_eq!(
            sent,
            [
                "EVAL",
                "#!lua\nlocal function body()\nreturn 1\nend\nreturn body()",
                "2",
                "jp:{x}:state",
                "jp:{x}:meters",
                "7",
                "b",
                "c"
            ]
        );
    }

    #[test]
    fn the_marker_is_in_the_slot_of_the_call() {
        for key in ["jp:{spring}:state", "untagged"] {
            assert_eq!(Slot::for_key(marker_key(key)), Slot::for_key(key));
        }
    }

    #[test]
    fn what_a_marker_says_is_read_or_not_there() {
        let said = "# Replication\r\nrole:master\r\nconnected_slaves:2\r\nmaster_replid:5f5f\r\nmaster_replid2:00\r\n";
        let marked = Marked {
            history: "5f5f".to_owned(),
            replicas: 2,
        };
        assert_eq!(Marked::read(&Value::BulkString(said.into())), Some(marked));
        for nothing in [Value::Okay, Value::Nil, Value::BulkString(Vec::new())] {
            assert_eq!(Marked::read(&nothing), None);
        }
    }
}
