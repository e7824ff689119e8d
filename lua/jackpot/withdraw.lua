-- Ends an adjustment or a transfer that waits for a second owner: it stays undone for good.
--
-- KEYS  1 state  2 adjustments  3 events
-- ARGV  1..4 fence (state.lua)  5 adjustment id, '' for a transfer  6 transfer id, '' for an adjustment
--       7 owner of the key  8 reason  9 who  10 request id
-- Reply {'unknown'} | {'behind' | 'restoring' | 'stale', mark}
--       {'ok', mark} withdrawn | {'same', mark} withdrawn before
--       {'missing', mark} there is no such request | {'done', mark} the money has left
-- Invariants: moves nothing. Runs in every status.
-- Cost: O(1).
-- needs: state two_owners event/withdraw

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local refusal = fence(state)
local is_transfer = ARGV[6] ~= ''
local id = is_transfer and ARGV[6] or ARGV[5]
local mid = is_transfer and '-out!' or '!'
local withdrawn = '!withdrawn' .. mid .. id
local known = known_leaving(KEYS[2], is_transfer and '!out!' .. id or id, '!held' .. mid .. id, withdrawn)
if known.withdrawn then
  return { 'same', mark(state) }
end
if known.done then
  return { 'done', mark(state) }
end
if not known.held then
  return { 'missing', mark(state) }
end
if refusal then
  return { refusal, mark(state) }
end
local at = now_ms()
append_withdraw(KEYS[3], state, at, {
  adjustment = ARGV[5],
  transfer = ARGV[6],
  owner = ARGV[7],
  reason = ARGV[8],
  who = ARGV[9],
  request_id = ARGV[10],
  meters = '',
  applied = '',
})
redis.call('HSET', KEYS[2], withdrawn, adjustment_text(ARGV[7], num(at)))
redis.call('HSET', KEYS[1], 'n', num(state.n))
return { 'ok', mark(state) }
