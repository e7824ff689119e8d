-- Shared by the scripts that answer a batch: the record of the batch, and the records of its winners.
--
-- Part of a script, after read_batch. The record of a batch is the field "<batch id>:", that of a winner
-- "<batch id>:<index>": no client can send them as ids.
-- needs: read_batch batch_reply

local AT_ONCE = 4000 -- values of one call; `unpack` fails above some 8,000

local function call_in_parts(values, call)
  for from = 1, #values, AT_ONCE do
    call(from, math.min(from + AT_ONCE - 1, #values))
  end
end

-- The reply to a repeated batch: its record, then the records of its winners, in order.
local function batch_reply(state, record, key, batch_id)
  local reply, ids = taken_reply(mark(state), { replayed = true, record = record }), {}
  local winners = must(read_batch_record(record), 'JP_DAMAGED batch').winners
  for index in string.gmatch(winners, '%d+') do
    ids[#ids + 1] = batch_id .. ':' .. index
  end
  call_in_parts(ids, function(from, to)
    for _, text in ipairs(redis.call('HMGET', key, unpack(ids, from, to))) do
      append_winner(reply, { record = must(text or nil, 'JP_DAMAGED batch') })
    end
  end)
  return reply
end
