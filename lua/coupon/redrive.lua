-- Puts a dead letter back into the queue, at its old place: with its arrival number, and no tries.
--
-- KEYS  the six of the coupon (state.lua)
-- ARGV  1 known mark  2 request id of the dead letter  3 who  4 request id of the operator's request
-- Reply {'unknown'} | {'behind' | 'restoring', mark} | {'missing', mark} no such request
--       {'ok', mark, '', record, place, text} it is in the queue
--       {'same', mark, '1', record, place, text} it was in the queue already
--       {'not-dead', mark, '1', record, place, text} it has been decided; with its details, if any (record.lua)
--       {'suspended' | 'ended', mark}
-- Invariants: later requests that were served meanwhile stay served. Later requests in the queue wait for it.
-- Cost: O(log n of the queue).

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local id = ARGV[2]
local text = redis.call('HGET', KEYS[2], id)
if not text then
  return { state.status == 'ended' and 'ended' or 'missing', mark(state) }
end
local arrival, at, user = string.match(text, '^d (%d+) %d+ (%d+) (%S+)$')
if not arrival then
  local code = string.sub(text, 1, 2) == 'q ' and 'same' or 'not-dead'
  return append_details({ code, mark(state), '1', text }, 3, 1, 1)
end
if state.status ~= 'open' then
  return { state.status, mark(state) }
end
redis.call('ZCARD', KEYS[4]) -- checks the keys' types before the first write
redis.call('ZCARD', KEYS[5])

append_redrive(KEYS[6], state, now_ms(), { request = id, arrival = arrival, who = ARGV[3], request_id = ARGV[4] })
local queued = queued_text({ arrival = arrival, attempts = 0, take = '-', at = at, user = user })
redis.call('HSET', KEYS[2], id, queued)
redis.call('ZREM', KEYS[5], id)
redis.call('ZADD', KEYS[4], arrival, id)
write_counts(KEYS[1], state)
return append_details({ 'ok', mark(state), '', queued }, 3, 1, 1)
