-- Shared by the scripts that read or change a request: its record, and the record of its user.
--
-- A request, in the hash `requests` by its id, times in ms:
--   i seq at code user             issued
--   v seq at code voided_at user   issued and voided
--   a at first user                already issued: the user has reached the limit; first: request of the oldest issue
--   o at user                      out of stock
--   n at user                      not open: before `starts`, or from `ends` on
--   q arrival attempts take at user   in the queue since `at`; take: the last call that took it, "-" for none
--   d arrival attempts at user     dead letter, in the queue since `at`
-- A user, in the hash `users` by the user's id: "request at;" of each issue that counts, oldest first. A time in the
-- future was written before the clock was set back. It becomes now, so the window runs from there. So no user gets more
-- than the window allows, and no user waits for the length of the jump.

local function parse_queued(text)
  local arrival, attempts, take, at, user = string.match(text or '', '^q (%d+) (%d+) (%S+) (%d+) (%S+)$')
  if not arrival then
    return nil
  end
  return { arrival = arrival, attempts = tonumber(attempts), take = take, at = at, user = user }
end

local function queued_text(queued)
  local line = queued.arrival .. ' ' .. num(queued.attempts) .. ' ' .. queued.take
  return 'q ' .. line .. ' ' .. queued.at .. ' ' .. queued.user
end

-- Counts the issues in a user's record that are later than `since`. Returns how many, the request of the first, the
-- record with only these, and whether a time was later than `at` (the record then has `at` in its place). nil when the
-- record cannot be read.
local function count_issues(text, since, at)
  local only, only_at = string.match(text, '^(%S+) (%d+);$') -- most users have one
  if only then
    if tonumber(only_at) > at then
      return 1, only, only .. ' ' .. num(at) .. ';', true
    end
    if tonumber(only_at) > since then
      return 1, only, text
    end
    return 0, nil, ''
  end
  local count, first, kept, length, moved = 0, nil, {}, 0, false
  for request, issued_at in string.gmatch(text, '(%S+) (%d+);') do
    length = length + #request + #issued_at + 2
    if tonumber(issued_at) > since then
      count = count + 1
      first = first or request
      local later = tonumber(issued_at) > at
      kept[count] = request .. ' ' .. (later and num(at) or issued_at) .. ';'
      moved = moved or later
    end
  end
  if length ~= #text then
    return nil
  end
  return count, first, table.concat(kept), moved
end

local ALREADY, QUEUED = string.byte('aq', 1, 2)

-- Appends details of records to a reply, as place, text. The reply has `count` records after its first `head` values,
-- and their ids are in ARGV after its first `before`. place: among the records, from 1. text: for an already issued
-- request the record of the first issue; for a request in the queue how many are before it.
local function append_details(reply, head, count, before)
  local firsts, places, length = {}, {}, head + count
  for i = 1, count do
    local text = reply[head + i]
    local kind = string.byte(text)
    if kind == ALREADY then
      local first = string.match(text, '^a %d+ (%S+) %S+$')
      if first then
        firsts[#firsts + 1] = first
        places[#places + 1] = i
      end
    elseif kind == QUEUED then
      local place = redis.call('ZRANK', KEYS[4], ARGV[before + i])
      if place then
        reply[length + 1], reply[length + 2] = num(i), num(place)
        length = length + 2
      end
    end
  end
  if #firsts > 0 then
    local found = redis.call('HMGET', KEYS[2], unpack(firsts))
    for k, i in ipairs(places) do
      reply[length + 1], reply[length + 2] = num(i), found[k] or ''
      length = length + 2
    end
  end
  return reply
end
