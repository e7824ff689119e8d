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
-- A user, in the hash `users` by the user's id: "request at;" of each issue that counts, the oldest first.

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
-- with them alone. nil when it cannot be read.
local function count_issues(text, since)
  local count, first, kept, length = 0, nil, text, 0
  for request, at in string.gmatch(text, '(%S+) (%d+);') do
    length = length + #request + #at + 2
    if tonumber(at) > since then
      count = count + 1
      first = first or request
    else
      kept = string.sub(text, length + 1)
    end
  end
  if length ~= #text then
    return nil
  end
  return count, first, kept
end

-- What answers need beside the records: behind one of a user who has had enough the record of the first issue, behind
-- one in the line how many are before it. Appends "place, text" of each, place being that in the list, from 1.
local function append_details(out, ids, texts)
  local firsts, places = {}, {}
  for i, text in ipairs(texts) do
    local kind = string.sub(text, 1, 2)
    if kind == 'a ' then
      firsts[#firsts + 1] = must(string.match(text, '^a %d+ (%S+) %S+$'), 'JP_DAMAGED request')
      places[#places + 1] = i
    elseif kind == 'q ' then
      out[#out + 1] = num(i)
      out[#out + 1] = num(redis.call('ZRANK', KEYS[4], ids[i]) or 0)
    end
  end
  if #firsts > 0 then
    local records = redis.call('HMGET', KEYS[2], unpack(firsts))
    for k, i in ipairs(places) do
      out[#out + 1] = num(i)
      out[#out + 1] = records[k] or ''
    end
  end
  return out
end
