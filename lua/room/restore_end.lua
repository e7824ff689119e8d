-- Ends a restore: writes the state, appends the event `restore`, and lets the other scripts in again.
--
-- KEYS  the eleven of the room (state.lua)
-- ARGV  1 token of the restore  2 who  3 request id  4 reason
--       5.. what the ledger says, as name, value, ...: n, restores, status, version, json, commitment, longest, puts,
--         collected_sha256 ('' for none) and the numbers of the definition: capacity, session, waiting_timeout, rate
--         and opens_at ('' for none)
-- Reply {'unknown'} | {'other', mark} this restore is not the one that is going on
--       {'ok', mark} done | {'same', mark} done before
-- Invariants: the event has the ledger's number and one restore more than anybody has seen; the status is written
-- with all else, so that no script ever sees a part. Nobody is in or waits, and until the longest session has passed
-- nobody is admitted: passes that Redis forgot are still out. Their numbers go on above all that there were. Runs when
-- memory is full.
-- Cost: O(1).

local MAX_RESTORES = 8191 -- 2^13 - 1, so that a mark stays below 2^53
local NUMBERS = { 'n', 'restores', 'version', 'longest', 'capacity', 'session', 'waiting_timeout' }
local OPTIONAL = { 'rate', 'opens_at' }
local FIRST_FIELD = 5

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

local state, at = {}, now_ms()
for i = FIRST_FIELD, #ARGV, 2 do
  state[ARGV[i]] = ARGV[i + 1]
end
for _, field in ipairs(OPTIONAL) do
  must(state[field] == '' or exact(state[field]) or nil, 'JP_ARGUMENT state')
end
for _, field in ipairs(NUMBERS) do
  state[field] = must(exact(state[field]), 'JP_ARGUMENT state')
end
must(state.commitment and state.collected_sha256, 'JP_ARGUMENT state')
state.restores = math.max(state.restores, was.restores) + 1
must(state.restores <= MAX_RESTORES or nil, 'JP_RESTORES no number is left')

append(state, at, 'restore', {
  'from_n',
  own[2],
  'restores',
  num(state.restores),
  'records',
  '0',
  'status',
  state.status,
  'reason',
  ARGV[4],
  'who',
  ARGV[2],
  'request_id',
  ARGV[3],
})
local fields = fresh_fields(state.restores * (MAX_N + 1))
state.hold = lost_until(at, state.longest, exact(state.rate))
state.opens = exact(state.opens_at) or at
state.seq = nil
for field, value in pairs(state) do
  fields[field] = type(value) == 'number' and num(value) or value
end
redis.call('HDEL', KEYS[1], 'restore_from')
redis.call('HSET', KEYS[1], unpack(list_of(fields)))
return { 'ok', mark(state) }
