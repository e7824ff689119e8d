-- Appends an event with what Redis holds at this instant. The ledger compares it with the result of the events.
--
-- KEYS  1 state  2 meters  3 pending  4 events  5 seen:a  6 seen:b  7 definitions  8 adjustments
--       9.. pool of each tier, in the definition's order
-- ARGV  1..4 fence (state.lua)
-- Reply {'unknown'} | {'behind' | 'restoring' | 'stale', mark} | {'ok', mark}
--       event: `state` a line "name value" for each field of the state and each count (state.lua), before this event;
--       `tiers` "name pool reserve ... wins pool_written;" of each tier in force, in the order of METERS (tiers.lua)
-- Invariants: changes nothing but the event number. Runs in every status.
-- Cost: O(tiers).

local state, ended = fenced_state(KEYS[1])
if not state then
  return ended
end

local rows = {}
for t, tier in ipairs(read_tiers(state.tiers, KEYS[2], 9, nil, true)) do
  local row = { tier.name, num(tier.pool) }
  for _, field in ipairs(METERS) do
    row[#row + 1] = num(tier[field])
  end
  row[#row + 1] = num(tier.written)
  rows[t] = table.concat(row, ' ') .. ';'
end
local fields = told(state, KEYS[3], KEYS[5], KEYS[6], KEYS[7], KEYS[8])
append_checkpoint(KEYS[4], state, now_ms(), {
  state = lines_of(fields),
  tiers = table.concat(rows),
  meters = '',
  applied = '',
})
redis.call('HSET', KEYS[1], 'n', num(state.n))
return { 'ok', mark(state) }
