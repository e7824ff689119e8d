-- One step of the queue's consumer: serves the requests that its last call took, acknowledges them, and takes the next.
--
-- KEYS  the six of the coupon (state.lua)
-- ARGV  1 known mark  2 token of the consumer  3 lease in ms; 0 gives it back, and takes nothing
--       4 take id: one for this call and all its repeats  5 how many to take, 0 to 256  6 how many to serve, 0 to 256
--       7.. ids of the requests to serve, as the last call gave them, then as many codes
-- Reply {'unknown'} | {'behind' | 'restoring' | 'paused' | 'suspended' | 'ended', mark}: nothing was served or taken. A
--         paused coupon takes back the tries of the requests to serve, and the lease of their consumer
--       {'held', mark, ...}  another consumer has the lease
--       {'ok', mark, the queue, each taken request, what came of the requests to serve} (serve_reply,
--         answered_reply); a record is still queued (q) if the request was no longer the head of the queue, or its
--         user's record cannot be read: then its code was not used
-- Invariants: only the head of the queue is served, in order. Decision, acknowledgement and event are one. A take
-- counts as a try, once for each take id. It does not count if redriven requests came in front, so that a living
-- consumer could not serve the request. The fourth take makes it a dead letter instead. A request that was taken before
-- is taken alone, so that it costs no other request a try. A call that finds an empty queue writes nothing.
-- The lease is by Redis' clock. Leases and takes have no event: they belong to this Redis. The lease is "token end
-- length". One that ends later than its length from now was given before the clock was set back, and is over.
-- Runs when memory is full, because queued requests were accepted.
-- Cost: O(served + taken): HMGET and HSET of them, one XADD.
-- needs: state asker decide event/serve serve_reply

local MAX_TRIES = 3
local FIRST = 7

