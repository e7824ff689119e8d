-- Appends an event with what Redis holds at this instant. The ledger compares it with the result of the events.
--
-- KEYS  the eleven of the room (state.lua)
-- ARGV  1 known mark
-- Reply {'unknown'} | {'behind' | 'restoring', mark} | {'ok', mark}
--       event: `state`, before it: "status version capacity session waiting_timeout rate opens passes_until commitment
--         collected_sha256", - for none
-- Invariants: changes nothing but the event number and the time shown. Runs in every status.
-- Cost: O(1).
-- needs: state decides event/checkpoint

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local commitment = redis.call('HGET', KEYS[1], 'commitment')
local wall = now_ms()
room_ms(state, wall)
local decided = decides(state, must(commitment or nil, 'JP_DAMAGED state'))
append_checkpoint(KEYS[11], state, wall, timed(state, { state = decided }))
redis.call('HSET', KEYS[1], 'n', num(state.n), 'clock', num(state.clock), 'ahead', num(state.ahead))
return { 'ok', mark(state) }
