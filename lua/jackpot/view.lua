-- Reads a whole jackpot at one instant.
--
-- KEYS  1 state  2 definitions  3 pending  4 seen:a  5 seen:b  6 adjustments
--       7.. pool of each tier of the definition ARGV[2]
-- ARGV  1 known mark  2 version the caller knows, '' for none
-- Reply {'unknown'} | {'behind' | 'restoring', mark}
--       {'stale', mark, version, tiers}  the caller named the pools of another version: call again with these
--       {'ok', mark, now ms, definition (JSON), waiting definition (JSON) or '', state and counts (state.lua) as name,
--        value, ..., '|', then for each tier name, pool, reserve, overflow, pool_micro, reserve_micro, contributed,
--        contributed_micro, funded, paid, wins, pool_written}
-- Invariants: changes nothing.
-- Cost: O(tiers).

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
if state.version ~= ARGV[2] then
  return { 'stale', mark(state), state.version, tier_text(state.tiers) }
end
local waiting = state.next ~= '' and redis.call('HGET', KEYS[2], state.next) or ''
local out = {
  'ok',
  mark(state),
  num(now_ms()),
  redis.call('HGET', KEYS[2], state.version),
  waiting,
}
for _, value in ipairs(held_values(state, KEYS[3], KEYS[4], KEYS[5], KEYS[2], KEYS[6])) do
  out[#out + 1] = value
end
out[#out + 1] = '|'
for _, tier in ipairs(read_tiers(state, state.tiers, 7, nil, true)) do
  out[#out + 1] = tier.name
  out[#out + 1] = num(tier.pool)
  for i = FIRST_CHANGE, METERS_WIDTH do
    out[#out + 1] = num(tier[METERS_FIELDS[i]])
  end
  out[#out + 1] = num(tier.written)
end
return out
