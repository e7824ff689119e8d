-- Shared by visit.lua: the places of a room in memory, read once, and each change that a place can have.
--
-- Part of a script, after state.lua and `record`. Every function here takes a step first. A step is a table:
--   state, at, retention   the room's state, its time in ms, how long ended records are kept
--   opened, opens          whether the room has opened; when it opens or opened, in room time
--   moved, put_back        ms since the highest time kept; whether Redis' clock was set back since
--   active, waiting        how many are in, how many wait
--   behind, ended_behind   whether a bound left due places, or due records, for the next step
--   places                 by ticket; false: the ticket has no place. A ticket without a readable record has no place.
--                          It goes silently, and its user may join again
--   tickets, busy          by user: ticket or false; and the time in ms until which leaving counts against the user,
--                          nil for none (limited_ms)
--   doubt, waited          whether earlier visits were not confirmed; whether somebody waited when the step began
--   changed, owners        places, and users, to write, in order
--   gone                   by key: members to remove from the sorted set; for 7 their records too
--   kept                   for 7: score, member, ... of tickets that stay longer
--   revoked, collected     number, member, ... to add
--   revoked_gone, drop_collected, collected_before, revoked_before
--                          how many revoked passes go; whether the list goes; how many of each there were
--   line, line_next, line_read
--                          the head of `waiting`, as it was before this call; index of its next; how much was read
--   arrivals, arrival_next tickets that joined in this call, after `line`; index of the next
--   called, admitted       how many waiting tickets were called, and how many were admitted
--   dirty                  whether the state must be written
-- Nothing is written here (write.lua). So a damaged record or key leaves nothing half done.
-- needs: state record

local function new_step(state, wall, seen_ms, retention)
  local clock, ahead = state.clock, state.ahead
  local at = room_ms(state, wall, seen_ms)
  return {
    state = state,
    at = at,
    retention = retention,
    opened = has_opened(state, wall),
    opens = state.opens + state.ahead,
    moved = at - clock,
    put_back = state.ahead ~= ahead,
    active = 0,
    waiting = 0,
    behind = false,
    ended_behind = false,
    places = {},
    tickets = {},
    busy = {},
    doubt = false,
    waited = false,
    changed = {},
    owners = {},
    gone = { [4] = {}, [5] = {}, [6] = {}, [7] = {} },
    kept = {},
    revoked = {},
    collected = {},
    revoked_gone = 0,
    revoked_before = 0,
    drop_collected = false,
    collected_before = 0,
    line = {},
    line_next = 1,
    line_read = 0,
    arrivals = {},
    arrival_next = 1,
    called = 0,
    admitted = 0,
    dirty = false,
  }
end

