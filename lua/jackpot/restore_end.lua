-- Ends a restore: writes money and state, appends the event `restore`, and lets the other scripts in again.
--
-- KEYS  1 state  2 meters  3 events  4 definitions  5 epochs  6 seen:a  7 seen:b  8 adjustments  9 pending
--       10.. pools
-- ARGV  1 token of the restore  2 who  3 request id  4 reason
--       5..10 how many there must be of KEYS[4] to KEYS[9]
--       11 how many pools  12 how many names and values of meters
--       13.. the pools, the meters as name, value, ..., then all fields of the state (state.lua) but gen_age and
--       gen_looked, and `puts`, as name, value, ...; n and restores as the ledger has them
-- Reply {'unknown'} | {'other', mark} this restore is not the one that is going on
--       {'incomplete', mark} Redis lost records since they were written: begin again
--       {'ok', mark} done | {'same', mark} done before
-- Invariants: the event has the ledger's number and one restore more than anybody has seen; the status is written
-- with all else, so that no script ever sees a part. The age of the newer generation begins at 0: that much is sure.
-- Runs when memory is full: what is big is there already.
-- Cost: O(tiers).

local MAX_RESTORES = 8191 -- 2^13 - 1, so that a mark stays below 2^53
local FIRST_COUNTED, COUNTED, FIRST_POOL, FIRST_COUNT, FIRST_VALUE = 4, 6, 10, 5, 13

local was = read_state(KEYS[1])
if not was then
  return { 'unknown' }
end
local own = redis.call('HMGET', KEYS[1], 'restore_token', 'restore_from')
if own[1] ~= ARGV[1] then
  return { 'other', mark(was) }
end
if was.status ~= 'restoring' then
  return { 'same', mark(was) }
end
local records = 0
for i = 0, COUNTED - 1 do
  local key = KEYS[FIRST_COUNTED + i]
  local count = i == COUNTED - 1 and redis.call('ZCARD', key) or redis.call('HLEN', key)
  if count ~= tonumber(ARGV[FIRST_COUNT + i]) then
    return { 'incomplete', mark(was) }
  end
  records = records + count
end

local pools, meters = tonumber(ARGV[11]), tonumber(ARGV[12])
local first_meter = FIRST_VALUE + pools
local first_field = first_meter + meters
for i = FIRST_VALUE, first_meter - 1 do
  must(exact(ARGV[i]), 'JP_ARGUMENT pool')
end
for i = first_meter, first_field - 1, 2 do
  must(exact(ARGV[i + 1]), 'JP_ARGUMENT meter')
end
local at = now_ms()
local state, fields = { gen_age = '0', gen_looked = num(at) }, {}
for i = first_field, #ARGV, 2 do
  state[ARGV[i]] = ARGV[i + 1]
end
for _, field in ipairs(NUMBERS) do
  state[field] = must(exact(state[field]), 'JP_ARGUMENT state')
end
state.restores = math.max(state.restores, was.restores) + 1
must(state.restores <= MAX_RESTORES or nil, 'JP_RESTORES no number is left')

append_event(KEYS[3], state, at, 'restore', {
  'from_n',
  own[2],
  'restores',
  num(state.restores),
  'records',
  num(records),
  'status',
  state.status,
  'reason',
  ARGV[4],
  'who',
  ARGV[2],
  'request_id',
  ARGV[3],
  'meters',
  '',
  'applied',
  '',
})
for i = 0, pools - 1 do
  redis.call('SET', KEYS[FIRST_POOL + i], ARGV[FIRST_VALUE + i])
end
redis.call('HSET', KEYS[2], unpack(ARGV, first_meter, first_field - 1))
for field, value in pairs(state) do
  fields[#fields + 1] = field
  fields[#fields + 1] = type(value) == 'number' and num(value) or value
end
redis.call('HDEL', KEYS[1], 'restore_from')
redis.call('HSET', KEYS[1], unpack(fields))
return { 'ok', mark(state) }
