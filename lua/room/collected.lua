-- Lists the tickets that were made before the opening, by their number on the list, in whatever state they are now.
--
-- KEYS  the eleven of the room (state.lua)
-- ARGV  1 known mark  2 list from the ticket after this number  3 most tickets, 1 to 10,000
-- Reply {'unknown'} | {'behind' | 'restoring', mark}
--       {'ok', mark, Redis' clock in ms, opens in ms or '' once it has passed, number, ticket, ...}
-- Invariants: changes nothing.
-- Cost: O(log n + most tickets).

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local limit, at = tonumber(ARGV[3]), now_ms()
local found = redis.call('ZRANGEBYSCORE', KEYS[10], '(' .. ARGV[2], '+inf', 'WITHSCORES', 'LIMIT', 0, limit)
local out = { 'ok', mark(state), num(at), has_opened(state, at) and '' or num(state.opens) }
local length = #out
for i = 1, #found, 2 do
  out[length + 1], out[length + 2] = num(found[i + 1]), found[i]
  length = length + 2
end
return out
