-- Shared by the scripts that keep values packed: several values in one text, as MessagePack, one after the other.
--
-- Part of a script, after events.lua. The first value is the number of the layout, its format. Readers and writers of
-- each layout are made from its declaration. A packed integer is exact, and so is a double below 2^53.

local MAX_TEXT = 1048576 -- longest text of a packed value, bytes: far more than any has
local MAX_KEPT = 512 -- texts of a layout that a function keeps unpacked, some 2 KB each

-- Unpacks `text` into a list: true, the format, the values. Ends the script for a damaged text, and for a format that
-- this version does not know.
local function unpacked(text, format_known, what)
  local values = { pcall(cmsgpack.unpack, text) }
  local found = values[2]
  if found ~= format_known then
    must(values[1] and type(found) == 'number' or nil, 'JP_DAMAGED ' .. what)
    local todo = ': start the version that wrote it, or rebuild it from the ledger (jackpot restore)'
    must(nil, 'JP_FORMAT ' .. what .. ' has format ' .. found .. ', and this version knows ' .. format_known .. todo)
  end
  return values
end

-- Fails unless these values are integers of at most 53 bits. Call it with pcall: arithmetic on another type is an error
-- too. So it needs no call of `type` for each value, which takes longer than all the rest.
local function check_whole(values, first, last)
  for i = first, last do
    local value = values[i]
    if value % 1 ~= 0 or value > MAX or value < -MAX then
      error('no integer')
    end
  end
end

-- Fails unless these values are texts. Call it with pcall too.
local function check_texts(values, first, last)
  for i = first, last do
    if #values[i] > MAX_TEXT then
      error('no text')
    end
  end
end
