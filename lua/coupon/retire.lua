-- Ends a coupon for good, one retention after its end or its closing: drops requests, users, queue and dead letters.
-- The state stays, so nothing else can use the id. The stream stays, because the ledger finds its place in it.
--
-- The retention is the longest setting of any caller. It counts from the first call that found this definition over:
-- each call adds the time since the last call, from 0 to 60 s (`over_version`, `over_age`, `over_looked`). So an end
-- that was put into the past, a service that was away, or a clock that jumps ahead drops no recent answer. Draws have
-- the same time to record their answers. The ledger does not have this age, so a restore counts anew.
--
-- KEYS  the six of the coupon (state.lua)
-- ARGV  1 known mark  2 number of the last event in the ledger  3 the caller's retention setting, seconds
-- Reply {'unknown'} | {'behind' | 'restoring', mark} | {'ok' | 'same', mark}
--       {'raised' | 'not-over' | 'line', mark, ...} (retire_reply)
--       {'ledger', mark}  the ledger lacks events
--       {'suspended', mark}
-- Invariants: drops nothing that the ledger lacks. Runs when memory is full, because it frees memory.
-- Cost: O(1); Redis frees the content in the background.
-- needs: state event/retention event/retire retire_reply

local MAX_STEP = 60000 -- most ms counted between two calls

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
if state.status == 'suspended' or state.status == 'ended' then
  return { state.status == 'ended' and 'same' or state.status, mark(state) }
end
local is_closed = state.status == 'closed'
local at, wanted = now_ms(), must(exact(ARGV[3]), 'JP_ARGUMENT retention')
local kept = num(state.retention)
if wanted > state.retention then
  append_retention(KEYS[6], state, at, { before = kept, retention = num(wanted) })
  redis.call('HSET', KEYS[1], 'n', num(state.n), 'retention', num(wanted))
  return raised_reply(mark(state), { retention_s = kept })
end
local retention_ms = state.retention * 1000
local over = redis.call('HMGET', KEYS[1], 'over_version', 'over_age', 'over_looked')
if not is_closed and (not state.ends or at < state.ends) then
  if over[1] then
    redis.call('HDEL', KEYS[1], 'over_version', 'over_age', 'over_looked')
  end
  local left_ms = state.ends and num(state.ends + retention_ms - at)
  return not_over_reply(mark(state), { left_ms = left_ms, retention_s = kept })
end
local age, looked = 0, over[1] == num(state.version) and exact(over[3]) or at
if over[1] == num(state.version) then
  age = (exact(over[2]) or 0) + math.min(math.max(at - looked, 0), MAX_STEP)
end
if age < retention_ms then
  redis.call('HSET', KEYS[1], 'over_version', num(state.version), 'over_age', num(age), 'over_looked', num(at))
  return not_over_reply(mark(state), { left_ms = num(retention_ms - age), retention_s = kept })
end
local queued, dead = redis.call('ZCARD', KEYS[4]), redis.call('ZCARD', KEYS[5])
if queued > 0 then
  return queued_reply(mark(state), { queued = num(queued) })
end
if exact(ARGV[2]) ~= state.n then
  return { 'ledger', mark(state) }
end
append_retire(KEYS[6], state, at, {
  requests = num(redis.call('HLEN', KEYS[2])),
  queued = num(queued),
  dead = num(dead),
})
redis.call('UNLINK', KEYS[2], KEYS[3], KEYS[4], KEYS[5])
redis.call('HDEL', KEYS[1], 'consumer', 'over_version', 'over_age', 'over_looked')
redis.call('HSET', KEYS[1], 'n', num(state.n), 'status', 'ended')
return { 'ok', mark(state) }
