-- Shared by every script of what has a stream of events, a jackpot, a coupon or a room: numbers, the mark, the event.
--
-- Part of a script, put in front of it when compiled in. ARGV[1] is, in all of them, the highest mark the caller has
-- seen: what every reply has second.
--
-- The mark is restores * 2^40 + n, below 2^53: n is the number of the last event, and a Redis that was restored from
-- the ledger goes before all that was there, though it may have fewer events.
--
-- A Lua number is a double: exact below 2^53, so every amount is bounded by MAX before it is written, and never
-- written with tostring (1e15 + 1 gives 1e+15).

local MAX = 9007199254740991 -- 2^53 - 1, the largest amount there is, in minor units
local MAX_N = 1099511627775 -- 2^40 - 1 events of a jackpot: a million a second for twelve days, a thousand for 34 years

-- '%d' takes half the time, and is as exact where a C long has 64 bits, which this server is asked here.
local INTEGER = string.format('%d', MAX) == '9007199254740991' and '%d' or '%.0f'
local format, find, tonumber = string.format, string.find, tonumber

local function num(value)
  return format(INTEGER, value + 0) -- + 0 turns -0 into 0
end

-- An integer of at most 53 bits from its text, or nil: nothing else is taken for money.
local function exact(text)
  if not text or not find(text, '^-?%d+$') then
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

local function mark(state)
  return num(state.restores * (MAX_N + 1) + state.n)
end

-- The reply that ends the call, or nil: there is no such thing, it is being restored, or this Redis lost events that
-- the caller has seen ('behind').
local function ended_by(state)
  if not state then
    return { 'unknown' }
  end
  if state.status == 'restoring' then
    return { 'restoring', mark(state) }
  end
  if tonumber(mark(state)) < tonumber(ARGV[1]) then
    return { 'behind', mark(state) }
  end
  return nil
end

-- Whether a text is the name of a history.
local function is_history(text)
  return text ~= nil and #text == 16 and not find(text, '[^0-9a-f]')
end

-- Milliseconds of Redis' own clock, so that instances with different clocks agree.
local function now_ms()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

-- Appends the event of this call and numbers it. The first write of every script: it is the only one that can
-- fail (an id that does not grow), and then nothing has been written. The id is <seq>-<n>, so that the event of
-- an entry or an issue is found by its sequence and the reader's place by the number. Every event names the history
-- that it belongs to: 16 hexadecimal digits of randomness, made at creation and at every restore, and kept in the
-- state.
local function append_event(key, state, at, kind, fields)
  must(state.n < MAX_N or nil, 'JP_EVENTS no number is left')
  must(is_history(state.history) or nil, 'JP_DAMAGED history')
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
    'history',
    state.history,
    unpack(fields)
  )
end
