-- Lists passes that were revoked before they expired, by revocation number.
--
-- KEYS  the eleven of the room (state.lua)
-- ARGV  1 known mark  2 list from the pass after this number  3 most passes, 1 to 10,000
-- Reply {'unknown'} | {'behind' | 'restoring', mark}
--       {'ok', mark, the page, each revoked pass} (revoked_reply)
-- Invariants: numbers only grow, unless Redis lost some. Such a loss moves `hold`: a caller that sees another hold than
-- before reads all again, from 0. Expired passes may be missing. Changes nothing.
-- Cost: O(log n + most passes).
-- needs: state revoked_reply

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local limit = tonumber(ARGV[3])
local found = redis.call('ZRANGEBYSCORE', KEYS[8], '(' .. ARGV[2], '+inf', 'WITHSCORES', 'LIMIT', 0, limit)
local complete = #found < 2 * limit
local last = complete and num(state.revocations) or num(found[#found])
local at = room_ms(state, now_ms())
local reply = revoked_page_reply(mark(state), {
  now_ms = num(at),
  passes = num(state.passes),
  hold_ms = num(state.hold),
  last = last,
  complete = complete,
})
for i = 1, #found, 2 do
  local ticket, expires, taken_at = string.match(found[i], '^(%x+) (%d+) (%d+)$')
  must(ticket, 'JP_DAMAGED revoked')
  append_revoked_pass(reply, { number = num(found[i + 1]), ticket = ticket, exp_ms = expires, at_ms = taken_at })
end
return reply
