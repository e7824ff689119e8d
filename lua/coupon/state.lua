-- Shared by every script of a coupon: its state.
--
-- Part of a script, after lua/subject/events.lua. All scripts get the six keys of the coupon, in this order:
--   1 state  2 requests  3 users  4 queue  5 dead  6 events
-- and the known mark in ARGV[1]. There is no fence, because the caller decides nothing.

local STATE = {
  'n', -- number of the last event, dense from 1
  'restores', -- how often it was restored from the ledger
  'version', -- of the definition
  'stock', -- most units outstanding at once
  'per_user', -- most issues that count for a user
  'window', -- ms for which an issue counts for its user, '' for as long as the coupon exists
  'starts', -- ms: no issue before, '' for none
  'ends', -- ms: no issue from here on, '' for never
  'seq', -- issues so far
  'voided', -- how many of them were voided
  'arrivals', -- requests that have joined the queue so far
  'retention', -- seconds for which records are kept after the end: the longest setting of any instance
  'history', -- 16 hexadecimal digits, made at creation and at every restore
  'status', -- open | paused | closed | suspended | ended; restoring: it has only n and restores. STOPPED may
  -- be before it (events.lua)
}
-- The hash also has: `json`, the definition as operators read it; `puts` (lua/subject/puts.lua); `emergency`
-- (lua/subject/emergency.lua); `held`, what a suspension interrupts: paused | closed; `redeemed`, how many units were
-- redeemed, absent for none; `consumer` (serve.lua); `over_version`, `over_age`, `over_looked` (retire.lua).

local TEXTS = 2 -- the last fields are texts
local OPTIONAL = { window = true, starts = true, ends = true }

-- Reads the state, with nil for an optional number that is not set; nil when the coupon does not exist.
local function read_state(key)
  local values = redis.call('HMGET', key, unpack(STATE))
  if not values[1] then
    return nil
  end
  local status, is_stopped = status_of(values[#STATE])
  local state = { status = status, is_stopped = is_stopped, history = values[#STATE - 1] }
  for i = 1, status == 'restoring' and 2 or #STATE - TEXTS do
    local field, text = STATE[i], values[i]
    if text ~= '' or not OPTIONAL[field] then
      state[field] = must(exact(text), 'JP_DAMAGED state')
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

-- What the coupon was before it was suspended; false when it was open.
local function held_status(key)
  return redis.call('HGET', key, 'held')
end

-- How many units were redeemed.
local function redeemed_count(key)
  return must(exact(redis.call('HGET', key, 'redeemed') or '0'), 'JP_DAMAGED state')
end

-- What a checkpoint and a view report: the fields of the state as name, value, ..., and the sizes of the other keys.
local function told(state)
  local out = {}
  for _, field in ipairs(STATE) do
    local value = state[field]
    out[#out + 1] = field
    out[#out + 1] = type(value) == 'number' and num(value) or value or ''
  end
  local counts = { 'requests', 'users', 'queued', 'dead' }
  for i, name in ipairs(counts) do
    out[#out + 1] = name
    out[#out + 1] = num(redis.call(i > 2 and 'ZCARD' or 'HLEN', KEYS[i + 1]))
  end
  local held = held_status(KEYS[1])
  if held then
    out[#out + 1] = 'held'
    out[#out + 1] = held
  end
  local redeemed = redeemed_count(KEYS[1])
  if redeemed > 0 then
    out[#out + 1] = 'redeemed'
    out[#out + 1] = num(redeemed)
  end
  return out
end

-- Writes the fields that a decision changes.
local function write_counts(key, state)
  redis.call(
    'HSET',
    key,
    'n',
    num(state.n),
    'seq',
    num(state.seq),
    'voided',
    num(state.voided),
    'arrivals',
    num(state.arrivals)
  )
end
