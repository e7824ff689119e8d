-- Lists dead letters, by arrival number.
--
-- KEYS  the six of the coupon (state.lua)
-- ARGV  1 known mark  2 list from the number after this arrival number  3 most dead letters, 1 to 1,000
-- Reply {'unknown'} | {'behind' | 'restoring', mark}
--       {'ok', mark, the page, each dead letter} (dead_reply)
-- Invariants: changes nothing.
-- Cost: O(log n + most dead letters).
-- needs: state dead_reply

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local found = redis.call('ZRANGEBYSCORE', KEYS[5], '(' .. ARGV[2], '+inf', 'WITHSCORES', 'LIMIT', 0, tonumber(ARGV[3]))
local reply, ids = letters_reply(mark(state), { last = found[#found] }), {}
for i = 1, #found, 2 do
  ids[#ids + 1] = found[i]
end
local records = #ids > 0 and redis.call('HMGET', KEYS[2], unpack(ids)) or {}
for i, id in ipairs(ids) do
  append_letter(reply, { request_id = id, record = records[i] or '' })
end
return reply
