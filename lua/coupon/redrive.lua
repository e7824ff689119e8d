-- Puts a dead letter back into the queue, at its old place: with its arrival number, and no tries.
--
-- KEYS  the six of the coupon (state.lua)
-- ARGV  1 known mark  2 request id of the dead letter  3 who  4 request id of the operator's request
-- Reply {'unknown'} | {'behind' | 'restoring', mark} | {'missing', mark} no such request
--       with what came of it (answered_reply):
--         {'ok', mark, ...} it is in the queue | {'same', mark, ...} it was in the queue already
--         {'not-dead', mark, ...} it has been decided
--       {'suspended' | 'ended', mark}
-- Invariants: later requests that were served meanwhile stay served. Later requests in the queue wait for it.
-- Cost: O(log n of the queue).
-- needs: state write_request record event/redrive

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local id = ARGV[2]
local text = redis.call('HGET', KEYS[2], id)
if not text then
  return { state.status == 'ended' and 'ended' or 'missing', mark(state) }
end
local dead = read_request(text)
if not dead or dead.kind ~= 'd' then
  local code = string.sub(text, 1, 2) == 'q ' and 'same' or 'not-dead'
  return answer(code, mark(state), true, text)
end
if state.status == 'suspended' or state.status == 'ended' then
  return { state.status, mark(state) }
end
redis.call('ZCARD', KEYS[4]) -- checks the keys' types before the first write
redis.call('ZCARD', KEYS[5])

append_redrive(KEYS[6], state, now_ms(), { request = id, arrival = dead.arrival, who = ARGV[3], request_id = ARGV[4] })
local queued = queued_request(dead.arrival, '0', '-', dead.at_ms, dead.user)
redis.call('HSET', KEYS[2], id, queued)
redis.call('ZREM', KEYS[5], id)
redis.call('ZADD', KEYS[4], dead.arrival, id)
write_counts(KEYS[1], state)
return answer('ok', mark(state), false, queued)
