-- Shared by the scripts that get many values: the caller packs them into one argument, because an argument for each
-- costs Redis three times as much. The integers among them are numbers.
--
-- Part of a script, after events.lua.

-- The list that the caller packed: true, then its values. They come one after the other, which unpacks in half the time
-- of an array, or, when they are many, as an array that begins with true: the stack holds some 8,000 values.
local function unpack_sent(text)
  local sent = { pcall(cmsgpack.unpack, text) }
  if type(sent[2]) == 'table' then
    sent = sent[2]
  end
  must(sent[1] == true or nil, 'JP_ARGUMENT list')
  return sent
end
