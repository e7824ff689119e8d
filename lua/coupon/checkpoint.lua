-- Writes down in the stream what Redis holds at this instant, for the ledger to compare with what the events say.
--
-- KEYS  the six of the coupon (state.lua)
-- ARGV  1 known mark
-- Reply {'unknown'} | {'behind' | 'restoring', mark} | {'ok', mark}
--       event: `state` "status version stock seq voided arrivals queued dead requests", before it
-- Invariants: changes nothing but the event number. In every status.
-- Cost: O(1).

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local held = {
  state.status,
  num(state.version),
  num(state.stock),
  num(state.seq),
  num(state.voided),
  num(state.arrivals),
  num(redis.call('ZCARD', KEYS[4])),
  num(redis.call('ZCARD', KEYS[5])),
  num(redis.call('HLEN', KEYS[2])),
}
append_event(KEYS[6], state, now_ms(), 'checkpoint', { 'state', table.concat(held, ' ') })
redis.call('HSET', KEYS[1], 'n', num(state.n))
return { 'ok', mark(state) }
