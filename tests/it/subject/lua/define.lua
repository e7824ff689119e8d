-- Creates a toy, or changes its limit.
--
-- KEYS  the two of the toy (state.lua)
-- ARGV  1 known mark  2 named values: the PUT (lua/subject/puts.lua), and limit
-- Reply {'created' | 'changed' | 'same', mark, version} | {'mismatch' | 'behind' | 'restoring' | 'stale', mark}
--       {'below', mark} the toy has counted further than this limit
-- needs: subject/puts state event/define

local put, at = named(ARGV[2]), now_ms()
local limit = must(exact(put.limit), 'JP_ARGUMENT limit')

local function define(state, mode)
  local version = num(state.version)
  append_define(KEYS[2], state, at, put_values(put, mode, version, {}))
  local puts = remember_put(put, mode, version)
  redis.call('HSET', KEYS[1], 'n', num(state.n), 'restores', num(state.restores), 'version', version)
  redis.call('HSET', KEYS[1], 'limit', num(limit), 'seq', num(state.seq), 'json', put.json, 'puts', puts)
  redis.call('HSET', KEYS[1], 'history', state.history, 'status', status_text(state))
  return put_reply(mode, mark(state), { version = version })
end

local state, ended = known_state(KEYS[1])
if not state then
  local refused = refused_creation(put, ended)
  if refused then
    return refused
  end
  local created = { n = 0, restores = 0, version = 1, seq = 0, history = put.history, status = 'open' }
  created.is_stopped = emergency_order(KEYS[1]) % 2 == 1
  return define(created, 'created')
end
local kept = redis.call('HMGET', KEYS[1], 'json', 'puts')
put.puts = kept[2] or ''
ended = repeated_put(state, put) or ended_put(state, put, num(state.version), kept[1] == put.json)
if ended then
  return ended
end
if limit < state.seq then
  return { 'below', mark(state) }
end
state.version = state.version + 1
return define(state, 'changed')
