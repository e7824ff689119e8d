-- Writes records of a jackpot that is being restored.
--
-- KEYS  1 state  2 definitions, epochs, seen:a, seen:b or adjustments | pending
-- ARGV  1 token of the restore  2 hash | scores  3.. name, value pairs, at most 1,000; scores: sequence, entry id
-- Reply {'unknown'} | {'other', mark} this restore is over, or another has taken over | {'ok', mark}
-- Invariants: repeating it changes nothing. Needs memory, so it is refused when there is none: a restore that does not
-- fit stays 'restoring', and goes on when there is room.
-- Cost: O(pairs).

local state = read_state(KEYS[1])
if not state then
  return { 'unknown' }
end
if state.status ~= 'restoring' or redis.call('HGET', KEYS[1], 'restore_token') ~= ARGV[1] then
  return { 'other', mark(state) }
end
redis.call(ARGV[2] == 'scores' and 'ZADD' or 'HSET', KEYS[2], unpack(ARGV, 3))
return { 'ok', mark(state) }
