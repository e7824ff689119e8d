-- Appends an event with what Redis holds at this instant. The ledger compares it with the result of the events.
--
-- KEYS  1 state  2 pending  3 events  4 seen:a  5 seen:b  6 definitions  7 adjustments
--       8.. pool of each tier, in the definition's order
-- ARGV  1..4 fence (state.lua)
-- Reply {'unknown'} | {'behind' | 'restoring' | 'stale', mark} | {'ok', mark}
--       event: `state` a line "name value" for each field of the state and each count (state.lua), before this event;
--       `tiers` the meters of each tier (held.lua)
-- Invariants: changes nothing but the event number. Runs in every status.
-- Cost: O(tiers).
-- needs: state held subject/checkpoint event/checkpoint

local state, ended = fenced_state(KEYS[1])
if not state then
  return ended
end

local fields = held_values(state, KEYS[2], KEYS[4], KEYS[5], KEYS[6], KEYS[7])
append_checkpoint(KEYS[3], state, now_ms(), {
  state = lines_of(fields),
  tiers = held_tiers(state, 8),
  meters = '',
  applied = '',
})
redis.call('HSET', KEYS[1], 'n', num(state.n))
return { 'ok', mark(state) }