local function add(list, first, second)
  list[#list + 1] = first
  list[#list + 1] = second
end

-- Reads the places of these tickets that are not in the step yet.
local function read_places(step, tickets)
  local places, missing, count = step.places, {}, 0
  for _, ticket in ipairs(tickets) do
    if places[ticket] == nil then
      places[ticket] = false
      count = count + 1
      missing[count] = ticket
    end
  end
  if count > 0 then
    for i, text in ipairs(redis.call('HMGET', KEYS[2], unpack(missing))) do
      local place = read_place(text)
      if place then
        place.ticket, place.was = missing[i], place.kind
        places[missing[i]] = place
      end
    end
  end
end

-- A user who leaves and joins again and again costs Redis time, ended records and revoked passes. So each leave counts
-- LEFT_MS against the user, and a user with more than BUSY_MS - LEFT_MS cannot join. Six leaves at once are free, and
-- then one in ten seconds. BUSY_MS is at most the shortest retention, so the record with the time outlasts it.
local LEFT_MS = 10000
local BUSY_MS = 60000

-- Reads the tickets of these users, and their places.
--
-- A user's value in the hash `users`: `<ticket>`, `<ticket> <busy until, ms>`, or `- <busy until, ms>` without a place.
local function read_users(step, users)
  local found = {}
  for i, text in ipairs(redis.call('HMGET', KEYS[3], unpack(users))) do
    local user = users[i]
    if step.tickets[user] == nil then
      local ticket, busy = string.match(text or '', '^(%S+) ?(%d*)$')
      ticket = ticket ~= '-' and ticket or false
      step.tickets[user], step.busy[user] = ticket, tonumber(busy)
      found[#found + 1] = ticket or nil
    end
  end
  read_places(step, found)
end

-- Ms that a user must wait for a new place, nil for none. A stored time beyond BUSY_MS from now counts as BUSY_MS.
local function limited_ms(step, user)
  local busy = math.min(step.busy[user] or 0, step.at + BUSY_MS)
  local wait = busy - (BUSY_MS - LEFT_MS) - step.at
  return wait > 0 and wait or nil
end

-- Counts a leave against the user.
local function count_left(step, user)
  step.busy[user] = math.min(math.max(step.busy[user] or 0, step.at) + LEFT_MS, step.at + BUSY_MS)
end

local function change(step, place)
  if not place.changed then
    place.changed = true
    step.changed[#step.changed + 1] = place
  end
end

local function set_ticket(step, user, ticket)
  step.tickets[user] = ticket
  step.owners[#step.owners + 1] = user
end

-- Removes a ticket from the active ones (6) or the waiting ones (4, and 5).
local function take_out(step, key, ticket)
  local gone = step.gone
  gone[key][#gone[key] + 1] = ticket
  if key == 4 then
    gone[5][#gone[5] + 1] = ticket
  end
end

local COUNTED = { e = 'expired', b = 'abandoned', l = 'left' }

-- Ends a place: e expired, b abandoned, l left. Before the opening the user's entry keeps the ended ticket, so that a
-- second join is recognized.
local function finish(step, place, kind, ended_at)
  local state, field = step.state, COUNTED[kind]
  state[field] = state[field] + 1
  if place.kind == 'a' then
    step.active = step.active - 1
  else
    step.waiting = step.waiting - 1
  end
  place.kind, place.at_ms, step.dirty = kind, num(ended_at), true
  if step.opened then
    if kind ~= 'l' then
      -- A whole session or waiting timeout has passed, so earlier leaves count no more.
      step.busy[place.user] = nil
    end
    set_ticket(step, place.user, false)
  end
  change(step, place)
end

-- Whether silent waiting tickets are abandoned now. Not while their users could not ask (begin_step).
local function abandons(step)
  return step.at >= step.state.grace
end

-- Ends a place whose time has come, if the step's bound did not reach it.
local function settle(step, place)
  if place.kind == 'a' and tonumber(place.end_ms) <= step.at then
    finish(step, place, 'e', place.end_ms)
  elseif place.kind == 'w' and step.behind and abandons(step) and not place.until_ms then
    local until_ms = tonumber(redis.call('ZSCORE', KEYS[5], place.ticket) or step.at)
    if until_ms <= step.at then
      finish(step, place, 'b', math.max(until_ms, step.state.grace))
    end
  end
end

-- Keeps a waiting place alive.
local function keep(step, place)
  place.until_ms = step.at + step.state.waiting_timeout
  change(step, place)
end

-- Makes the place of a new ticket, after all waiting ones. Before the opening its place is by `order`, unless the user
-- `had` an ended place: leaving and joining again gives no second chance.
local function add_place(step, ticket, user, order, had)
  local state = step.state
  state.joins = state.joins + 1
  local join = num(state.joins)
  local place = { ticket = ticket, kind = 'w', join = join, joined_ms = num(step.at), user = user, order = join }
  if not step.opened and not had then
    place.order = num(must(exact(order), 'JP_ARGUMENT order'))
    -- These numbers are dense, unlike join numbers, so a missing one shows.
    add(step.collected, num(step.collected_before + #step.collected / 2 + 1), ticket)
  end
  step.places[ticket] = place
  step.arrivals[#step.arrivals + 1] = place
  step.waiting = step.waiting + 1
  step.dirty = true
  set_ticket(step, user, ticket)
  keep(step, place)
  return place
end

-- Counts a pass that is given or revoked.
local function count_pass(step)
  local state = step.state
  must(state.passes < MAX or nil, 'JP_PASSES no number is left')
  state.passes, step.dirty = state.passes + 1, true
end

-- Admits a waiting place. `fresh`: it joined in this visit.
local function let_in(step, place, fresh)
  local state = step.state
  place.kind, place.admitted_ms, place.end_ms = 'a', num(step.at), num(whole_second(step.at + state.session))
  step.active, step.waiting = step.active + 1, step.waiting - 1
  state.admitted = state.admitted + 1
  if not fresh then
    state.promoted = state.promoted + 1
    state.waited_ms = state.waited_ms + math.max(step.at - tonumber(place.joined_ms), 0)
  end
  count_pass(step)
  change(step, place)
end

-- Starts the session of an active place again. Its end never moves back.
local function renew(step, place)
  place.end_ms = num(math.max(whole_second(step.at + step.state.session), tonumber(place.end_ms)))
  count_pass(step)
  change(step, place)
end

-- Ends a place because its user leaves, and revokes its pass, if any. read_users must have read the user.
local function leave(step, place)
  count_left(step, place.user)
  if place.kind == 'a' then
    count_pass(step)
    step.state.revocations = step.state.passes
    add(step.revoked, num(step.state.revocations), place.ticket .. ' ' .. place.end_ms .. ' ' .. num(step.at))
  end
  finish(step, place, 'l', step.at)
  if not step.opened then
    set_ticket(step, place.user, place.ticket)
  end
end
