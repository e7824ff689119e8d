-- Writes records of a subject that is being restored.
--
-- KEYS  1 state  2 the hash or sorted set of the records
-- ARGV  1 token of the restore  2 hash | scores  3.. name, value pairs, at most 1,000; for scores: score, member
-- Reply {'unknown'} | {'other', mark} this restore is over, or another one took over | {'ok', mark}
-- Invariants: a repeat changes nothing. It needs memory, so Redis refuses it when memory is full. Then the subject
-- stays 'restoring', and the restore goes on when there is room.
-- Cost: O(pairs).

local held = redis.call('HMGET', KEYS[1], 'n', 'restores', 'status', 'restore_token')
if not held[1] then
  return { 'unknown' }
end
local state = { n = must(exact(held[1]), 'JP_DAMAGED state'), restores = must(exact(held[2]), 'JP_DAMAGED state') }
if held[3] ~= 'restoring' or held[4] ~= ARGV[1] then
  return { 'other', mark(state) }
end
redis.call(ARGV[2] == 'scores' and 'ZADD' or 'HSET', KEYS[2], unpack(ARGV, 3))
return { 'ok', mark(state) }
