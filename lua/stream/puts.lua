-- Shared by the scripts that put a definition, of a jackpot, a coupon or a room: repeats of a PUT, and what it expects.
--
-- Part of a script, behind events.lua. The state's field `puts` has the last PUTs, "nonce outcome version;" each.

local MAX_PUTS = 16 -- PUTs whose repeats are known: more than there are operators at work on one thing

-- Outcome and version of the PUT with this nonce, if it was done.
local function put_before(puts, nonce)
  return string.match(';' .. puts, ';' .. nonce .. ' (%l+) (%d+);')
end

-- The list with one more; the oldest leave it when it is full.
local function remember_put(puts, nonce, outcome, version)
  local _, count = string.gsub(puts, ';', '')
  if count >= MAX_PUTS then
    puts = string.gsub(puts, '^[^;]*;', '', 1)
  end
  return puts .. nonce .. ' ' .. outcome .. ' ' .. version .. ';'
end

-- Whether a PUT that wants this may change what is there, whose last version is this.
local function may_change(wanted, last)
  return wanted == '' or wanted == 'present' or string.find(wanted, ',' .. last .. ',', 1, true) ~= nil
end
