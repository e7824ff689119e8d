-- Writes a decision about the emergency stop, unless Redis has it or a later one.
--
-- KEYS  1 the last decision, a hash
-- ARGV  1 order: odd for a stop, even for a start  2 reason  3 when, ms  4 who  5 request id
-- Reply {'ok'} Redis has this decision | {'other'} Redis has another one with this order, or a later one: nothing was
--         written
-- Invariants: the order only grows. A repeat changes nothing. Runs when memory is full: stopping must always work.
-- Cost: O(1).

local FIELDS = { 'order', 'reason', 'at', 'who', 'request_id' }

local order = must(exact(ARGV[1]), 'JP_ARGUMENT order')
local held = redis.call('HMGET', KEYS[1], unpack(FIELDS))
local before = held[1] and must(exact(held[1]), 'JP_DAMAGED emergency') or 0
if before >= order then
  local is_same = true
  for i = 1, #FIELDS do
    is_same = is_same and held[i] == ARGV[i]
  end
  return { is_same and 'ok' or 'other' }
end
local fields = {}
for i, field in ipairs(FIELDS) do
  fields[#fields + 1] = field
  fields[#fields + 1] = ARGV[i]
end
redis.call('HSET', KEYS[1], unpack(fields))
return { 'ok' }
