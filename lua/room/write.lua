-- Shared by visit.lua: writes what a step and its visits decided. From here on nothing can fail.
--
-- Part of a script, after step.lua.
-- needs: places

local MORE_GONE = 16
local STEPPED_EVERY_MS = 1000 -- how often a step that changes nothing writes its time: far less than AWAY_MS

local function send(command, key, list)
  if #list > 0 then
    redis.call(command, key, unpack(list))
  end
end

local function write_places(step)
  local records, to_wait, to_see, to_active, to_ended = {}, {}, {}, {}, {}
  for _, place in ipairs(step.changed) do
    local ticket, kind, was = place.ticket, place.kind, place.was
    if kind ~= was or kind == 'a' then
      place.text = write_place(place)
      add(records, ticket, place.text)
    end
    if was ~= kind and (was == 'w' or was == 'a') then
      take_out(step, was == 'w' and 4 or 6, ticket)
    end
    if kind == 'w' then
      if was ~= 'w' then
        add(to_wait, place.order, ticket)
      end
      add(to_see, num(place.until_ms), ticket)
    elseif kind == 'a' then
      add(to_active, place.end_ms, ticket)
    else
      add(to_ended, num(step.at + step.retention), ticket)
    end
  end
  send('HSET', KEYS[2], records)
  for key = 4, 6 do
    send('ZREM', KEYS[key], step.gone[key])
  end
  send('ZADD', KEYS[4], to_wait)
  send('ZADD', KEYS[5], to_see)
  send('ZADD', KEYS[6], to_active)
  send('ZADD', KEYS[7], to_ended)
end

local function write_users(step)
  local gone, here = {}, {}
  for _, user in ipairs(step.owners) do
    local ticket, busy = step.tickets[user], step.busy[user]
    if busy and busy > step.at then
      add(here, user, (ticket or '-') .. ' ' .. num(busy))
    elseif ticket then
      add(here, user, ticket)
    else
      gone[#gone + 1] = user
    end
  end
  send('HDEL', KEYS[3], gone)
  send('HSET', KEYS[3], here)
end

-- Adds the admissions of this step, and drops old ones that the rate counts no more. It can drop MORE_GONE more than it
-- adds, so the list gets shorter again.
local function write_recent(step)
  local count, times = step.admitted, {}
  if not step.state.rate or count == 0 then
    return
  end
  for i = 1, count do
    times[i] = num(step.at)
  end
  redis.call('LPUSH', KEYS[9], unpack(times))
  local oldest, gone = redis.call('LRANGE', KEYS[9], num(-count - MORE_GONE), -1), 0
  while gone < #oldest and (tonumber(oldest[#oldest - gone]) or 0) < step.at - RATE_MS do
    gone = gone + 1
  end
  if gone > 0 then
    redis.call('RPOP', KEYS[9], gone)
  end
end

local MOVED = {
  'joins',
  'passes',
  'admitted',
  'promoted',
  'expired',
  'abandoned',
  'left',
  'waited_ms',
  'revocations',
  'hold',
  'opened',
  'stepped',
  'grace',
  'clock',
  'ahead',
}

-- Whether the room's time must be written. A decision holds only at its time and later, so each write keeps the time.
-- In an occupied room a step also keeps it after it has moved by STEPPED_EVERY_MS, because replies show it.
local function is_to_keep(step)
  local gone = step.gone
  return step.put_back
    or step.drop_collected
    or step.revoked_gone + #step.changed + #step.kept + #gone[4] + #gone[5] + #gone[6] + #gone[7] > 0
    or (step.moved >= STEPPED_EVERY_MS and step.waiting + step.active > 0)
end

local function write_state(step)
  local state, fields = step.state, {}
  -- In doubt waiting users could not be seen, so such a step does not count.
  local seen = step.waiting > 0 and not (step.doubt and step.waited)
  local steps = seen and math.abs(step.at - state.stepped) >= STEPPED_EVERY_MS
  if steps then
    state.stepped = step.at
  end
  if step.dirty then
    for _, field in ipairs(MOVED) do
      add(fields, field, num(state[field]))
    end
  elseif steps or is_to_keep(step) then
    for _, field in ipairs({ 'stepped', 'clock', 'ahead' }) do
      add(fields, field, num(state[field]))
    end
  end
  send('HSET', KEYS[1], fields)
end

local function write_step(step)
  send('HDEL', KEYS[2], step.gone[7])
  send('ZREM', KEYS[7], step.gone[7])
  send('ZADD', KEYS[7], step.kept)
  if step.revoked_gone > 0 then
    redis.call('ZREMRANGEBYRANK', KEYS[8], 0, step.revoked_gone - 1)
  end
  if step.drop_collected then
    redis.call('UNLINK', KEYS[10])
  end
  write_places(step)
  write_users(step)
  send('ZADD', KEYS[8], step.revoked)
  send('ZADD', KEYS[10], step.collected)
  write_recent(step)
  write_state(step)
end
