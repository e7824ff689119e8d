-- Reads a whole jackpot at one instant.
--
-- KEYS  1 state  2 definitions  3 pending  4 seen:a  5 seen:b  6 adjustments
--       7.. pool of each tier of the definition ARGV[2]
-- ARGV  1 known mark  2 version the caller knows, '' for none
-- Reply {'unknown'} | {'behind' | 'restoring', mark}
--       {'stale', mark, ...}  the caller named the pools of another version: call again with these (view_reply)
--       {'ok', mark, the jackpot, each value of the state and each count} (view_reply)
-- Invariants: changes nothing.
-- Cost: O(tiers).
-- needs: state held view_reply

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
if state.version ~= ARGV[2] then
  return other_version_reply(mark(state), { version = state.version, tiers = tier_text(state.tiers) })
end
local waiting = state.next ~= '' and redis.call('HGET', KEYS[2], state.next) or ''
local reply = viewed_reply(mark(state), {
  now_ms = num(now_ms()),
  definition = redis.call('HGET', KEYS[2], state.version),
  waiting = waiting,
  tiers = held_tiers(state, 7),
})
local held = held_values(state, KEYS[3], KEYS[4], KEYS[5], KEYS[2], KEYS[6])
for i = 1, #held, 2 do
  append_held(reply, { name = held[i], value = held[i + 1] })
end
return reply
