-- One step of a room: ends due places, admits the next users, and answers up to 256 visits.
--
-- KEYS  the eleven of the room (state.lua)
-- ARGV  1 known mark  2 passes that the caller knows of  3 the highest time of the room that the caller has seen, ms
--       4 retention of ended records in ms
--       5 '1' in doubt: earlier visits of the caller were not confirmed, so users may have asked unseen
--       6 a letter for each visit: j join | k look | r renew | l leave; '' for none
--       7.. the ticket of each visit; for a join, the ticket to make, new and random
--       then user, order and nonce of each join: the order is its score before the opening, negative, under that nonce
-- Reply {'unknown'} | {'behind' | 'restoring', mark}
--       {'ok', mark, values of the room, and of the answer to each visit} (visit_reply)
-- Invariants: read, decide, then write. After each admission `active` has at most `capacity` sessions, including ended
-- ones that no step has dropped yet. Nobody is admitted before a user in front. A user has one ticket that waits or is
-- in, and a join finds it. Every repeat is safe: a join whose ticket exists is answered by its record, even an ended
-- one. If the caller knows more passes than the state has, Redis lost some. Then nobody is admitted until every pass
-- that may be outstanding has expired. A ticket is abandoned only if it was not seen although it could be. In doubt no
-- time runs against waiting users, and none of them is admitted, because the answer may not reach them. Outstanding and
-- revoked passes are at most 1,000,000 plus the capacity. Calls without joins run when memory is full, because they add
-- no more than they remove.
-- Cost: O(log n) for each ticket that ends, is admitted or visits. At most 256 sessions end, 256 waiting tickets are
-- abandoned by time, and 512 are called, which admits or abandons them.
-- needs: step write visit_reply

local FIRST = 7

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local known_passes, kinds = must(exact(ARGV[2]), 'JP_ARGUMENT passes'), ARGV[6]
local count = #kinds
local _, joins = string.gsub(kinds, 'j', '')
must(#ARGV == FIRST - 1 + count + 3 * joins or nil, 'JP_ARGUMENT visits')
local seen_ms, wall = must(exact(ARGV[3]), 'JP_ARGUMENT time'), now_ms()
local step = new_step(state, wall, seen_ms, must(exact(ARGV[4]), 'JP_ARGUMENT retention'))
local at = step.at
step.doubt = ARGV[5] == '1'

if known_passes > state.passes then
  state.passes, step.dirty = known_passes, true
  state.hold = math.max(state.hold, lost_until(at, state))
end
begin_step(step)
admit(step)

local tickets, users = {}, {}
for i = 1, count do
  tickets[i] = ARGV[FIRST + i - 1]
end
read_places(step, tickets)
for i = 1, joins do
  users[i] = ARGV[FIRST + count + 3 * i - 3]
end
local named = { unpack(users) }
for i = 1, count do
  local place = string.sub(kinds, i, i) == 'l' and step.places[tickets[i]]
  named[#named + 1] = place and place.user or nil
end
if #named > 0 then
  read_users(step, named)
end

-- Nonce and commitment of the order before the opening.
local order_of = step.opened and { '', '' } or redis.call('HMGET', KEYS[1], 'order_nonce', 'commitment')

-- Makes a join. Returns its place; or nil when the room is stopped or suspended or has another nonce; or nil and the ms
-- that the user must wait.
local function join(ticket, user, order, nonce)
  local place = step.tickets[user] and step.places[step.tickets[user]]
  if place then
    settle(step, place)
    if place.kind == 'w' then
      keep(step, place)
    end
    if place.kind == 'w' or place.kind == 'a' then
      return place
    end
  end
  local had = place and true or false
  place = step.places[ticket]
  if place then
    must(place.user == user or nil, 'JP_ARGUMENT ticket')
    return place
  end
  local is_taking = state.status == 'open' and not state.is_stopped
  local wait = is_taking and limited_ms(step, user)
  if wait then
    return nil, wait
  end
  if is_taking and (step.opened or nonce == order_of[1]) then
    place = add_place(step, ticket, user, order, had)
    admit(step, place)
  end
  return place or nil
end

local function visit(kind, place)
  settle(step, place)
  if kind == 'k' and place.kind == 'w' then
    keep(step, place)
  elseif kind == 'r' and place.kind == 'a' then
    renew(step, place)
  elseif kind == 'l' and (place.kind == 'w' or place.kind == 'a') then
    leave(step, place)
  end
  admit(step)
end

local answers, waits, joined = {}, {}, 0
for i = 1, count do
  local kind = string.sub(kinds, i, i)
  local place = kind ~= 'j' and step.places[tickets[i]]
  if kind == 'j' then
    joined = joined + 1
    local order = FIRST + count + 3 * joined - 2
    place, waits[i] = join(tickets[i], users[joined], ARGV[order], ARGV[order + 1])
  elseif place then
    visit(kind, place)
  end
  answers[i] = place or false
end

local next_ms = admits_ms(step)
write_step(step)

-- When the next thing is due: an end, an abandoned wait, an admission; in an empty room, a record to drop.
local function first_of(key)
  return tonumber(redis.call('ZRANGE', KEYS[key], 0, 0, 'WITHSCORES')[2])
end
local silent_ms = first_of(5)
local due = math.min(first_of(6) or MAX, silent_ms and math.max(silent_ms, state.grace) or MAX, next_ms or MAX)
if due == MAX then
  due = math.min(first_of(7) or MAX, step.opened and MAX or step.opens)
end
local more = step.behind or step.ended_behind or (next_ms or MAX) <= at

-- Numbers go out as they are: a reply has integers exactly up to 2^53.
local reply = stepped_reply(mark(state), {
  now_ms = at,
  wall_ms = wall,
  passes = state.passes,
  revocations = state.revocations,
  status = state.status,
  active = redis.call('ZCARD', KEYS[6]),
  waiting = redis.call('ZCARD', KEYS[4]),
  admitted = state.admitted,
  promoted = state.promoted,
  expired = state.expired,
  abandoned = state.abandoned,
  left = state.left,
  waited_ms = state.waited_ms,
  opens_ms = not step.opened and state.opens,
  hold_ms = state.hold > at and state.hold,
  waiting_timeout_ms = state.waiting_timeout,
  session_ms = state.session,
  capacity = state.capacity,
  rate = state.rate,
  next_due_ms = due < MAX and due,
  more = more,
  unpublished = step.collected_before > 0 and wall >= state.opens and state.collected_sha256 == '',
  unordered = state.ordered < state.to_order,
  nonce = order_of[1],
  commitment = order_of[2],
})
for i = 1, count do
  local kind, place = string.sub(kinds, i, i), answers[i]
  local code = 's'
  if not place then
    code = kind ~= 'j' and 'u' or waits[i] and 'l' or state.is_stopped and 'e' or state.status == 'open' and 'o' or 'c'
  elseif kind == 'r' and place.kind ~= 'a' then
    code = 'n'
  end
  append_answer(reply, {
    code = code,
    ticket = place and place.ticket,
    record = place and place.text,
    ahead = place and place.kind == 'w' and redis.call('ZRANK', KEYS[4], place.ticket) or waits[i] or 0,
  })
end
return reply
