-- Sets a coupon's status: an operator pauses, resumes or closes it; the service suspends one whose books do not agree,
-- and gives it its status back once they do.
--
-- KEYS  the six of the coupon (state.lua)
-- ARGV  1 known mark  2 named values (lua/subject/status.lua): wanted: open | paused | closed | suspended, and
--         reconciled: '1': Redis was compared with the ledger, and they agree. Then a suspended coupon gets back what
--         it was before
-- Reply {'unknown'} | {'behind' | 'restoring', mark} | {'ok' | 'same', mark}
--       {'suspended' | 'closed' | 'ended', mark} that status stays
-- Invariants: closed and ended are final. A suspension does not open what an operator had paused or closed: the field
-- `held` keeps that status meanwhile. Runs when memory is full.
-- Cost: O(1).
-- needs: state subject/status event/status

local WANTED = { open = true, paused = true, closed = true, suspended = true }

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local wish = named(ARGV[2])
local is_reconciled = wish.reconciled == '1'
must(WANTED[wish.wanted], 'JP_ARGUMENT status')
if state.status == 'suspended' and is_reconciled then
  wish.wanted = held_status(KEYS[1]) or 'open'
elseif is_reconciled and state.status ~= 'ended' then
  wish.wanted = state.status -- it was opened meanwhile
end
local is_final = state.status == 'ended' or (state.status == 'closed' and wish.wanted ~= 'suspended')
ended = kept_status(state, wish, is_final or (state.status == 'suspended' and not is_reconciled))
if ended then
  return ended
end
local before = state.status
append_status(KEYS[6], state, now_ms(), change_status(state, wish, {}))
redis.call('HSET', KEYS[1], 'n', num(state.n), 'status', status_text(state))
if state.status == 'suspended' and before ~= 'open' then
  redis.call('HSET', KEYS[1], 'held', before)
elseif before == 'suspended' then
  redis.call('HDEL', KEYS[1], 'held')
end
return { 'ok', mark(state) }
