-- Issues units to users in the order of their requests: one request or many, each decided as if it came alone after the
-- one before it. A known request is answered by its record. A new request joins the queue at its end if others are in
-- it, or if it asks for the queue.
--
-- KEYS  the six of the coupon (state.lua)
-- ARGV  1 known mark  2 packed (lua/subject/sent.lua), a list of:
--         number of requests, 1 to 1,000; modes: '' when all ask for a decision now, else a letter for each: n now |
--           l queue | d now, owed by a draw, also in an emergency stop; in a call all are d or none. A paused or closed
--           coupon is not open for a draw: a player does not wait for an operator
--         request ids, then as many users with their metadata (asker.lua), then as many codes; a code is used
--         only if a unit is issued
-- Reply {'unknown'} | {'behind' | 'restoring', mark}
--       {code, mark, what came of the requests} (answered_reply); the record is '' for a request that was not
--         taken, and "? ..." when the user's record, which follows, cannot be read: nothing was decided
--         code: 'ok' | 'paused' | 'closed' | 'suspended' | 'ended' | 'stopped': why requests were not taken
-- Invariants: read, decide, then write. A request that is not taken leaves no trace. A final refusal leaves its record.
-- One event for all requests that were decided or joined the queue, in their order. The caller must compare the user of
-- a record with its own.
-- Cost: HMGET of ids and of users, HSET of those, one XADD, one HSET of the state; a ZRANK for each known request in
-- the queue.
-- needs: state asker decide event/issue subject/sent

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local COUNT, MODES, FIRST = 2, 3, 4
local sent = unpack_sent(ARGV[2])
local count, modes = sent[COUNT], sent[MODES]
must(#sent == FIRST - 1 + 3 * count or nil, 'JP_ARGUMENT requests')
local FIRST_USER, FIRST_CODE = FIRST + count, FIRST + 2 * count
local is_owed = string.sub(modes, 1, 1) == 'd'
local is_shut = state.status == 'paused' or state.status == 'closed'
local refusal = state.status ~= 'open' and not (is_shut and is_owed) and state.status or nil
if state.is_stopped and state.status ~= 'ended' and not is_owed then
  refusal = 'stopped'
end
local held = redis.call('HMGET', KEYS[2], unpack(sent, FIRST, FIRST_USER - 1))

-- Lists have their lengths beside them, because `#` searches for the end each time.
local texts, known, lines, taken, missed = {}, {}, {}, 0, false
local records, users, issued = {}, {}, 0 -- for HSET
local new_users = 0 -- users without a record before this call
local joined, queued = {}, 0 -- for ZADD
local written, written_users = {}, {} -- by id

local at, stamp, line, held_users
local plain_users = {} -- without their metadata
-- Reads clock, queue and users once there is a request to decide.
local function prepare()
  at, line = now_ms(), redis.call('ZCARD', KEYS[4])
  stamp = num(at)
  for i = 1, count do
    plain_users[i] = user_of(sent[FIRST_USER + i - 1])
  end
  held_users = redis.call('HMGET', KEYS[3], unpack(plain_users, 1, count))
end

-- Decides a new request, or puts it into the queue. Returns its record, or '? ' and its user's unreadable record.
local function take(i, id)
  local user, plain = sent[FIRST_USER + i - 1], plain_users[i]
  local text, asked, of_user
  if is_shut then
    text, asked = not_open_request(stamp, user), not_open_line(line_head(id, user))
  elseif line > 0 or (modes ~= '' and string.sub(modes, i, i) == 'l') then
    state.arrivals, line = state.arrivals + 1, line + 1
    local arrival = num(state.arrivals)
    text = queued_request(arrival, '0', '-', stamp, user)
    asked = queued_line(line_head(id, user), arrival)
    joined[2 * queued + 1], joined[2 * queued + 2] = arrival, id
    queued = queued + 1
  else
    local of_before = written_users[plain] or held_users[i]
    text, asked, of_user = decide(state, at, stamp, id, user, sent[FIRST_CODE + i - 1], of_before)
    if not text then
      return '? ' .. of_before
    end
    if of_user then
      new_users = new_users + (of_before and 0 or 1)
      written_users[plain] = of_user
      users[2 * issued + 1], users[2 * issued + 2] = plain, of_user
      issued = issued + 1
    end
  end
  records[2 * taken + 1], records[2 * taken + 2] = id, text
  taken = taken + 1
  lines[taken] = asked
  written[id] = text
  return text
end

for i = 1, count do
  local id = sent[FIRST + i - 1]
  local text = held[i] or written[id]
  if text or refusal then
    missed = missed or not text
    known[#known + 1] = i
  else
    if not at then
      prepare()
    end
    text = take(i, id)
  end
  texts[i] = text or ''
end

if taken > 0 then
  append_issue(KEYS[6], state, at, { block = table.concat(lines, '\n'), users = num(new_users) })
  redis.call('HSET', KEYS[2], unpack(records))
  local counts = { 'n', num(state.n) }
  if issued > 0 then
    redis.call('HSET', KEYS[3], unpack(users))
    counts[3], counts[4] = 'seq', num(state.seq)
  end
  if queued > 0 then
    redis.call('ZADD', KEYS[4], unpack(joined))
    counts[#counts + 1] = 'arrivals'
    counts[#counts + 1] = num(state.arrivals)
  end
  redis.call('HSET', KEYS[1], unpack(counts))
end

local reply = { missed and refusal or 'ok', mark(state) }
append_answered(reply, { known = table.concat(known, ',') })
local head = #reply
for i = 1, count do
  reply[head + i] = texts[i]
end
return append_details(reply, head, count, sent, FIRST - 1)
