-- Shared by the scripts that read or move a request: its record, and that of its user.
--
-- A request, in the hash `requests` by its id, times in ms:
--   i seq at code user             issued
--   v seq at code voided_at user   issued, and taken back
--   a at first user                the user had as many as a user may have; first: the request of the oldest of them
--   o at user                      out of stock
--   n at user                      not open: before `starts`, or from `ends` on
--   q arrival attempts take at user   in the line since `at`; take: of the last call that took it, "-" for none
--   d arrival attempts at user     dead letter, in the line since `at`
-- A user, in the hash `users` by the user's id: "request at;" of each issue that counts, the oldest first. A time that
-- is later than now was written before the clock was set back. It becomes now, so that the window runs from there:
-- nobody gets more than may be had within a window, and nobody waits for the length of the jump.

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

-- Of the issues in a user's record those that count after `since`: how many, the request of the first, and the record
-- with them alone, none of them later than `at`; and whether one was. nil when it cannot be read.
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

-- What answers need beside the records, of which a reply has `count` behind its first `head` values: behind one of a
-- user who has had enough the record of the first issue, behind one in the line how many are before it. Appends
-- "place, text" of each, place being that among the records, from 1. The ids are in ARGV, behind its first `before`.
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
