-- Suspends a room whose definition differs from the ledger's, or opens it again once they agree.
--
-- KEYS  the eleven of the room (state.lua)
-- ARGV  1 known mark  2 wanted: open | suspended  3 reason  4 who  5 request id
-- Reply {'unknown'} | {'behind' | 'restoring', mark} | {'ok' | 'same', mark}
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
must(wanted == 'open' or wanted == 'suspended' or nil, 'JP_ARGUMENT status')
local wall = now_ms()
room_ms(state, wall)
append(state, wall, 'status', {
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
local clock, ahead = num(state.clock), num(state.ahead)
redis.call('HSET', KEYS[1], 'n', num(state.n), 'status', wanted, 'clock', clock, 'ahead', ahead)
return { 'ok', mark(state) }
