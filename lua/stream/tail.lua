-- Reads the events behind one that the ledger has, and drops from the front of the stream what it no longer needs.
--
-- KEYS  1 state  2 events
-- ARGV  1 known mark  2 stream id of the last event the caller has, '' for none
--       3 events at most, 1 to 1,000  4 bytes of field names and values at most; one event is given in any case, and
--       both segments of a batch, so that nobody ever has half of one
--       5 stream id: events before it may go, because SQL has them; '' for none
-- Reply {'unknown'} | {'behind' | 'restoring', mark}
--       {'ok', mark, stream id, {name, value, ...}, stream id, {...}, ...}; no event behind: just {'ok', mark}
-- Invariants: reads in every status, and when memory is full, because the backlog must drain then above all. What it
-- read is on a replica before the caller has it (durability = replicated), as of every script: the caller's WAIT
-- comes behind a write of its own on the same connection (src/store/script.rs), and so covers all that was there to
-- read. The ledger never holds an event that a failover takes back.
-- Cost: O(bytes); at most MAX_TRIMMED events go in one call, whole nodes of the stream only.

local CHUNK = 16 -- events of one XRANGE: what is read beyond the limit of bytes is at most this many
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
local more, half = true, false -- half: the last event given is the first segment of a batch

-- Counts the bytes of an event; whether it is such a segment.
local function count(fields)
  local batch, record = false, ''
  for i = 1, #fields, 2 do
    bytes = bytes - #fields[i] - #fields[i + 1]
    batch = batch or fields[i] == 'batch'
    record = fields[i] == 'record' and fields[i + 1] or record
  end
  return batch and record == ''
end

while more and (half or (left > 0 and bytes > 0)) do
  local events = redis.call('XRANGE', KEYS[2], from, '+', 'COUNT', math.max(math.min(CHUNK, left), 1))
  more = #events > 0
  for _, event in ipairs(events) do
    local is_half = count(event[2])
    if bytes < 0 and #out > 2 and not half then
      more = false
      break
    end
    half = is_half
    from = '(' .. event[1]
    out[#out + 1] = event[1]
    out[#out + 1] = event[2]
    left = left - 1
  end
end
if ARGV[5] ~= '' then
  redis.call('XTRIM', KEYS[2], 'MINID', '~', ARGV[5], 'LIMIT', MAX_TRIMMED)
end
return out
