-- Reads a whole coupon at one instant.
--
-- KEYS  the six of the coupon (state.lua)
-- ARGV  1 known mark
-- Reply {'unknown'} | {'behind' | 'restoring', mark}
--       {'ok', mark, now ms, definition (JSON), state and counts (state.lua) as name, value, ...}
-- Invariants: changes nothing.
-- Cost: O(1).

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local out = {
  'ok',
  mark(state),
  num(now_ms()),
  must(redis.call('HGET', KEYS[1], 'json') or nil, 'JP_DAMAGED state'),
}
for _, value in ipairs(told(state)) do
  out[#out + 1] = value
end
return out
