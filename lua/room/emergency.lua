-- A room obeys a decision about the emergency stop.
--
-- KEYS, ARGV, replies and invariants: lua/subject/emergency.lua
-- Cost: O(1).
-- needs: state subject/emergency event/emergency

local state, wish = read_state(KEYS[1]), read_decision()
local ended = ended_decision(state, wish)
if ended then
  return ended
end
local wall = now_ms()
room_ms(state, wall)
append_emergency(KEYS[2], state, wall, timed(state, decision_values(wish, {})))
return obey(state, wish, { 'clock', num(state.clock), 'ahead', num(state.ahead) })
