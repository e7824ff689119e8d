-- Shared by the scripts that read an event of the stream.
--
-- Part of a script, after events.lua.

local function sized_text(text, at)
  local _, colon, length = find(text, '^(%d+):', at)
  local last = colon and colon + tonumber(length)
  if not last or last > #text then
    return nil, #text + 1
  end
  return string.sub(text, colon + 1, last), last + 1
end

-- The values of an event by their names, from the fields of its entry. An event of several fields, which no script of
-- this version writes, has its names and values there. Of a damaged event: what is before the damage.
local function event_fields(entry)
  local fields = {}
  if entry[1] ~= 'e' then
    for i = 1, #entry, 2 do
      fields[entry[i]] = entry[i + 1]
    end
    return fields
  end
  local text, at = entry[2], 1
  while at <= #text do
    local name, value, from
    name, from = sized_text(text, at)
    value, at = sized_text(text, from)
    if not name or not value then
      break
    end
    fields[name] = value
  end
  return fields
end
