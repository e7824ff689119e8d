-- Shared by every script that changes a jackpot: its state, the fence, the event.
--
-- Part of a script, put in front of it when compiled in. Reads ARGV[1..4], which all these scripts have alike:
--   1 known n     the highest event number the caller has seen of this jackpot
--   2 epoch       the epoch the caller draws in
--   3 commitment  of that epoch, from the caller's own master secret
--   4 version     of the definition the caller knows, and its money digest: "3 5f0c..."; it decides which pools KEYS
--                 names. The digest tells two definitions apart that got one version, before and after a loss
--
-- A Lua number is a double: exact below 2^53, so every amount is bounded by MAX before it is written, and
-- written with '%.0f' (tostring(1e15 + 1) gives 1e+15).

local MAX = 9007199254740991 -- 2^53 - 1, the largest amount there is, in minor units

local function num(value)
  return string.format('%.0f', value + 0) -- + 0 turns -0 into 0
end

-- An integer of at most 53 bits from its text, or nil: nothing else is taken for money.
local function exact(text)
  if not text or not string.find(text, '^-?%d+$') then
    return nil
  end
  local value = tonumber(text)
  if value > MAX or value < -MAX then
    return nil
  end
  return value
end

-- Ends the script, before its first write, with an error that no client library takes for one of Redis' own.
local function must(value, what)
  if value == nil then
    error({ err = what })
  end
  return value
end

local STATE = {
  'n', -- number of the last event, dense from 1
  'status', -- open | paused | suspended | closed
  'version', -- definition in force
  'tiers', -- its tiers: "name seed cap;" each, cap "-" for none
  'money', -- digest of the parts of it that touch money or odds
  'next', -- definition that waits for the next take of all, or ''
  'next_tiers',
  'next_money',
  'last_version', -- highest version ever given
  'currency',
  'seq', -- entries so far
  'order', -- paid claims so far
  'epoch',
  'commitment',
  'gen', -- generation of idempotency records written now: a | b
  'gen_start', -- seq when it was opened: records up to here are in the older one
  'gen_opened', -- ms
  'gen_version', -- definition in force when it was opened
}

local NUMBERS = { 'n', 'last_version', 'seq', 'order', 'gen_start', 'gen_opened' }

-- The state as a table, or nil when there is no such jackpot.
local function read_state(key)
  local values = redis.call('HMGET', key, unpack(STATE))
  if not values[1] then
    return nil
  end
  local state = {}
  for i, field in ipairs(STATE) do
    state[field] = values[i] or ''
  end
  for _, field in ipairs(NUMBERS) do
    state[field] = must(exact(state[field]), 'JP_DAMAGED state')
  end
  return state
end

-- Why this caller may not write, or nil. 'behind': this Redis lost events that the caller has seen.
-- 'secret': the caller draws with another master secret. 'stale': the caller must read again.
local function fence(state)
  if state.n < tonumber(ARGV[1]) then
    return 'behind'
  end
  if state.epoch == ARGV[2] and state.commitment ~= ARGV[3] then
    return 'secret'
  end
  if state.epoch ~= ARGV[2] or state.version .. ' ' .. state.money ~= ARGV[4] then
    return 'stale'
  end
  return nil
end

-- Milliseconds of Redis' own clock, so that instances with different clocks agree.
local function now_ms()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

-- Appends the event of this call and numbers it. The first write of every script: it is the only one that can
-- fail (an id that does not grow), and then nothing has been written. The id is <seq>-<n>, so that the event of
-- an entry is found by its sequence and the reader's place by the number.
local function append_event(key, state, at, kind, fields)
  state.n = state.n + 1
  redis.call(
    'XADD',
    key,
    num(state.seq) .. '-' .. num(state.n),
    'n',
    num(state.n),
    'at',
    num(at),
    'type',
    kind,
    unpack(fields)
  )
end
