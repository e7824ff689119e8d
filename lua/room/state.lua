-- Shared by every script of a room: its state.
--
-- Part of a script, behind lua/stream/events.lua. All scripts get the eleven keys of the room, in this order:
--   1 state  2 tickets  3 users  4 waiting  5 seen  6 active  7 ended  8 revoked  9 recent  10 collected  11 events
-- and the known mark in ARGV[1]. What each key holds is in docs/decisions/0016-rooms.md.

local STATE = {
  'n', -- number of the last event, dense from 1
  'restores', -- how often it was rebuilt from the ledger
  'version', -- of the definition
  'capacity', -- sessions at once
  'session', -- ms
  'waiting_timeout', -- ms
  'rate', -- admissions in any 60 s, '' for as many as there is room for
  'opens', -- ms of Redis' clock: nobody is admitted before, and who joins before is collected
  'opened', -- 1 once it has opened, whatever the clock does afterwards; 0 before
  'defined', -- number of the event that makes its opening final: of the last nonce, or what opened it, or of its list
  'passes_until', -- ms: when the last pass of former definitions, or of before a restore, has expired; 0 for none
  'joins', -- tickets ever: the join number of the last
  'passes', -- passes given, by admissions and renewals, and taken back; behind a restore from restores * 2^40 on
  'admitted', -- sessions begun
  'promoted', -- of them those that had waited
  'expired', -- sessions that came to their end
  'abandoned', -- waiters that were not seen
  'left', -- who left, in or waiting
  'waited_ms', -- sum over the promoted
  'revocations', -- number of the last pass that was taken back, 0 for none
  'hold', -- ms: nobody is admitted before; 0 for never
  'stepped', -- ms: the last step behind which somebody waited; 0 for none
  'grace', -- ms: nobody is abandoned before; 0 for never
  'clock', -- ms: the highest time that the room has shown
  'ahead', -- ms by which its time is ahead of Redis' clock
  'to_order', -- those collected up to this number came under another nonce than the last; 0 for none
  'ordered', -- up to this number they have their order under the last nonce
  'history', -- 16 hexadecimal digits, made at creation and at every restore
  'collected_sha256', -- of the list of those collected, '' until it is published
  'status', -- open | suspended; restoring: n and restores are all there is
}
-- Beside them: `json`, the definition as operators read it; `opens_at` (ms, '' for none), as it says;
-- `order_nonce` and `commitment` of the seed; `puts` (lua/stream/puts.lua).

local TEXTS = 3 -- the last of them, which are no numbers

-- As `exact`, which takes three times as long: a state has many numbers, and no script of ours writes an exponent.
local function whole(text)
  local value = tonumber(text)
  return value and value % 1 == 0 and value <= MAX and value or nil
end

-- The state as a table, `nil` for no rate; or nil when there is no such room.
local function read_state(key)
  local values = redis.call('HMGET', key, unpack(STATE))
  if not values[1] then
    return nil
  end
  local status = values[#STATE]
  local state = { status = status, collected_sha256 = values[#STATE - 1], history = values[#STATE - 2] }
  for i = 1, status == 'restoring' and 2 or #STATE - TEXTS do
    local field, text = STATE[i], values[i]
    if text ~= '' or field ~= 'rate' then
      state[field] = must(whole(text), 'JP_DAMAGED state')
    end
  end
  return state
end

-- The state, or nil and the reply that ends the call.
local function known_state(key)
  local state = read_state(key)
  local ended = ended_by(state)
  if ended then
    return nil, ended
  end
  return state
end

-- The time of the room in ms: Redis' clock `wall` plus all by which that was put back so far. It never goes back, and
-- goes on at the pace of Redis' clock (docs/decisions/0020-room-clock.md). All times of the room but `opens` are of it.
-- `seen_ms`: the highest time that the caller has seen. A script that writes anything writes `clock` and `ahead` too.
local function room_ms(state, wall, seen_ms)
  local at = math.max(wall + state.ahead, state.clock, seen_ms or 0)
  state.clock, state.ahead = at, at - wall
  return at
end

-- Appends an event, at Redis' clock: both parts of its id are its number.
local function append(state, wall, kind, fields)
  state.seq = state.n + 1
  fields[#fields + 1] = 'clock'
  fields[#fields + 1] = num(state.clock)
  append_event(KEYS[11], state, wall, kind, fields)
end

local RATE_MS = 60000 -- the time in which a rate counts

-- Sessions, and the time in which nobody is admitted, end on a whole second: a pass says its end in seconds.
local function whole_second(ms)
  return math.ceil(ms / 1000) * 1000
end

-- Whether it has opened, by Redis' clock `wall`: operators mean that one, whatever jumps there were. It opens once: the
-- clock of a Redis may go back, the seed of the order is known.
local function has_opened(state, wall)
  return state.opened == 1 or wall >= state.opens
end

-- The fields of a room in which nobody has been, as text. `passes`: from where on they are counted.
local function fresh_fields(passes)
  local fields = { passes = num(passes), collected_sha256 = '' }
  local zero = { 'joins', 'admitted', 'promoted', 'expired', 'abandoned', 'left', 'waited_ms', 'to_order', 'ordered' }
  for _, field in ipairs(zero) do
    fields[field] = '0'
  end
  fields.revocations, fields.hold, fields.stepped, fields.grace = '0', '0', '0', '0'
  return fields
end

-- Names and values in a list, as HSET takes them.
local function list_of(fields)
  local list = {}
  for field, value in pairs(fields) do
    list[#list + 1] = field
    list[#list + 1] = value
  end
  return list
end

-- Until when nobody is admitted to a room that lost tickets: as long as a pass may be out that is not known here, and,
-- with a rate, an admission may count that is not known here.
local function lost_until(at, state)
  local counts = state.rate and RATE_MS + 1 or 0
  return math.max(whole_second(at + math.max(state.session, counts)), state.passes_until)
end

-- All that decides who may be in, and when, as the ledger compares it.
local function decides(state, commitment)
  return table.concat({
    state.status,
    num(state.version),
    num(state.capacity),
    num(state.session),
    num(state.waiting_timeout),
    state.rate and num(state.rate) or '-',
    num(state.opens),
    num(state.passes_until),
    commitment,
    state.collected_sha256 == '' and '-' or state.collected_sha256,
  }, ' ')
end
