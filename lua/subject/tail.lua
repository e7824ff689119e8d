-- Reads the events after the caller's last one, and trims events from the front of the stream that SQL has.
--
-- KEYS  1 state  2 events
-- ARGV  1 known mark  2 stream id of the last event the caller has, '' for none
--       3 most events, 1 to 1,000  4 most bytes of field names and values. The reply has at least one event
--       5 stream id: events before it may be trimmed, because SQL has them; '' for none
-- Reply {'unknown'} | {'behind' | 'restoring', mark}
--       {'ok', mark, stream id, event, stream id, event, ...}; without a new event just {'ok', mark}. An event is the
--       text of its only field, or {name, value, ...} where it has others
-- Invariants: runs in every status and when memory is full, because the backlog must drain then above all. With
-- durability = replicated, a replica has every event before the caller reads it. The caller's WAIT comes after a write
-- of its own on the same connection (crates/kernel/src/store/script.rs), so it covers every event that this script
-- could read. So the ledger never holds an event that a failover takes back.
-- Cost: O(bytes). One call trims at most MAX_TRIMMED events, in whole nodes of the stream.

local CHUNK = 16 -- events of one XRANGE: at most this many are read beyond the limit of bytes
local MAX_TRIMMED = 1000

local values = redis.call('HMGET', KEYS[1], 'n', 'restores', 'status')
local state = values[1]
  and {
    n = must(exact(values[1]), 'JP_DAMAGED state'),
    restores = must(exact(values[2]), 'JP_DAMAGED state'),
    status = values[3],
  }
local ended = ended_by(state)
if ended then
  return ended
end
local from = ARGV[2] == '' and '-' or '(' .. ARGV[2]
local left, bytes = tonumber(ARGV[3]), tonumber(ARGV[4])
local out = { 'ok', mark(state) }
local more = true

while more and left > 0 and bytes > 0 do
  local events = redis.call('XRANGE', KEYS[2], from, '+', 'COUNT', math.max(math.min(CHUNK, left), 1))
  more = #events > 0
  for _, event in ipairs(events) do
    for _, text in ipairs(event[2]) do
      bytes = bytes - #text
    end
    if bytes < 0 and #out > 2 then
      more = false
      break
    end
    from = '(' .. event[1]
    out[#out + 1] = event[1]
    local fields = event[2]
    out[#out + 1] = #fields == 2 and fields[1] == 'e' and fields[2] or fields
    left = left - 1
  end
end
if ARGV[5] ~= '' then
  redis.call('XTRIM', KEYS[2], 'MINID', '~', ARGV[5], 'LIMIT', MAX_TRIMMED)
end
return out
