-- Suspends a coupon whose books do not agree, or opens it again once they do.
--
-- KEYS  the six of the coupon (state.lua)
-- ARGV  1 known mark  2 wanted: open | suspended  3 reason  4 who  5 request id
-- Reply {'unknown'} | {'behind' | 'restoring', mark} | {'ok' | 'same', mark} | {'ended', mark} over for good
-- Invariants: only the service calls it (design: stop on mismatch). Runs when memory is full.
-- Cost: O(1).

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local wanted, before = ARGV[2], state.status
if before == wanted then
  return { 'same', mark(state) }
end
if before == 'ended' then
  return { 'ended', mark(state) }
end
must(wanted == 'open' or wanted == 'suspended' or nil, 'JP_ARGUMENT status')
append_event(KEYS[6], state, now_ms(), 'status', {
  'before',
  before,
  'after',
  wanted,
  'reason',
  ARGV[3],
  'who',
  ARGV[4],
  'request_id',
  ARGV[5],
})
redis.call('HSET', KEYS[1], 'n', num(state.n), 'status', wanted)
return { 'ok', mark(state) }
