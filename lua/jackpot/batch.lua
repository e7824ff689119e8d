-- Shared by the scripts that answer a batch: the record of the batch, and the records of its winners.
--
-- The record of a batch is the field "<batch id>:", which no client can send as an id:
--   first count fingerprint epoch totals winners
-- first: sequence of the batch's first entry. totals: "tier+amount+pool" of each tier, comma-separated; amount: whole
-- units by which the tier's contributions grew; pool: its amount after the batch. winners: indexes (from 1) of all
-- entries that drew a prize, comma-separated, "-" for none. A winner has a record of its own, "<batch id>:<index>"
-- (record.lua). Other entries have none: their results follow from the event.

local AT_ONCE = 4000 -- values of one call; `unpack` fails above some 8,000

local function call_in_parts(values, call)
  for from = 1, #values, AT_ONCE do
    call(from, math.min(from + AT_ONCE - 1, #values))
  end
end

-- The reply to a repeated batch: its record, then the records of its winners, in order.
local function batch_reply(state, record, key, batch_id)
  local reply, ids = taken_reply(mark(state), { replayed = true, record = record }), {}
  for index in string.gmatch(string.match(record, '(%S+)$'), '%d+') do
    ids[#ids + 1] = batch_id .. ':' .. index
  end
  call_in_parts(ids, function(from, to)
    for _, text in ipairs(redis.call('HMGET', key, unpack(ids, from, to))) do
      append_winner(reply, { record = must(text or nil, 'JP_DAMAGED batch') })
    end
  end)
  return reply
end
