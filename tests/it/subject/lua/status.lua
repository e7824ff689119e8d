-- Suspends a toy whose books do not agree, or opens it again once they do.
--
-- KEYS  the two of the toy (state.lua)
-- ARGV  1 known mark  2 named values (lua/subject/status.lua): wanted: open | suspended
-- Reply {'unknown'} | {'behind' | 'restoring', mark} | {'ok' | 'same', mark}
-- needs: state subject/status event/status

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local wish = named(ARGV[2])
ended = kept_status(state, wish)
if ended then
  return ended
end
must_be_open_or_suspended(wish)
append_status(KEYS[2], state, now_ms(), change_status(state, wish, {}))
redis.call('HSET', KEYS[1], 'n', num(state.n), 'status', status_text(state))
return { 'ok', mark(state) }
