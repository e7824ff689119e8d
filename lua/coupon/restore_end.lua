-- Ends a restore: writes the state, appends the event `restore`, and lets the other scripts run again.
--
-- KEYS  the six of the coupon (state.lua)
-- ARGV  1 token of the restore  2 who  3 request id  4 reason
--       5..8 how many requests, users, queued requests and dead letters there must be
--       9.. all fields of the state (state.lua), `json` and `puts`, as name, value, ...; n, restores: the ledger's;
--         history: a new one
-- Reply {'unknown'} | {'other', mark} another restore is running
--       {'incomplete', mark} Redis lost records since they were written: begin again
--       {'ok', mark} done | {'same', mark} done before
-- Invariants: the event has the ledger's number and one more restore than any instance has seen. The status is written
-- with the rest, so no script sees a part. No consumer has the lease and no request is taken: both belonged to the
-- lost Redis. Runs when memory is full, because the large keys are already there.
-- Cost: O(1).

local MAX_RESTORES = 8191 -- 2^13 - 1, so that a mark stays below 2^53
local NUMBERS = { 'n', 'restores', 'version', 'stock', 'per_user', 'seq', 'voided', 'arrivals', 'retention' }
local OPTIONAL = { 'window', 'starts', 'ends' }
local FIRST_COUNT, FIRST_FIELD = 5, 9

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
local counts = {
  redis.call('HLEN', KEYS[2]),
  redis.call('HLEN', KEYS[3]),
  redis.call('ZCARD', KEYS[4]),
  redis.call('ZCARD', KEYS[5]),
}
for i, count in ipairs(counts) do
  if count ~= tonumber(ARGV[FIRST_COUNT + i - 1]) then
    return { 'incomplete', mark(was) }
  end
end

local state, fields = {}, {}
for i = FIRST_FIELD, #ARGV, 2 do
  state[ARGV[i]] = ARGV[i + 1]
end
for _, field in ipairs(OPTIONAL) do
  must(state[field] == '' or exact(state[field]) or nil, 'JP_ARGUMENT state')
end
for _, field in ipairs(NUMBERS) do
  state[field] = must(exact(state[field]), 'JP_ARGUMENT state')
end
state.restores = math.max(state.restores, was.restores) + 1
must(state.restores <= MAX_RESTORES or nil, 'JP_RESTORES no number is left')

append_event(KEYS[6], state, now_ms(), 'restore', {
  'from_n',
  own[2],
  'restores',
  num(state.restores),
  'records',
  num(counts[1]),
  'users',
  num(counts[2]),
  'status',
  state.status,
  'reason',
  ARGV[4],
  'who',
  ARGV[2],
  'request_id',
  ARGV[3],
})
for field, value in pairs(state) do
  fields[#fields + 1] = field
  fields[#fields + 1] = type(value) == 'number' and num(value) or value
end
redis.call('HDEL', KEYS[1], 'restore_from')
redis.call('HSET', KEYS[1], unpack(fields))
return { 'ok', mark(state) }
