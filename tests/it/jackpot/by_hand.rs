//! Looks into the state of a jackpot and changes it by hand, packed values too.
//!
//! Names are those of the plain fields, of `TERMS` and `METERS` (`crates/jackpot/src/scripts/packed.rs`), and `<tier>:<meter>`;
//! `<tier>:pool` is the value that a script last wrote.

use jackpot::jackpot::scripts::LUA;
use redis::Cmd;

/// The parts of the scripts that read and write packed values.
const PARTS: [&str; 4] = ["subject/events", "subject/packed", "values", "tier_rows"];

/// Reads both packed values, and writes them. `named` gets and sets a value by its name.
const ACCESS: &str = "
local packed = redis.call('HMGET', KEYS[1], 'terms', 'meters')
local terms = packed[1] and unpack_terms(packed[1]) or {}
local list = packed[2] and read_meters(packed[2]) or new_meters()
local head = { seq = list[3], order = list[4] }
local places = {}
for at = METERS_FIRST, #list, METERS_WIDTH do
  for i = 2, METERS_WIDTH do
    places[list[at] .. ':' .. METERS_FIELDS[i]] = at + i - 1
  end
end
local function text_of(value)
  return type(value) == 'number' and num(value) or type(value) == 'table' and tier_text(value) or value
end
local function value_of(text, old)
  if type(old) == 'table' then
    return tier_rows(text)
  end
  return type(old) == 'number' and tonumber(text) or text
end
local function get(name)
  local value = terms[name] or head[name] or list[places[name] or 0]
  return value and text_of(value) or redis.call('HGET', KEYS[1], name)
end
local function set(name, text)
  if terms[name] then
    terms[name] = value_of(text, terms[name])
    redis.call('HSET', KEYS[1], 'terms', write_terms(terms))
  elseif head[name] or places[name] then
    if head[name] then
      head[name] = value_of(text, head[name])
    else
      list[places[name]] = value_of(text, list[places[name]])
    end
    redis.call('HSET', KEYS[1], 'meters', write_meters(head, list))
  else
    redis.call('HSET', KEYS[1], name, text)
  end
end
";

fn script(body: &str, state: &str) -> Cmd {
    let mut eval = redis::cmd("EVAL");
    let parts = PARTS.map(|name| LUA.text(name)).join("\n");
    eval.arg(parts + ACCESS + body).arg(1).arg(state);
    eval
}

/// All values by name. `state`: its key.
pub fn all(state: &str) -> Cmd {
    const BODY: &str = "
local out = {}
local function add(name, value)
  out[#out + 1], out[#out + 2] = name, text_of(value)
end
local plain = redis.call('HGETALL', KEYS[1])
for i = 1, #plain, 2 do
  if plain[i] ~= 'terms' and plain[i] ~= 'meters' then
    add(plain[i], plain[i + 1])
  end
end
for name, value in pairs(terms) do
  add(name, value)
end
if packed[2] then
  for name, value in pairs(head) do
    add(name, value)
  end
end
for name, at in pairs(places) do
  add(name, list[at])
end
return out";
    script(BODY, state)
}

/// The value of this name.
pub fn get(state: &str, name: &str) -> Cmd {
    script("return get(ARGV[1])", state).arg(name).clone()
}

/// Puts a value, which need not make sense.
pub fn set(state: &str, name: &str, value: &str) -> Cmd {
    script("set(ARGV[1], ARGV[2])", state).arg(name).arg(value).clone()
}

/// Adds to a number.
pub fn add(state: &str, name: &str, by: i64) -> Cmd {
    let body = "set(ARGV[1], num(tonumber(get(ARGV[1])) + ARGV[2]))";
    script(body, state).arg(name).arg(by).clone()
}
