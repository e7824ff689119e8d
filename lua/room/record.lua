-- Shared by the scripts that read or change a place: its record.
--
-- A ticket's record, in the hash `tickets`, times in ms:
--   w join joined user              waits
--   a admitted ends joined user     is in
--   e at user                       expired: was in until its session ended
--   b at user                       abandoned: waited, and was not seen in time
--   l at user                       left, in or waiting

-- Parses a record into a place, with its numbers as text; nil for no record, or one that no script of ours wrote.
local function parse_place(text)
  local kind = text and string.sub(text, 1, 1)
  if kind == 'w' then
    local join, joined, user = string.match(text, '^w (%d+) (%d+) (%S+)$')
    return join and { kind = kind, join = join, joined = joined, user = user, text = text }
  end
  if kind == 'a' then
    local admitted, ends, joined, user = string.match(text, '^a (%d+) (%d+) (%d+) (%S+)$')
    return admitted and { kind = kind, admitted = admitted, ends = ends, joined = joined, user = user, text = text }
  end
  local over, at, user = string.match(text or '', '^([ebl]) (%d+) (%S+)$')
  return over and { kind = over, at = at, user = user, text = text }
end

local function place_text(place)
  if place.kind == 'w' then
    return 'w ' .. place.join .. ' ' .. place.joined .. ' ' .. place.user
  end
  if place.kind == 'a' then
    return 'a ' .. place.admitted .. ' ' .. place.ends .. ' ' .. place.joined .. ' ' .. place.user
  end
  return place.kind .. ' ' .. place.at .. ' ' .. place.user
end
