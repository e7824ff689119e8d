-- Appends an event with what Redis holds at this instant. The ledger compares it with the result of the events.
--
-- KEYS  1 state  2 pending  3 events  4 seen:a  5 seen:b  6 definitions  7 adjustments
--       8.. pool of each tier, in the definition's order
-- ARGV  1..4 fence (state.lua)
-- Reply {'unknown'} | {'behind' | 'restoring' | 'stale', mark} | {'ok', mark}
--       event: `state` a line "name value" for each field of the state and each count (state.lua), before this event;
--       `tiers` "name pool reserve ... wins pool_written;" of each tier in force, in the order of METERS (tiers.lua);
--       after pool_written also MOVED_METERS, unless all are 0, and then voided, unless it is 0: so an older version
--       can read the tiers that do not use them
-- Invariants: changes nothing but the event number. Runs in every status.
-- Cost: O(tiers).
-- needs: state tiers voided_rows held subject/checkpoint event/checkpoint

local state, ended = fenced_state(KEYS[1])
if not state then
  return ended
end

local rows, voided = {}, voided_rows(KEYS[1])
for t, tier in ipairs(read_tiers(state, state.tiers, 8, nil, true)) do
  local row = { tier.name, num(tier.pool) }
  for i = FIRST_METER + 1, METERS_WIDTH do
    row[#row + 1] = num(tier[METERS_FIELDS[i]])
  end
  row[#row + 1] = num(tier.written)
  local taken_back = voided[tier.name] or 0
  local moved, parts, is_used = moved_row(state, tier.name), {}, taken_back > 0
  for i, name in ipairs(MOVED_METERS) do
    parts[i], is_used = num(moved[name]), is_used or moved[name] ~= 0
  end
  row[#row + 1] = is_used and table.concat(parts, ' ') or nil
  row[#row + 1] = taken_back > 0 and num(taken_back) or nil
  rows[t] = table.concat(row, ' ') .. ';'
end
local fields = held_values(state, KEYS[2], KEYS[4], KEYS[5], KEYS[6], KEYS[7])
append_checkpoint(KEYS[3], state, now_ms(), {
  state = lines_of(fields),
  tiers = table.concat(rows),
  meters = '',
  applied = '',
})
redis.call('HSET', KEYS[1], 'n', num(state.n))
return { 'ok', mark(state) }
