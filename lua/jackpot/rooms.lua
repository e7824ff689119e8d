-- Shared by the scripts of the jackpot that a transfer goes to: the rooms that it has for a transfer.
--
-- Part of a script, after exactly.lua and `adjustment`. A call makes room before the other jackpot gives. If that one
-- gives nothing, or gives other parts, nobody uses the room. So a room ends ROOM_MS after it was made, and no call
-- gives on account of a room that is near its end: a call uses an older one for ROOM_MS / 2 at most
-- (transfer_expect.lua), and gives within GIVE_MS of its look (transfer_give.lua), each by one clock.
--
-- Records: `!room!<source>!<transfer id>!<digest of the parts>`, then with `!1`, `!2` ... after it; `!free!` in place
-- of `!room!` when the room has ended, because the money came in or because nobody used it. Rooms for the same parts
-- are alike.
-- needs: adjustment

local ROOM_MS = 10000

-- The rooms for these parts that have not ended, each with its name after `!room!` and when it was made; and the name
-- of the next one.
local function rooms_of(key, source, transfer_id, digest)
  local open, name, number = {}, source .. '!' .. transfer_id .. '!' .. digest, 0
  local next_name = name
  while true do
    local room = redis.call('HGET', key, '!room!' .. next_name)
    if not room then
      return open, next_name
    end
    if redis.call('HEXISTS', key, '!free!' .. next_name) == 0 then
      local made = must(read_adjustment(room), 'JP_DAMAGED transfer')
      open[#open + 1] = { name = next_name, at = must(exact(made.at_ms), 'JP_DAMAGED transfer') }
    end
    number = number + 1
    next_name = name .. '!' .. num(number)
  end
end

-- The digest in the name of a room, with its number.
local function digest_in(name)
  return string.match(name, '^[^!]+![^!]+!(.+)$')
end
