-- A toy obeys a decision about the emergency stop.
--
-- KEYS, ARGV, replies and invariants: lua/subject/emergency.lua
-- needs: state subject/emergency event/emergency

local state, wish = read_state(KEYS[1]), read_decision()
local ended = ended_decision(state, wish)
if ended then
  return ended
end
append_emergency(KEYS[2], state, now_ms(), decision_values(wish, {}))
return obey(state, wish)
