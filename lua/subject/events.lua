-- Shared by every script of a subject with a stream of events (jackpot, coupon, room): numbers, the mark, the event.
--
-- Part of a script: it is in front of all others. What a script needs and no file has is made from a declaration in
-- Rust when the service starts: `event/<type>`, `<name>_reply`, records and packed values (docs/reference/events.md and
-- redis-values.md; crates/core/src/wire/lua.rs). In all scripts, ARGV[1] is the highest mark that the caller has seen.
-- Every reply has the mark second.
--
-- The mark is restores * 2^40 + n, below 2^53; n is the number of the last event. So a Redis restored from the ledger
-- outranks every earlier state, though it may have fewer events.
--
-- A Lua number is a double and exact below 2^53. So scripts bound every amount by MAX before they write it. They never
-- write it with tostring, which gives 1e+15 for 1e15 + 1.

local MAX = 9007199254740991 -- 2^53 - 1, the largest amount there is, in minor units
local MAX_N = 1099511627775 -- 2^40 - 1 events of a jackpot: 1,000,000 a second for 12 days, 1,000 for 34 years

-- '%d' takes half the time of '%.0f'. It is as exact where a C long has 64 bits; this line tests that.
local INTEGER = string.format('%d', MAX) == '9007199254740991' and '%d' or '%.0f'
local format, find, tonumber = string.format, string.find, tonumber

-- Texts of the numbers below 1,000, and of the same with zeros to three digits. Each is made at its first use.
local small, last_three = {}, {}

local function three_digits(value)
  local text = last_three[value]
  if not text then
    text = format('%03d', value)
    last_three[value] = text
  end
  return text
end

-- A function that keeps what `make` returns for a key. With `most` keys it begins anew.
local function memo(most, make)
  local kept, count = {}, 0
  return function(key)
    local made = kept[key]
    if not made then
      made = make(key)
      if count == most then
        kept, count = {}, 0
      end
      kept[key], count = made, count + 1
    end
    return made
  end
end

-- The millions of a large number as text. Times have few of them.
local text_of_millions = memo(1000, function(value)
  return format(INTEGER, value)
end)

local function new_text(of)
  local value = of + 0 -- a number, also of a text; turns -0 into 0
  if value < 0 or value > MAX or value % 1 ~= 0 then
    return format(INTEGER, value)
  end
  if value < 1000 then
    small[value] = format(INTEGER, value)
    return small[value]
  end
  local low = value % 1000
  local high = (value - low) / 1000
  if high < 1000 then
    return (small[high] or new_text(high)) .. (last_three[low] or three_digits(low))
  end
  local middle = high % 1000
  high = (high - middle) / 1000
  return (small[high] or text_of_millions(high))
    .. (last_three[middle] or three_digits(middle))
    .. (last_three[low] or three_digits(low))
end

-- An integer as text. It is put together from kept texts, which takes a fifth of the time of `format`.
local function num(value)
  return small[value] or new_text(value)
end

-- Parses an integer of at most 53 bits, as `num` and Redis write it; nil for any other text. Scripts read money only
-- with this.
local function exact(text)
  local value = text and tonumber(text)
  if not value or value ~= value or value > MAX or value < -MAX or num(value) ~= text then
    return nil
  end
  return value
end

-- Ends the script before its first write. Redis itself has no error of this code, so client libraries do not misread
-- it.
local function must(value, what)
  if value == nil then
    error({ err = what })
  end
  return value
end

-- A function that writes a number and keeps the last text, because a call needs it several times. The text is not kept
-- in the state: some states are written field by field.
local function last_text()
  local value, text
  return function(of)
    if of ~= value then
      value, text = of, num(of)
    end
    return text
  end
end

local n_text, seq_text = last_text(), last_text()

local function mark(state)
  if state.restores == 0 then
    return n_text(state.n)
  end
  return num(state.restores * (MAX_N + 1) + state.n)
end

-- Returns the reply that ends the call, or nil: the subject does not exist, a restore is running, or this Redis lost
-- events that the caller has seen ('behind').
local function ended_by(state)
  if not state then
    return { 'unknown' }
  end
  if state.status == 'restoring' then
    return { 'restoring', mark(state) }
  end
  if state.restores * (MAX_N + 1) + state.n < tonumber(ARGV[1]) then
    return { 'behind', mark(state) }
  end
  return nil
end

-- Before the own status of a subject, in the field `status`, while the emergency stop holds it. A version that does not
-- know the stop finds no status there in which it takes requests.
local STOPPED = 'stopped '

-- The own status in this field, and whether the emergency stop holds the subject.
local function status_of(text)
  if text and string.sub(text, 1, #STOPPED) == STOPPED then
    return string.sub(text, #STOPPED + 1), true
  end
  return text, false
end

-- The field of this state.
local function status_text(state)
  return (state.is_stopped and STOPPED or '') .. state.status
end

-- The order of the decision about the emergency that a subject has obeyed last, in the field `emergency`
-- (emergency.lua): 0 for none, odd for a stop, even for a start.
local function emergency_order(key)
  local text = redis.call('HGET', key, 'emergency')
  return text and tonumber(string.match(text, '^(%d+) ')) or 0
end

-- The time in ms by Redis' clock, so that instances with different clocks agree.
local function now_ms()
  local time = redis.call('TIME')
  local micro = tonumber(time[2])
  return tonumber(time[1]) * 1000 + (micro - micro % 1000) / 1000
end

-- The beginning of a text in an event: its length and a colon. Kept for the usual lengths.
local sizes = {}

local function size(length)
  local text = sizes[length] or num(length) .. ':'
  if length < 1000 then
    sizes[length] = text
  end
  return text
end

-- Numbers the event of this call. Returns its id, and its number as text. The functions that append events call it: of
-- each type one, `append_<type>`, needed as `event/<type>`. To append the event is the first write of every script,
-- because it is the only one that can fail: Redis refuses an id that does not grow. Then nothing has been written.
--
-- The id is <seq>-<n>. So the sequence finds the event of an entry or an issue, and the number is a reader's place.
-- An event is one field, `e`: names and values in turn, each as `<length>:<bytes>`. So a value may have any bytes, and
-- an event costs Redis a third of what it costs with a field for each value.
--
-- Every event names its history: 16 random hexadecimal digits, made at creation and at every restore, kept in the
-- state.
local function next_event(state)
  must(state.n < MAX_N or nil, 'JP_EVENTS no number is left')
  must(state.history and #state.history == 16 or nil, 'JP_DAMAGED history')
  state.n = state.n + 1
  local n = n_text(state.n)
  return seq_text(state.seq) .. '-' .. n, n
end
