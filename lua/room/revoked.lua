-- Lists passes that were revoked before they expired, by revocation number.
--
-- KEYS  the eleven of the room (state.lua)
-- ARGV  1 known mark  2 list from the pass after this number  3 most passes, 1 to 10,000
-- Reply {'unknown'} | {'behind' | 'restoring', mark}
--       {'ok', mark, the room's time in ms, passes, hold in ms, number up to which the caller has all now, '1' when
--        that is the last one, number, ticket, ms at which the pass expires, ms at which it was revoked, ...}
-- Invariants: numbers only grow, unless Redis lost some. Such a loss moves `hold`: a caller that sees another hold than
-- before reads all again, from 0. Expired passes may be missing. Changes nothing.
-- Cost: O(log n + most passes).

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local limit = tonumber(ARGV[3])
local found = redis.call('ZRANGEBYSCORE', KEYS[8], '(' .. ARGV[2], '+inf', 'WITHSCORES', 'LIMIT', 0, limit)
local complete = #found < 2 * limit
local last = complete and num(state.revocations) or num(found[#found])
local at = room_ms(state, now_ms())
local out = { 'ok', mark(state), num(at), num(state.passes), num(state.hold), last, complete and '1' or '' }
local length = #out
for i = 1, #found, 2 do
  local ticket, expires, taken_at = string.match(found[i], '^(%x+) (%d+) (%d+)$')
  must(ticket, 'JP_DAMAGED revoked')
  out[length + 1], out[length + 2], out[length + 3], out[length + 4] = num(found[i + 1]), ticket, expires, taken_at
  length = length + 4
end
return out
