-- Generated from crates/room/src/record.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test it
-- docs::`.
--
-- A ticket, in the hash `tickets` by its id. Times are in ms of the room's time.
--   w join joined_ms user: It waits.
--   a admitted_ms end_ms joined_ms user: It is in.
--   e at_ms user: Expired: it was in until its session ended.
--   b at_ms user: Abandoned: it waited, and was not seen in time.
--   l at_ms user: Its user left, in or waiting.

-- Parses a record into a table with its `kind`, its `text`, and its fields as text; nil for no record, or one that no
-- script wrote.
local function read_place(text)
  local kind = text and string.sub(text, 1, 1)
  if kind == 'w' then
    local join, joined_ms, user = string.match(text, '^w (%d+) (%d+) (%S+)$')
    if not join then
      return nil
    end
    return {
      kind = kind,
      text = text,
      join = join,
      joined_ms = joined_ms,
      user = user,
    }
  end
  if kind == 'a' then
    local admitted_ms, end_ms, joined_ms, user = string.match(text, '^a (%d+) (%d+) (%d+) (%S+)$')
    if not admitted_ms then
      return nil
    end
    return {
      kind = kind,
      text = text,
      admitted_ms = admitted_ms,
      end_ms = end_ms,
      joined_ms = joined_ms,
      user = user,
    }
  end
  if kind == 'e' then
    local at_ms, user = string.match(text, '^e (%d+) (%S+)$')
    if not at_ms then
      return nil
    end
    return {
      kind = kind,
      text = text,
      at_ms = at_ms,
      user = user,
    }
  end
  if kind == 'b' then
    local at_ms, user = string.match(text, '^b (%d+) (%S+)$')
    if not at_ms then
      return nil
    end
    return {
      kind = kind,
      text = text,
      at_ms = at_ms,
      user = user,
    }
  end
  if kind == 'l' then
    local at_ms, user = string.match(text, '^l (%d+) (%S+)$')
    if not at_ms then
      return nil
    end
    return {
      kind = kind,
      text = text,
      at_ms = at_ms,
      user = user,
    }
  end
  return nil
end

local function write_place(place)
  local kind = place.kind
  if kind == 'w' then
    return 'w ' .. place.join .. ' ' .. place.joined_ms .. ' ' .. place.user
  end
  if kind == 'a' then
    return 'a ' .. place.admitted_ms .. ' ' .. place.end_ms .. ' ' .. place.joined_ms .. ' ' .. place.user
  end
  if kind == 'e' then
    return 'e ' .. place.at_ms .. ' ' .. place.user
  end
  if kind == 'b' then
    return 'b ' .. place.at_ms .. ' ' .. place.user
  end
  return 'l ' .. place.at_ms .. ' ' .. place.user
end
