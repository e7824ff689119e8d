-- Ends an adjustment or a transfer that waits for a second owner: it stays undone for good.
--
-- KEYS  1 state  2 adjustments  3 events
-- ARGV  1..4 fence (state.lua)  5 named values (lua/subject/named.lua): adjustment: its id, '' for a transfer;
--         transfer: its id, '' for an adjustment; owner of the key, reason, who, request_id
-- Reply {'unknown'} | {'behind' | 'restoring' | 'stale', mark}
--       {'ok', mark} withdrawn | {'same', mark} withdrawn before
--       {'missing', mark} there is no such request | {'done', mark} the money has left
-- Invariants: moves nothing. Runs in every status.
-- Cost: O(1).
-- needs: state subject/named two_owners event/withdraw

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local refusal = fence(state)
local wish = named(ARGV[5])
local is_transfer = wish.transfer ~= ''
local id = is_transfer and wish.transfer or wish.adjustment
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
append_withdraw(KEYS[3], state, at, values_of(wish, { meters = '', applied = '' }))
redis.call('HSET', KEYS[2], withdrawn, adjustment_text(wish.owner, num(at)))
redis.call('HSET', KEYS[1], 'n', num(state.n))
return { 'ok', mark(state) }
