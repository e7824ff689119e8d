-- Reads a whole coupon at one instant.
--
-- KEYS  the six of the coupon (state.lua)
-- ARGV  1 known mark
-- Reply {'unknown'} | {'behind' | 'restoring', mark}
--       {'ok', mark, the coupon, each field of the state and each count} (view_reply)
-- Invariants: changes nothing.
-- Cost: O(1).
-- needs: state view_reply

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local json = must(redis.call('HGET', KEYS[1], 'json') or nil, 'JP_DAMAGED state')
local reply, fields = viewed_reply(mark(state), { now_ms = num(now_ms()), definition = json }), told(state)
for i = 1, #fields, 2 do
  append_told(reply, { name = fields[i], value = fields[i + 1] })
end
return reply
