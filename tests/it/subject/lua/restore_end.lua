-- Ends a restore (lua/subject/restored.lua).
--
-- KEYS  the two of the toy (state.lua)
-- ARGV  1 token of the restore  2 who  3 request id  4 reason  5.. the ledger's state as name, value, ...
-- Reply {'unknown'} | {'other' | 'ok' | 'same', mark}
-- needs: state subject/restored event/restore

local was = read_state(KEYS[1])
local from, ended = restored_from(was, KEYS[1])
if not from then
  return ended
end
local state = read_restored(was, 5, {}, { 'n', 'restores', 'version', 'limit', 'seq' }, {})
append_restore(KEYS[2], state, now_ms(), restored_values(state, from, 0, {}))
return end_restore(KEYS[1], state, {})
