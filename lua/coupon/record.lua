-- Shared by the scripts that read or change a request: its record, and the record of its user.
--
-- A request, in the hash `requests` by its id: `read_request` and `write_request`.
-- A user, in the hash `users` by the user's id: each issue that counts, oldest first (`user_issue`). A time in the
-- future was written before the clock was set back. It becomes now, so the window runs from there. So no user gets more
-- than the window allows, and no user waits for the length of the jump.
-- needs: read_request answered_reply user_issue

-- Counts the issues in a user's record that are later than `since`. Returns how many, the request of the first, the
-- record with only these, and whether a time was later than `at` (the record then has `at` in its place). nil when the
-- record cannot be read.
local function count_issues(text, since, at)
  local only, only_at = string.match(text, '^' .. USER_ISSUE .. '$') -- most users have one
  if only then
    if tonumber(only_at) > at then
      return 1, only, user_issue_text(only, num(at)), true
    end
    if tonumber(only_at) > since then
      return 1, only, text
    end
    return 0, nil, ''
  end
  local count, first, kept, length, moved = 0, nil, {}, 0, false
  for request, issued_at in string.gmatch(text, USER_ISSUE) do
    length = length + #request + #issued_at + 2
    if tonumber(issued_at) > since then
      count = count + 1
      first = first or request
      local later = tonumber(issued_at) > at
      kept[count] = user_issue_text(request, later and num(at) or issued_at)
      moved = moved or later
    end
  end
  if length ~= #text then
    return nil
  end
  return count, first, table.concat(kept), moved
end

local ALREADY, QUEUED = string.byte('aq', 1, 2)

-- Appends details of records to a reply. The reply has `count` records after its first `head` values, and their ids are
-- in the list `sent` after its first `before`.
local function append_details(reply, head, count, sent, before)
  local firsts, places = {}, {}
  for i = 1, count do
    local text = reply[head + i]
    local kind = string.byte(text)
    if kind == ALREADY then
      local refused = read_request(text)
      if refused then
        firsts[#firsts + 1] = refused.first
        places[#places + 1] = i
      end
    elseif kind == QUEUED then
      local place = redis.call('ZRANK', KEYS[4], sent[before + i])
      if place then
        append_detail(reply, { place = num(i), text = num(place) })
      end
    end
  end
  if #firsts > 0 then
    local found = redis.call('HMGET', KEYS[2], unpack(firsts))
    for k, i in ipairs(places) do
      append_detail(reply, { place = num(i), text = found[k] or '' })
    end
  end
  return reply
end

-- The reply about the request ARGV[2], whose record is `text`. `is_known`: this call did not write it.
local function answer(code, mark_text, is_known, text)
  local reply = { code, mark_text }
  append_answered(reply, { known = is_known and '1' or '' })
  reply[#reply + 1] = text
  return append_details(reply, #reply - 1, 1, ARGV, 1)
end
