-- Shared by every script that changes a jackpot: its state, the fence, the event.
--
-- Part of a script, put in front of it when compiled in. Reads ARGV[1..4], which all these scripts have alike:
--   1 known mark  the highest mark the caller has seen of this jackpot: what every reply has second
--   2 epoch       the epoch the caller draws in
--   3 commitment  of that epoch, from the caller's own master secret
--   4 version     of the definition the caller knows, and its money digest: "3 5f0c..."; it decides which pools KEYS
--                 names. The digest tells two definitions apart that got one version, before and after a loss
--
-- The mark of a jackpot is restores * 2^40 + n, below 2^53: n is the number of its last event, and a Redis that was
-- restored from the ledger goes before all that was there, though it may have fewer events.
--
-- A Lua number is a double: exact below 2^53, so every amount is bounded by MAX before it is written, and never
-- written with tostring (1e15 + 1 gives 1e+15).

local MAX = 9007199254740991 -- 2^53 - 1, the largest amount there is, in minor units
local MAX_N = 1099511627775 -- 2^40 - 1 events of a jackpot: a million a second for twelve days, a thousand for 34 years

-- '%d' takes half the time, and is as exact where a C long has 64 bits, which this server is asked here.
local INTEGER = string.format('%d', MAX) == '9007199254740991' and '%d' or '%.0f'
local format = string.format

local function num(value)
  return format(INTEGER, value + 0) -- + 0 turns -0 into 0
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
  'restores', -- how often it was rebuilt from the ledger
  'status', -- open | paused | suspended | closed; restoring: n and restores are all there is (restore_begin.lua)
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

local NUMBERS = { 'n', 'restores', 'last_version', 'seq', 'order', 'gen_start', 'gen_opened' }
local BEFORE_RESTORE = { 'n', 'restores' }

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
  for _, field in ipairs(state.status == 'restoring' and BEFORE_RESTORE or NUMBERS) do
    state[field] = must(exact(state[field]), 'JP_DAMAGED state')
  end
  return state
end

local function mark(state)
  return num(state.restores * (MAX_N + 1) + state.n)
end

-- The state, or nil and the reply that ends the call: there is no such jackpot, it is being restored, or this Redis
-- lost events that the caller has seen ('behind').
local function known_state(key)
  local state = read_state(key)
  if not state then
    return nil, { 'unknown' }
  end
  if state.status == 'restoring' then
    return nil, { 'restoring', mark(state) }
  end
  if tonumber(mark(state)) < tonumber(ARGV[1]) then
    return nil, { 'behind', mark(state) }
  end
  return state
end

-- Why this caller may not write, or nil. 'secret': it draws with another master secret. 'stale': it must read again.
local function fence(state)
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
  must(state.n < MAX_N or nil, 'JP_EVENTS no number is left')
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
