-- Shared by visit.lua: what a room does without a visit. It ends due places and admits the next users.
--
-- Part of a script, after places.lua.
-- needs: places

local MAX_REAPED = 256 -- of each kind in one call
local MAX_CALLED = 512 -- waiting tickets called in one call
-- A longer pause between steps while somebody waits is an outage of Redis or all instances: each instance steps such a
-- room once a second.
local AWAY_MS = 5000
-- With this many revoked and unexpired passes nobody is admitted. Instances remember all of them, in some 70 MB. With
-- the users of a room of 1,000,000 who all leave it is twice that.
local MAX_REVOKED = 1000000

local function until_now(step, key)
  return redis.call('ZRANGEBYSCORE', KEYS[key], '-inf', num(step.at), 'LIMIT', 0, MAX_REAPED)
end

-- How many revoked passes at the front of the list have expired. They are dropped in order, though a later one may
-- expire first. So each is dropped within the longest session.
local function count_gone(step)
  local function is_gone(member)
    return (tonumber(string.match(member, '^%x+ (%d+) ')) or 0) <= step.at
  end
  local count, first = 0, redis.call('ZRANGE', KEYS[8], 0, 0)[1]
  if first and is_gone(first) then
    for _, member in ipairs(redis.call('ZRANGE', KEYS[8], 0, MAX_REAPED - 1)) do
      if not is_gone(member) then
        break
      end
      count = count + 1
    end
  end
  return count
end

