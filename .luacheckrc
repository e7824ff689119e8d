-- What Redis and Valkey give a script, and nothing more: no io, no os, no require, no print.
-- math.random is left out: it repeats after a restart.
std = {
  read_globals = {
    "KEYS", "ARGV", "cjson", "cmsgpack", "bit", "struct",
    "assert", "error", "ipairs", "next", "pairs", "pcall", "select", "setmetatable", "tonumber", "tostring", "type", "unpack",
    redis = { other_fields = true },
    string = { other_fields = true },
    table = { other_fields = true },
    math = {
      fields = { "abs", "ceil", "floor", "fmod", "huge", "max", "min", "modf" },
    },
  },
}
max_line_length = 120
