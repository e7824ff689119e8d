-- Reads a whole jackpot at one instant.
--
-- KEYS  1 state  2 definitions  3 pending  4 seen:a  5 seen:b  6 adjustments
--       7.. pool of each tier of the definition ARGV[2]
-- ARGV  1 known mark  2 version the caller knows, '' for none
-- Reply {'unknown'} | {'behind' | 'restoring', mark}
--       {'stale', mark, ...}  the caller named the pools of another version: call again with these (view_reply)
--       {'ok', mark, the jackpot, the meters of each tier, each value of the state and each count} (view_reply)
-- Invariants: changes nothing.
-- Cost: O(tiers).
-- needs: state tiers voided_rows held view_reply

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
if state.version ~= ARGV[2] then
  return other_version_reply(mark(state), { version = state.version, tiers = tier_text(state.tiers) })
end
local waiting = state.next ~= '' and redis.call('HGET', KEYS[2], state.next) or ''
local tiers = read_tiers(state, state.tiers, 7, nil, true)
local voided = voided_rows(KEYS[1])
local reply = viewed_reply(mark(state), {
  now_ms = num(now_ms()),
  definition = redis.call('HGET', KEYS[2], state.version),
  waiting = waiting,
  tiers = num(#tiers),
})
for _, tier in ipairs(tiers) do
  local row = { name = tier.name, pool = num(tier.pool), pool_written = num(tier.written) }
  for i = FIRST_METER + 1, METERS_WIDTH do
    row[METERS_FIELDS[i]] = num(tier[METERS_FIELDS[i]])
  end
  local moved = moved_row(state, tier.name)
  for _, name in ipairs(MOVED_METERS) do
    row[name] = num(moved[name])
  end
  row.voided = num(voided[tier.name] or 0)
  append_tier_meters(reply, row)
end
local held = held_values(state, KEYS[3], KEYS[4], KEYS[5], KEYS[2], KEYS[6])
for i = 1, #held, 2 do
  append_held(reply, { name = held[i], value = held[i + 1] })
end
return reply
