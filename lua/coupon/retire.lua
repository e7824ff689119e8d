-- Ends a coupon for good, some time behind its end: drops requests, users and both lists. The state stays, so that the
-- id is not used for something else, and so does the stream, in which the ledger finds its place.
--
-- The retention is counted from the first call that found this definition over, which `over` ("ms version") remembers:
-- an end that was put into the past, or a service that was away, drops nothing that was answered a moment ago, and
-- draws that have yet to record what they were told have that long. Not in the ledger: a restore counts anew.
--
-- KEYS  the six of the coupon (state.lua)
-- ARGV  1 known mark  2 number of the last event that the ledger has  3 retention in ms
-- Reply {'unknown'} | {'behind' | 'restoring', mark} | {'ok' | 'same', mark}
--       {'not-over', mark, ms or ''}  there is so much left; '' it has no end
--       {'line', mark, requests}  so many wait to be told that it is over | {'ledger', mark}  it lacks events
--       {'suspended', mark}
-- Invariants: nothing is dropped that the ledger lacks. Runs when memory is full: it frees some.
-- Cost: O(1); the content is freed in the background.

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
if state.status ~= 'open' then
  return { state.status == 'ended' and 'same' or state.status, mark(state) }
end
local at, retention = now_ms(), tonumber(ARGV[3])
if not state.ends or at < state.ends then
  return { 'not-over', mark(state), state.ends and num(state.ends + retention - at) or '' }
end
local seen, version = string.match(redis.call('HGET', KEYS[1], 'over') or '', '^(%d+) (%d+)$')
local found = version == num(state.version) and tonumber(seen) or at
if at < found + retention then
  if found == at then
    redis.call('HSET', KEYS[1], 'over', num(at) .. ' ' .. num(state.version)) -- all that this call writes
  end
  return { 'not-over', mark(state), num(found + retention - at) }
end
local queued, dead = redis.call('ZCARD', KEYS[4]), redis.call('ZCARD', KEYS[5])
if queued > 0 then
  return { 'line', mark(state), num(queued) }
end
if exact(ARGV[2]) ~= state.n then
  return { 'ledger', mark(state) }
end
append_event(KEYS[6], state, at, 'retire', {
  'requests',
  num(redis.call('HLEN', KEYS[2])),
  'queued',
  num(queued),
  'dead',
  num(dead),
})
redis.call('UNLINK', KEYS[2], KEYS[3], KEYS[4], KEYS[5])
redis.call('HDEL', KEYS[1], 'consumer', 'over')
redis.call('HSET', KEYS[1], 'n', num(state.n), 'status', 'ended')
return { 'ok', mark(state) }