-- Drops ended records whose time has come. Before the opening it keeps each user's last ended ticket, by which a second
-- join is recognized. That record comes up again one retention after the opening.
local function drop_ended(step)
  local tickets = until_now(step, 7)
  step.ended_behind = #tickets == MAX_REAPED
  if #tickets == 0 then
    return
  end
  read_places(step, tickets)
  local users = {}
  for _, ticket in ipairs(tickets) do
    users[#users + 1] = step.places[ticket] and step.places[ticket].user or nil
  end
  if #users > 0 then
    read_users(step, users)
  end
  for _, ticket in ipairs(tickets) do
    local place = step.places[ticket]
    if place and not step.opened and step.tickets[place.user] == ticket then
      add(step.kept, num(step.opens + step.retention), ticket)
    else
      step.gone[7][#step.gone[7] + 1] = ticket
      step.places[ticket] = false
    end
  end
  for _, user in ipairs(users) do
    -- The user's ticket has no place any more; or the user had none, and earlier leaves count no more.
    local ticket = step.tickets[user]
    if (ticket and not step.places[ticket]) or (not ticket and step.busy[user]) then
      set_ticket(step, user, false)
    end
  end
end

-- Ends the sessions whose end has come.
local function expire(step)
  local over = until_now(step, 6)
  step.behind = step.behind or #over == MAX_REAPED
  read_places(step, over)
  for _, ticket in ipairs(over) do
    local place = step.places[ticket]
    if place and place.kind == 'a' then
      finish(step, place, 'e', place.end_ms)
    else
      step.active = step.active - 1
      take_out(step, 6, ticket)
    end
  end
end

-- Ends waiting places that were not seen in time.
local function abandon(step)
  local silent = abandons(step) and until_now(step, 5) or {}
  step.behind = step.behind or #silent == MAX_REAPED
  read_places(step, silent)
  local scores = #silent > 0 and redis.call('ZMSCORE', KEYS[5], unpack(silent)) or {}
  for i, ticket in ipairs(silent) do
    local place = step.places[ticket]
    if place and place.kind == 'w' then
      finish(step, place, 'b', math.max(scores[i], step.state.grace))
    else
      step.waiting = step.waiting - 1
      take_out(step, 4, ticket)
    end
  end
end

-- Begins a step: reads the size of every key, so that a wrong type ends the call before it writes; then ends due
-- places.
local function begin_step(step)
  local state = step.state
  redis.call('HLEN', KEYS[2])
  redis.call('HLEN', KEYS[3])
  redis.call('ZCARD', KEYS[5])
  redis.call('ZCARD', KEYS[7])
  redis.call('LLEN', KEYS[9])
  step.waiting, step.active = redis.call('ZCARD', KEYS[4]), redis.call('ZCARD', KEYS[6])
  step.waited, step.revoked_before = step.waiting > 0, redis.call('ZCARD', KEYS[8])
  step.collected_before = redis.call('ZCARD', KEYS[10])
  step.drop_collected = step.collected_before > 0
    and state.collected_sha256 ~= ''
    and step.at >= step.opens + step.retention
  step.revoked_gone = count_gone(step)
  if step.opened and state.opened == 0 then
    state.opened, step.dirty = 1, true
  end
  local away = step.at - state.stepped
  if step.waited and away > AWAY_MS then
    -- Waiting users may have asked all the time, so each gets a whole timeout again.
    state.grace, step.dirty = step.at + state.waiting_timeout, true
  elseif step.waited and step.doubt and away > 0 then
    -- Each waiting user gets the unconfirmed time again.
    state.grace, step.dirty = math.max(state.grace, step.at + math.min(away, state.waiting_timeout)), true
  end
  drop_ended(step)
  expire(step)
  abandon(step)
end

-- The time from which the rate allows one more admission; now or earlier if it does now. Times are whole ms, so a
-- difference of 60 s may be a bit less. So the rule asks for more than 60 s. The list has all admissions that count,
-- newest first.
local function rate_allows_ms(step)
  local rate = step.state.rate
  if not rate then
    return step.at
  end
  if step.admitted >= rate then
    return step.at + RATE_MS + 1
  end
  local before = redis.call('LINDEX', KEYS[9], num(rate - 1 - step.admitted))
  return before and must(exact(before), 'JP_DAMAGED recent') + RATE_MS + 1 or step.at
end

-- When the ticket at the front can be admitted; nil when the room is full or not open, or nobody waits.
local function admits_ms(step)
  local state = step.state
  if state.status ~= 'open' or step.waiting <= 0 or step.active >= state.capacity or state.ordered < state.to_order then
    return nil
  end
  local full = step.revoked_before - step.revoked_gone + #step.revoked / 2 >= MAX_REVOKED
  return math.max(step.opened and 0 or step.opens, state.hold, rate_allows_ms(step), full and step.at + 1000 or 0)
end

-- Reads the next part of the queue. Returns whether it had any.
local function read_line(step)
  local wish = math.max(math.min(step.state.capacity - step.active, MAX_REAPED), 1)
  local more = redis.call('ZRANGE', KEYS[4], step.line_read, step.line_read + wish - 1)
  read_places(step, more)
  for i, ticket in ipairs(more) do
    step.line[step.line_read + i] = ticket
  end
  step.line_read = step.line_read + #more
  return #more > 0
end

-- Returns the next waiting place, nil at the end of the queue or at the bound of one call. Removes tickets without a
-- place.
local function next_waiter(step)
  while step.called < MAX_CALLED and (step.line_next <= step.line_read or read_line(step)) do
    local ticket = step.line[step.line_next]
    local place = step.places[ticket]
    step.line_next = step.line_next + 1
    step.called = step.called + 1
    if place and place.kind == 'w' then
      return place
    end
    if not place or place.was ~= 'w' then
      step.waiting = step.waiting - 1
      take_out(step, 4, ticket)
    end
  end
  while step.called < MAX_CALLED and step.arrivals[step.arrival_next] do
    local place = step.arrivals[step.arrival_next]
    step.called = step.called + 1
    step.arrival_next = step.arrival_next + 1
    if place.kind == 'w' then
      return place
    end
  end
  return nil
end

-- Admits from the front while the room allows it. In doubt it admits nobody from a queue: the answer might not reach
-- the user before the session ends. `fresh`: the place that joined in this visit.
local function admit(step, fresh)
  if step.doubt and step.waited then
    return
  end
  while step.called < MAX_CALLED and (admits_ms(step) or MAX) <= step.at do
    local place = next_waiter(step)
    if not place then
      break
    end
    settle(step, place)
    if place.kind == 'w' then
      let_in(step, place, place == fresh)
      step.admitted = step.admitted + 1
    end
  end
end
