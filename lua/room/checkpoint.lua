-- Writes down in the stream what Redis holds at this instant, for the ledger to compare with what the events say.
--
-- KEYS  the eleven of the room (state.lua)
-- ARGV  1 known mark
-- Reply {'unknown'} | {'behind' | 'restoring', mark} | {'ok', mark}
--       event: `state` "status version longest", before it
-- Invariants: changes nothing but the event number. In every status.
-- Cost: O(1).

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local held = state.status .. ' ' .. num(state.version) .. ' ' .. num(state.longest)
append(state, now_ms(), 'checkpoint', { 'state', held })
redis.call('HSET', KEYS[1], 'n', num(state.n))
return { 'ok', mark(state) }
