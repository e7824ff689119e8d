-- Shared by the scripts that look for one record.
--
-- Part of a script, after record.lua.
-- needs: record

local EARLY = string.byte('!')

-- The record of an entry and the key that holds it; or nil, nil and whether early cancels (`early_cancel`) name it.
local function find_record(state, seen_a, seen_b, entry_id)
  local keys = state.gen == 'a' and { seen_a, seen_b } or { seen_b, seen_a }
  local is_cancelled = false
  for _, key in ipairs(keys) do
    local text = redis.call('HGET', key, entry_id)
    if text and string.byte(text) == EARLY then
      is_cancelled = true
    elseif text then
      return whole_record(text, key), key
    end
  end
  return nil, nil, is_cancelled
end
