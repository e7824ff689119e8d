-- Lists the tickets that were made before the opening, by their number on the list, in whatever state they are now.
--
-- KEYS  the eleven of the room (state.lua)
-- ARGV  1 known mark  2 list from the ticket after this number  3 most tickets, 1 to 10,000
-- Reply {'unknown'} | {'behind' | 'restoring', mark}
--       {'ok', mark, the page, each ticket} (collected_reply)
-- Invariants: changes nothing.
-- Cost: O(log n + most tickets).
-- needs: state collected_reply

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local limit, at = tonumber(ARGV[3]), now_ms()
local found = redis.call('ZRANGEBYSCORE', KEYS[10], '(' .. ARGV[2], '+inf', 'WITHSCORES', 'LIMIT', 0, limit)
local opens_ms = not has_opened(state, at) and num(state.opens)
local reply = collected_page_reply(mark(state), { now_ms = num(at), opens_ms = opens_ms })
for i = 1, #found, 2 do
  append_collected(reply, { number = num(found[i + 1]), ticket = found[i] })
end
return reply
