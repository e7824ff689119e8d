-- Ends a restore (lua/subject/restored.lua).
--
-- KEYS  the two of the toy (state.lua)
-- ARGV  1, 2 those of every restore
-- Reply {'unknown'} | {'other' | 'ok' | 'same', mark}
-- needs: state subject/restored event/restore

local was, wish = read_state(KEYS[1]), named(ARGV[1])
local from, ended = restored_from(was, KEYS[1], wish)
if not from then
  return ended
end
local state = read_restored(was, {}, { 'n', 'restores', 'version', 'limit', 'seq' }, {})
append_restore(KEYS[2], state, now_ms(), restored_values(state, wish, from, 0, {}))
return end_restore(KEYS[1], state, {})
