-- Shared by visit.lua: the places of a room in memory, read once, and what may become of one.
--
-- Part of a script, behind state.lua and record.lua. A step is a table, the first argument of all here:
--   state, at, retention   of the room, its time in ms, how long ended records are kept
--   opened, opens          whether the room has, and when it does or did, of its time
--   moved, put_back        ms since the highest time that was kept, and whether Redis' clock was put back since
--   active, waiting        how many
--   behind, ended_behind   whether it did not come to all whose time has come, or whose record is to be dropped
--   places                 by ticket; false: it has none. A ticket without a record that can be read has no place: it
--                          goes without a word, and its user may join again
--   tickets, busy          of users: ticket or false; and the time in ms up to which their leaving counts against them,
--                          nil for none (limited_ms)
--   doubt, waited          whether visits before were not confirmed; whether somebody waited when the step began
--   changed, owners        places, and users, to be written, in order
--   gone                   by key: members to be taken out of the sorted set; of 7 their records too
--   kept                   of 7: score, member, ... of those that stay longer
--   revoked, collected     number, member, ... to be added
--   revoked_gone, drop_collected, collected_before, revoked_before
--                          how many of the former go, whether all of the latter do, how many of each there were
--   line, line_next, line_read
--                          the head of `waiting`, as it was before this call; its next; how much of it was read
--   arrivals, arrival_next behind it: who joined in this call, and the next of them
--   called, admitted       how many waiters were called to the door, and came in
--   dirty                  whether the state is to be written
-- Nothing is written here (write.lua), so nothing is half done when a record or a key turns out to be damaged.

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

-- Reads the places of these tickets, those that are not known yet.
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
      local place = parse_place(text)
      if place then
        place.ticket, place.was = missing[i], place.kind
        places[missing[i]] = place
      end
    end
  end
end

-- Who leaves and joins again works Redis, fills the records of those who are over and the list of passes that were
-- taken back. Each time somebody leaves counts for LEFT_MS; whose times add up to more than BUSY_MS - LEFT_MS does not
-- join. So six times at once are free, and one in ten seconds for good. No more than the shortest retention: a record
-- that says until when somebody is busy outlasts that time.
local LEFT_MS = 10000
local BUSY_MS = 60000

-- Reads the tickets of these users, and their places.
--
-- A user in the hash `users`: `<ticket>`, `<ticket> <busy until, ms>`, or `- <busy until, ms>` without a place.
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

-- How long a user who wants a new place has to wait, nil for not at all. A time that the clock can't have made counts
-- as the latest that it can.
local function limited_ms(step, user)
  local busy = math.min(step.busy[user] or 0, step.at + BUSY_MS)
  local wait = busy - (BUSY_MS - LEFT_MS) - step.at
  return wait > 0 and wait or nil
end

-- Counts that a user leaves.
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

-- Takes a ticket out of those who are in (6), or of those who wait.
local function take_out(step, key, ticket)
  local gone = step.gone
  gone[key][#gone[key] + 1] = ticket
  if key == 4 then
    gone[5][#gone[5] + 1] = ticket
  end
end

local COUNTED = { e = 'expired', b = 'abandoned', l = 'left' }

-- Ends a place: e expired, b abandoned, l left. Before the opening the user keeps it, over as it is: who joins again is
-- known to have had his chance.
local function finish(step, place, kind, ended_at)
  local state, field = step.state, COUNTED[kind]
  state[field] = state[field] + 1
  if place.kind == 'a' then
    step.active = step.active - 1
  else
    step.waiting = step.waiting - 1
  end
  place.kind, place.at, step.dirty = kind, num(ended_at), true
  if step.opened then
    if kind ~= 'l' then
      -- A whole session, or the time in which nobody asked, has passed.
      step.busy[place.user] = nil
    end
    set_ticket(step, place.user, false)
  end
  change(step, place)
end

-- Whether waiters that were not seen are abandoned now. Not while they could not ask (begin_step).
local function abandons(step)
  return step.at >= step.state.grace
end

-- Ends a place whose time has come, where the step could not reap all of them.
local function settle(step, place)
  if place.kind == 'a' and tonumber(place.ends) <= step.at then
    finish(step, place, 'e', place.ends)
  elseif place.kind == 'w' and step.behind and abandons(step) and not place.until_ms then
    local until_ms = tonumber(redis.call('ZSCORE', KEYS[5], place.ticket) or step.at)
    if until_ms <= step.at then
      finish(step, place, 'b', math.max(until_ms, step.state.grace))
    end
  end
end

-- Keeps the place of one who waits.
local function keep(step, place)
  place.until_ms = step.at + step.state.waiting_timeout
  change(step, place)
end

-- Makes the place of a new ticket, behind all who wait; before the opening where `order` says, unless the user `had` a
-- place that is over: nobody gets another chance by leaving and coming back.
local function add_place(step, ticket, user, order, had)
  local state = step.state
  state.joins = state.joins + 1
  local join = num(state.joins)
  local place = { ticket = ticket, kind = 'w', join = join, joined = num(step.at), user = user, order = join }
  if not step.opened and not had then
    place.order = num(must(exact(order), 'JP_ARGUMENT order'))
    -- Dense, unlike the join numbers: so it shows when one is missing.
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

-- Counts a pass that is given or taken back.
local function count_pass(step)
  local state = step.state
  must(state.passes < MAX or nil, 'JP_PASSES no number is left')
  state.passes, step.dirty = state.passes + 1, true
end

-- Lets one who waits in. `fresh`: has only just come.
local function let_in(step, place, fresh)
  local state = step.state
  place.kind, place.admitted, place.ends = 'a', num(step.at), num(whole_second(step.at + state.session))
  step.active, step.waiting = step.active + 1, step.waiting - 1
  state.admitted = state.admitted + 1
  if not fresh then
    state.promoted = state.promoted + 1
    state.waited_ms = state.waited_ms + math.max(step.at - tonumber(place.joined), 0)
  end
  count_pass(step)
  change(step, place)
end

-- Begins the session of one who is in anew; never ends it sooner.
local function renew(step, place)
  place.ends = num(math.max(whole_second(step.at + step.state.session), tonumber(place.ends)))
  count_pass(step)
  change(step, place)
end

-- Ends the place of one who leaves, whose user was read, and takes the pass back, if there is one.
local function leave(step, place)
  count_left(step, place.user)
  if place.kind == 'a' then
    count_pass(step)
    step.state.revocations = step.state.passes
    add(step.revoked, num(step.state.revocations), place.ticket .. ' ' .. place.ends .. ' ' .. num(step.at))
  end
  finish(step, place, 'l', step.at)
  if not step.opened then
    set_ticket(step, place.user, place.ticket)
  end
end
