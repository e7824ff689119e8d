-- Shared by the scripts that put a definition (jackpot, coupon, room): repeats of a PUT, and its precondition.
--
-- Part of a script, after events.lua. The state's field `puts` has the last PUTs, "nonce outcome version;" each.

local MAX_PUTS = 16 -- PUTs whose repeats are recognized: more than the operators who work on one subject at once

-- Outcome and version of the PUT with this nonce; nil if it is not in the list.
local function put_before(puts, nonce)
  return string.match(';' .. puts, ';' .. nonce .. ' (%l+) (%d+);')
end

-- Adds a PUT to the list; a full list drops its oldest.
local function remember_put(puts, nonce, outcome, version)
  local _, count = string.gsub(puts, ';', '')
  if count >= MAX_PUTS then
    puts = string.gsub(puts, '^[^;]*;', '', 1)
  end
  return puts .. nonce .. ' ' .. outcome .. ' ' .. version .. ';'
end

-- Whether the precondition `wanted` of a PUT allows a change of a definition whose last version is `last`.
local function may_change(wanted, last)
  return wanted == '' or wanted == 'present' or string.find(wanted, ',' .. last .. ',', 1, true) ~= nil
end
