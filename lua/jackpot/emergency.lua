-- A jackpot obeys a decision about the emergency stop.
--
-- KEYS, ARGV, replies and invariants: lua/subject/emergency.lua, and
-- KEYS  3.. pool of each tier, in the definition's order, for a start by a caller that has read the jackpot
-- ARGV  6 version and money digest of its definition, as the fence has them (state.lua), '' for a caller that has not
--       7 prepared cycles (cycles.lua)
-- Reply also {'stale', mark} a start ends cycles, and the caller brought other pools or too few cycles
-- Invariants: a stop needs no more than its decision. At a start, open cycles with a time end without a take, and new
-- ones begin, so nobody can wait a time out. That is done here and not by the first entry after it: the `low` of a new
-- cycle depends on the pool before that entry. A jackpot that is not open does it when it is resumed.
-- Cost: O(1); O(tiers) for the start of a jackpot with cycles.
-- needs: state tiers subject/emergency event/emergency

local state, wish = read_state(KEYS[1]), read_decision()
local ended = ended_decision(state, wish, 'closed')
if ended then
  return ended
end
local at, fields, cycles = now_ms(), nil, nil
if not wish.stops and state.status == 'open' and cycles_of(state) then
  if state.version .. ' ' .. state.money ~= ARGV[6] or prepare(state, ARGV[7], at) then
    return { 'stale', mark(state) }
  end
  -- A pool that was changed by hand does not hold up the start: the next entry suspends the jackpot.
  restart_cycles(state, read_tiers(state, state.tiers, 3, nil, true))
  cycles = cycle_changes(state)
  fields = cycles and { 'cycles', state.cycles_text }
end
append_emergency(KEYS[2], state, at, decision_values(wish, { meters = '', applied = '', cycles = cycles }))
return obey(state, wish, fields)
