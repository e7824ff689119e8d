-- Writes down in the stream what Redis holds at this instant, for the ledger to compare with what the events say.
--
-- KEYS  1 state  2 meters  3 pending  4 events  5.. pool of each tier, in the definition's order
-- ARGV  1..4 fence (state.lua)
-- Reply {'unknown'} | {'behind' | 'restoring' | 'stale', mark} | {'ok', mark}
--       event: `state` "status version next sequence claim_order epoch pending" (next "-" for none), before this event;
--       `tiers` "name pool reserve ... wins;" of each tier in force, in the order of METERS (tiers.lua)
-- Invariants: changes nothing but the event number. In every status.
-- Cost: O(tiers).

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local refusal = fence(state)
if refusal then
  return { refusal, mark(state) }
end

local rows = {}
for t, tier in ipairs(read_tiers(state.tiers, KEYS[2], 5)) do
  local row = { tier.name, num(tier.pool) }
  for _, field in ipairs(METERS) do
    row[#row + 1] = num(tier[field])
  end
  rows[t] = table.concat(row, ' ') .. ';'
end
local held = {
  state.status,
  state.version,
  state.next == '' and '-' or state.next,
  num(state.seq),
  num(state.order),
  state.epoch,
  num(redis.call('ZCARD', KEYS[3])),
}
append_event(KEYS[4], state, now_ms(), 'checkpoint', {
  'state',
  table.concat(held, ' '),
  'tiers',
  table.concat(rows),
  'meters',
  '',
  'applied',
  '',
})
redis.call('HSET', KEYS[1], 'n', num(state.n))
return { 'ok', mark(state) }
