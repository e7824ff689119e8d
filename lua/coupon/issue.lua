-- Issues units to users, in the order in which they ask: one request or many, each decided as if it came alone behind
-- the one before it. A request that is known is answered by its record; who asks while others are in the line, or asks
-- for the line, joins it at its end.
--
-- KEYS  the six of the coupon (state.lua)
-- ARGV  1 known mark  2 requests of this call, 1 to 1,000  3 modes: '' when all want to be decided now, else a letter
--       each: n now | l line
--       4.. request ids, then as many users, then as many codes; a code is used only where a unit is issued
-- Reply {'unknown'} | {'behind' | 'restoring', mark}
--       {code, mark, known, record of each ('' not taken), place, text, ...}
--         code: 'ok' | 'suspended' | 'ended': why those with '' were not taken
--         known: places in the call, from 1, with commas, of those that this call did not write
--         record: "? ..." for one whose user's record, which follows, cannot be read: nothing was decided
--         place, text: details of the record at this place (append_details in record.lua)
-- Invariants: read, decide, then write; what is refused leaves no trace, and a final refusal leaves its record. One
-- event for all that were decided or joined the line, in their order. Which user a record is of is for the caller to
-- compare.
-- Cost: HMGET of ids and of users, HSET of those, one XADD, one HSET of the state; a ZRANK for each known one in the
-- line.

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local count, modes, FIRST = tonumber(ARGV[2]), ARGV[3], 4
must(#ARGV == FIRST - 1 + 3 * count or nil, 'JP_ARGUMENT requests')
local refusal = state.status ~= 'open' and state.status or nil
local at, line = now_ms(), redis.call('ZCARD', KEYS[4])
local held = redis.call('HMGET', KEYS[2], unpack(ARGV, FIRST, FIRST + count - 1))
local held_users = redis.call('HMGET', KEYS[3], unpack(ARGV, FIRST + count, FIRST + 2 * count - 1))

local ids, texts, known, missed = {}, {}, {}, false
local written, records, lines = {}, {}, {} -- record by id; for HSET; of the event
local written_users, users, joined = {}, {}, {} -- the same of users; for ZADD

-- Decides one that is new, or puts it into the line; its record, nil when its user's cannot be read.
local function take(i, id)
  local user = ARGV[FIRST + count + i - 1]
  local text, tail, of_user
  if line > 0 or string.sub(modes, i, i) == 'l' then
    state.arrivals, line = state.arrivals + 1, line + 1
    local arrival = num(state.arrivals)
    text, tail =
      queued_text({ arrival = arrival, attempts = 0, take = '-', at = num(at), user = user }), ' q ' .. arrival
    joined[#joined + 1] = arrival
    joined[#joined + 1] = id
  else
    local held_user = written_users[user] or held_users[i]
    text, tail, of_user = decide(state, at, id, user, ARGV[FIRST + 2 * count + i - 1], held_user)
    if not text then
      return '? ' .. held_user
    end
    if of_user then
      written_users[user] = of_user
      users[#users + 1] = user
      users[#users + 1] = of_user
    end
  end
  written[id] = text
  records[#records + 1] = id
  records[#records + 1] = text
  lines[#lines + 1] = id .. ' ' .. user .. tail
  return text
end

for i = 1, count do
  local id = ARGV[FIRST + i - 1]
  local text = held[i] or written[id]
  if text or refusal then
    missed = missed or not text
    known[#known + 1] = i
  else
    text = take(i, id)
  end
  ids[i], texts[i] = id, text or ''
end

if #lines > 0 then
  append_event(KEYS[6], state, at, 'issue', { 'block', table.concat(lines, '\n') })
  redis.call('HSET', KEYS[2], unpack(records))
  if #users > 0 then
    redis.call('HSET', KEYS[3], unpack(users))
  end
  if #joined > 0 then
    redis.call('ZADD', KEYS[4], unpack(joined))
  end
  write_counts(KEYS[1], state)
end

local reply = { missed and refusal or 'ok', mark(state), table.concat(known, ',') }
for i = 1, count do
  reply[#reply + 1] = texts[i]
end
return append_details(reply, ids, texts)
