-- One step of a room: who is over goes, who is next comes in, and up to 256 visits are answered.
--
-- KEYS  the eleven of the room (state.lua)
-- ARGV  1 known mark  2 passes that the caller knows of, and  3 the highest time of the room that it has seen, ms
--       4 retention of ended records in ms
--       5 '1' in doubt: visits that the caller sent before were not confirmed, so users may have asked unseen
--       6 a letter for each visit: j join | k look | r renew | l leave; '' for none
--       7.. the ticket of each: of a join, the one that it makes, new and random
--       then user, order and nonce of each join: the score that it has before the opening, negative, under that nonce
-- Reply {'unknown'} | {'behind' | 'restoring', mark}
--       {'ok', mark, the room's time and Redis' clock in ms, passes, revocations, status, active, waiting, admitted,
--        promoted, expired, abandoned, left, waited ms, opens and hold in ms or '' once they have passed, waiting
--        timeout, session, capacity, rate or '', ms when something is due next or '', 1 when this call could not do all
--        that is due, 1 when the list of those collected is to be published, 1 when some of them are to get another
--        order, nonce and commitment of the order or '' once it has opened, and of each visit: code, ticket, record,
--        how many are ahead}
--         code: 's' seen | 'n' a renewal of one who is not in | 'u' no such ticket | 'c' suspended, so nobody joins
--         | 'l' this user has left too often; instead of how many are ahead: ms after which the user may join
--         | 'o' another nonce is the room's: joining again with its order is right
-- Invariants: read, decide, then write. Sessions in `active` are at most the capacity behind each admission; whoever is
-- over and not reaped yet counts. Nobody is admitted before one who stands in
-- front of him. A user has one ticket that waits or is in; a join finds it. Every repeat is safe: a join whose ticket
-- is there is answered by its record, also when it is over. A caller that knows of more passes than there are here
-- shows that some were lost: until all that may be out have expired nobody is admitted. A waiter is abandoned when he
-- was not seen though he could be. In doubt no time runs against those who wait, and none of them is admitted: the
-- answer that says so may not reach them. Passes that are out or were taken back are at most 1,000,000 and the
-- capacity. Compiled to run when memory is full, for calls without joins: those grow by nothing but what they take
-- away.
-- Cost: O(log n) for each that goes, comes in or visits. At most 256 sessions end, 256 waiters are abandoned because of
-- their time and 512 are called to the door, who come in or are abandoned there.

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

-- What the order before the opening goes by.
local order_of = step.opened and { '', '' } or redis.call('HMGET', KEYS[1], 'order_nonce', 'commitment')

-- The place that a join has now; or nil: the room is suspended or goes by another nonce, or ms that the user has to
-- wait.
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
  local wait = state.status == 'open' and limited_ms(step, user)
  if wait then
    return nil, wait
  end
  if state.status == 'open' and (step.opened or nonce == order_of[1]) then
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

-- When something is due next: an end, a silence, an admission; where nobody is there, a record to be dropped.
local function first_of(key)
  return tonumber(redis.call('ZRANGE', KEYS[key], 0, 0, 'WITHSCORES')[2])
end
local silent_ms = first_of(5)
local due = math.min(first_of(6) or MAX, silent_ms and math.max(silent_ms, state.grace) or MAX, next_ms or MAX)
if due == MAX then
  due = math.min(first_of(7) or MAX, step.opened and MAX or step.opens)
end
local more = step.behind or step.ended_behind or (next_ms or MAX) <= at

-- Numbers as they are: a reply has whole ones exactly up to 2^53.
local reply = {
  'ok',
  mark(state),
  at,
  wall,
  state.passes,
  state.revocations,
  state.status,
  redis.call('ZCARD', KEYS[6]),
  redis.call('ZCARD', KEYS[4]),
  state.admitted,
  state.promoted,
  state.expired,
  state.abandoned,
  state.left,
  state.waited_ms,
  step.opened and '' or state.opens,
  state.hold > at and state.hold or '',
  state.waiting_timeout,
  state.session,
  state.capacity,
  state.rate or '',
  due < MAX and due or '',
  more and 1 or 0,
  (step.collected_before > 0 and wall >= state.opens and state.collected_sha256 == '') and 1 or 0,
  state.ordered < state.to_order and 1 or 0,
  order_of[1],
  order_of[2],
}
local length = #reply
for i = 1, count do
  local kind, place = string.sub(kinds, i, i), answers[i]
  local code = 's'
  if not place then
    code = kind ~= 'j' and 'u' or waits[i] and 'l' or state.status == 'open' and 'o' or 'c'
  elseif kind == 'r' and place.kind ~= 'a' then
    code = 'n'
  end
  reply[length + 1] = code
  reply[length + 2] = place and place.ticket or ''
  reply[length + 3] = place and place.text or ''
  reply[length + 4] = place and place.kind == 'w' and redis.call('ZRANK', KEYS[4], place.ticket) or waits[i] or 0
  length = length + 4
end
return reply