-- A pause is no failure of the consumer: the requests that it took wait with the tries that they had before. `take`
-- says that they were taken, so a repeat takes nothing back.
local function give_back(token, count)
  local records = {}
  for i = 1, count do
    local id = ARGV[FIRST + i - 1]
    local queued = read_request(redis.call('HGET', KEYS[2], id))
    if queued and queued.kind == 'q' and queued.take ~= '-' then
      local attempts = num(math.max(tonumber(queued.attempts) - 1, 0))
      records[#records + 1] = id
      records[#records + 1] = queued_request(queued.arrival, attempts, '-', queued.at_ms, queued.user)
    end
  end
  if #records > 0 then
    redis.call('HSET', KEYS[2], unpack(records))
  end
  local holder = string.match(redis.call('HGET', KEYS[1], 'consumer') or '', '^(%S+) ')
  if holder == token then
    redis.call('HDEL', KEYS[1], 'consumer')
  end
end

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local token, lease, take_id = ARGV[2], tonumber(ARGV[3]), ARGV[4]
local wish, count = tonumber(ARGV[5]), tonumber(ARGV[6])
must(#ARGV == FIRST - 1 + 2 * count or nil, 'JP_ARGUMENT requests')
if state.status == 'paused' then
  give_back(token, count)
end
if state.status ~= 'open' and state.status ~= 'closed' then
  return { state.status, mark(state) }
end
local at = now_ms()
local stamp = num(at)
local held_lease = redis.call('HGET', KEYS[1], 'consumer') or ''
local holder, until_ms, length = string.match(held_lease, '^(%S+) (%d+) (%d+)$')
local left = holder and tonumber(until_ms) - at or 0
if holder and holder ~= token and left > 0 and left <= tonumber(length) then
  return leased_reply(mark(state), { free_in_ms = num(left) })
end

local line = redis.call('ZCARD', KEYS[4])
redis.call('ZCARD', KEYS[5]) -- checks the key's type before the first write
local heads = redis.call('ZRANGE', KEYS[4], 0, count + wish) -- one more, so that HMGET has an id
local ids, asked = {}, {}
for i = 1, count do
  ids[i], asked[i] = ARGV[FIRST + i - 1], ARGV[FIRST + i - 1]
end
for _, id in ipairs(heads) do
  asked[#asked + 1] = id
end
local held = #asked > 0 and redis.call('HMGET', KEYS[2], unpack(asked)) or {}

-- Serves: decides in memory.
local known, texts, lines, gone, dead = {}, {}, {}, {}, {}
local records, users, new_users = {}, {}, 0 -- for HSET; users without a record before this call
local written, written_users = {}, {}
local head, stuck, decided = 1, false, {}

-- The record of this id if it is in the queue.
local function queued_of(text)
  local request = read_request(text)
  return request and request.kind == 'q' and request or nil
end

local function queued_text(queued)
  return queued_request(queued.arrival, num(queued.attempts), queued.take, queued.at_ms, queued.user)
end

local function write_record(id, text)
  written[id] = text
  records[#records + 1] = id
  records[#records + 1] = text
end

-- Takes back the last try of a request that its consumer could not serve because others are in front of it.
local function excuse(id, queued)
  if queued.take ~= '-' and queued.take ~= take_id then
    queued.attempts, queued.take = math.max(tonumber(queued.attempts) - 1, 0), '-'
    write_record(id, queued_text(queued))
  end
end

local function serve(i, id, queued)
  local user = user_of(queued.user)
  local held_user = written_users[user] or redis.call('HGET', KEYS[3], user)
  local text, served, of_user = decide(state, at, stamp, id, queued.user, ARGV[FIRST + count + i - 1], held_user)
  if not text then
    return false -- it stays at the head, so those after it stay too
  end
  if of_user then
    new_users = new_users + (held_user and 0 or 1)
    written_users[user] = of_user
    users[#users + 1] = user
    users[#users + 1] = of_user
  end
  write_record(id, text)
  decided[id] = true
  lines[#lines + 1] = served
  gone[#gone + 1] = id
  head = head + 1
  return true
end

for i = 1, count do
  local id = ids[i]
  local queued = not decided[id] and queued_of(held[i])
  if queued and (stuck or heads[head] ~= id) then
    stuck = true
    excuse(id, queued)
  end
  if not (queued and not stuck and serve(i, id, queued)) then
    known[#known + 1] = i
  end
  texts[i] = written[id] or held[i] or ''
end

-- Takes the next of the queue. A repeat takes what its first call took.
local taken = {}
local last_head = math.min(#heads, head + wish - 1)
for h = head, lease > 0 and last_head or 0 do
  local id = heads[h]
  local queued = must(queued_of(written[id] or held[count + h]), 'JP_DAMAGED request')
  queued.attempts = tonumber(queued.attempts)
  if queued.take ~= take_id then
    queued.attempts, queued.take = queued.attempts + 1, take_id
  end
  if queued.attempts > MAX_TRIES then
    write_record(id, dead_request(queued.arrival, num(MAX_TRIES), queued.at_ms, queued.user))
    lines[#lines + 1] = dead_line(line_head(id, queued.user), num(MAX_TRIES))
    gone[#gone + 1] = id
    dead[#dead + 1] = queued.arrival
    dead[#dead + 1] = id
  elseif #taken > 0 and queued.attempts > 1 then
    break
  else
    write_record(id, queued_text(queued))
    taken[#taken + 1] = { request_id = id, user = queued.user, attempts = num(queued.attempts) }
    if queued.attempts > 1 then
      break
    end
  end
end

if #lines > 0 then
  append_serve(KEYS[6], state, at, { block = table.concat(lines, '\n'), users = num(new_users) })
end
if #records > 0 then
  redis.call('HSET', KEYS[2], unpack(records))
end
if #users > 0 then
  redis.call('HSET', KEYS[3], unpack(users))
end
if #gone > 0 then
  redis.call('ZREM', KEYS[4], unpack(gone))
end
if #dead > 0 then
  redis.call('ZADD', KEYS[5], unpack(dead))
end
if #lines > 0 then
  write_counts(KEYS[1], state)
end
if lease == 0 and holder then
  redis.call('HDEL', KEYS[1], 'consumer')
elseif lease > 0 and line > 0 then
  redis.call('HSET', KEYS[1], 'consumer', token .. ' ' .. num(at + lease) .. ' ' .. num(lease))
end

local reply = stepped_reply(mark(state), { waiting = num(line - #gone), taken = num(#taken) })
for _, one in ipairs(taken) do
  append_taken(reply, one)
end
append_answered(reply, { known = table.concat(known, ',') })
local head_length = #reply
for i = 1, count do
  reply[#reply + 1] = texts[i]
end
return append_details(reply, head_length, count, ARGV, FIRST - 1)
