-- Shared by every script of a room: its state.
--
-- Part of a script, after lua/subject/events.lua. All scripts get the eleven keys of the room, in this order:
--   1 state  2 tickets  3 users  4 waiting  5 seen  6 active  7 ended  8 revoked  9 recent  10 collected  11 events
-- and the known mark in ARGV[1]. docs/decisions/0016-rooms.md says what each key holds.

local STATE = {
  'n', -- number of the last event, dense from 1
  'restores', -- how often it was restored from the ledger
  'version', -- of the definition
  'capacity', -- sessions at once
  'session', -- ms
  'waiting_timeout', -- ms
  'rate', -- most admissions in any 60 s, '' for no limit
  'opens', -- ms of Redis' clock: nobody is admitted before, and earlier joins are collected
  'opened', -- 1 once it has opened, whatever the clock does afterwards; 0 before
  'defined', -- number of the event that makes the opening final: of the last nonce, of the opening, or of its list
  'passes_until', -- ms: when the last pass of earlier definitions, or from before a restore, expires; 0 for none
  'joins', -- tickets so far, the join number of the last
  'passes', -- passes given, by admissions and renewals, and revoked; after a restore from restores * 2^40 on
  'admitted', -- sessions begun
  'promoted', -- how many of them had waited
  'expired', -- sessions that reached their end
  'abandoned', -- waiting tickets that were not seen in time
  'left', -- tickets whose user left, in or waiting
  'waited_ms', -- sum over the promoted
  'revocations', -- number of the last revoked pass, 0 for none
  'hold', -- ms: nobody is admitted before; 0 for never
  'stepped', -- ms: the last step after which somebody waited; 0 for none
  'grace', -- ms: nobody is abandoned before; 0 for never
  'clock', -- ms: the highest time that the room has shown
  'ahead', -- ms by which the room's time is ahead of Redis' clock
  'to_order', -- tickets collected up to this number were made under an earlier nonce; 0 for none
  'ordered', -- up to this number they have their order under the last nonce
  'history', -- 16 hexadecimal digits, made at creation and at every restore
  'collected_sha256', -- of the list of collected tickets, '' until it is published
  'status', -- open | suspended; restoring: it has only n and restores. STOPPED may be before it (events.lua)
}
-- The hash also has: `json`, the definition as operators read it; `opens_at` of the definition (ms, '' for none);
-- `order_nonce` and `commitment` of the seed; `puts` (lua/subject/puts.lua);
-- `emergency` (lua/subject/emergency.lua).

local TEXTS = 3 -- the last fields are texts

-- Like `exact` in a third of the time, for the many numbers of a state. No script of ours writes an exponent.
local function whole(text)
  local value = tonumber(text)
  return value and value % 1 == 0 and value <= MAX and value or nil
end

-- Reads the state, with nil for no rate; nil when the room does not exist.
local function read_state(key)
  local values = redis.call('HMGET', key, unpack(STATE))
  if not values[1] then
    return nil
  end
  local status, is_stopped = status_of(values[#STATE])
  local state =
    { status = status, is_stopped = is_stopped, collected_sha256 = values[#STATE - 1], history = values[#STATE - 2] }
  for i = 1, status == 'restoring' and 2 or #STATE - TEXTS do
    local field, text = STATE[i], values[i]
    if text ~= '' or field ~= 'rate' then
      state[field] = must(whole(text), 'JP_DAMAGED state')
    end
  end
  return state
end

-- Reads the state; or nil and the reply that ends the call.
local function known_state(key)
  local state = read_state(key)
  local ended = ended_by(state)
  if ended then
    return nil, ended
  end
  return state
end

-- The room's time in ms: Redis' clock `wall` plus every set-back of that clock so far. It never goes back, and goes on
-- at the pace of Redis' clock (docs/decisions/0020-room-clock.md). All times of the room except `opens` are room times.
-- `seen_ms`: the highest time that the caller has seen. A script that writes anything writes `clock` and `ahead` too.
local function room_ms(state, wall, seen_ms)
  local at = math.max(wall + state.ahead, state.clock, seen_ms or 0)
  state.clock, state.ahead = at, at - wall
  return at
end

-- The values of an event with the room's time, which every event of a room has. Both parts of its id are its number.
local function timed(state, values)
  state.seq = state.n + 1
  values.clock = num(state.clock)
  return values
end

local RATE_MS = 60000 -- length of the interval of a rate

-- Sessions and holds end on a whole second, because a pass has its end in seconds.
local function whole_second(ms)
  return math.ceil(ms / 1000) * 1000
end

-- Whether the room has opened, by Redis' clock `wall`, because operators mean that clock. A room opens once: the clock
-- may go back, but the seed of the order is public.
local function has_opened(state, wall)
  return state.opened == 1 or wall >= state.opens
end

-- The counters of a room without any visit yet, as text. `passes`: the number from which its passes count.
local function fresh_fields(passes)
  local fields = { passes = num(passes), collected_sha256 = '' }
  local zero = { 'joins', 'admitted', 'promoted', 'expired', 'abandoned', 'left', 'waited_ms', 'to_order', 'ordered' }
  for _, field in ipairs(zero) do
    fields[field] = '0'
  end
  fields.revocations, fields.hold, fields.stepped, fields.grace = '0', '0', '0', '0'
  return fields
end

-- Names and values as a list, for HSET.
local function list_of(fields)
  local list = {}
  for field, value in pairs(fields) do
    list[#list + 1] = field
    list[#list + 1] = value
  end
  return list
end

-- The end of the hold of a room that lost tickets: the latest time at which a lost pass can still be valid, and, with a
-- rate, a lost admission can still count.
local function lost_until(at, state)
  local counts = state.rate and RATE_MS + 1 or 0
  return math.max(whole_second(at + math.max(state.session, counts)), state.passes_until)
end
