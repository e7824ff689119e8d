-- Appends an event with what Redis holds at this instant.
--
-- KEYS  the two of the toy (state.lua)
-- ARGV  1 known mark
-- Reply {'unknown'} | {'behind' | 'restoring', mark} | {'ok', mark}
-- needs: state event/checkpoint

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
append_checkpoint(KEYS[2], state, now_ms(), { state = held(state) })
redis.call('HSET', KEYS[1], 'n', num(state.n))
return { 'ok', mark(state) }
