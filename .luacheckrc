-- What Redis and Valkey give a script, and nothing more: no io, no os beyond clock, no require, no print.
std = {
  read_globals = {
    "KEYS", "ARGV", "redis", "server", "cjson", "cmsgpack", "bit", "struct",
    "assert", "error", "ipairs", "next", "pairs", "pcall", "select", "tonumber", "tostring", "type", "unpack",
    "string", "table", "math",
  },
}
-- Never offered: math.random repeats after a restart, and a script's result must not depend on it.
not_globals = { "math.random", "math.randomseed" }
max_line_length = 120
