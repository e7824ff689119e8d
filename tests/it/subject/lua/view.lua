-- Reads a whole toy at one instant.
--
-- KEYS  the two of the toy (state.lua)
-- ARGV  1 known mark
-- Reply {'unknown'} | {'behind' | 'restoring', mark}
--       {'ok', mark, the toy} (`replies`)
-- needs: state replies

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local json = must(redis.call('HGET', KEYS[1], 'json') or nil, 'JP_DAMAGED state')
return viewed_reply(mark(state), { now_ms = num(now_ms()), definition = json, held = held(state) })
