-- Lists passes that were taken back before they expired, by revocation number.
--
-- KEYS  the eleven of the room (state.lua)
-- ARGV  1 known mark  2 only behind this number  3 how many at most, 1 to 10,000
-- Reply {'unknown'} | {'behind' | 'restoring', mark}
--       {'ok', mark, the room's time in ms, passes, hold in ms, last number up to which the caller has all now, '1'
--        when that is the last of all, number, ticket, ms at which the pass expires, ms at which it was taken back,
--        ...}
-- Invariants: numbers only grow, but for a Redis that lost some, which moves `hold` too: a caller who sees another hold
-- than before reads all anew, from 0. Those that have expired may be missing.
-- Cost: O(log n + how many).

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
