-- Suspends a room whose definition differs from the ledger's, or opens it again once they agree.
--
-- KEYS  the eleven of the room (state.lua)
-- ARGV  1 known mark  2 named values (lua/subject/status.lua): wanted: open | suspended
-- Reply {'unknown'} | {'behind' | 'restoring', mark} | {'ok' | 'same', mark}
-- Invariants: only the service calls it (design: stop on mismatch). Runs when memory is full.
-- Cost: O(1).
-- needs: state subject/status event/status

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local wish = named(ARGV[2])
ended = kept_status(state, wish)
if ended then
  return ended
end
must_be_open_or_suspended(wish)
local wall = now_ms()
room_ms(state, wall)
append_status(KEYS[11], state, wall, timed(state, change_status(state, wish, {})))
local clock, ahead = num(state.clock), num(state.ahead)
redis.call('HSET', KEYS[1], 'n', num(state.n), 'status', status_text(state), 'clock', clock, 'ahead', ahead)
return { 'ok', mark(state) }
