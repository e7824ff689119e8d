-- Appends an event with what Redis holds at this instant. The ledger compares it with the result of the events.
--
-- KEYS  the six of the coupon (state.lua)
-- ARGV  1 known mark
-- Reply {'unknown'} | {'behind' | 'restoring', mark} | {'ok', mark}
--       event: `state` a line "name value" for each field of the state and each count (state.lua), before this event
-- Invariants: changes nothing but the event number. Runs in every status.
-- Cost: O(1).
-- needs: state subject/checkpoint event/checkpoint

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
append_checkpoint(KEYS[6], state, now_ms(), { state = lines_of(told(state)) })
redis.call('HSET', KEYS[1], 'n', num(state.n))
return { 'ok', mark(state) }
