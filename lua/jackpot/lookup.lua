-- Reads one entry: its record, and the request, from the event that took it.
--
-- KEYS  1 state  2 seen:a  3 seen:b  4 events
-- ARGV  1 known mark  2 entry id
-- Reply {'unknown'} | {'behind' | 'restoring', mark} | {'missing', mark}
--       {'ok', mark, the entry, the values of CALL_FIELDS of its event} (lookup_reply)
-- Invariants: changes nothing.
-- Cost: O(log n of the stream) and the size of the event.
-- needs: state find_record call_fields read_call read_batch lookup_reply subject/event_fields

-- The sequence of a record from whole_record; nil for a damaged record.
local function sequence_of(text)
  local own, of_call = string.match(text, '^(:.+) (%S*)$')
  if not own then
    return string.match(text, '^%d+')
  end
  local in_run, call = read_in_run(own), read_call_record(of_call)
  if not in_run or not call then
    return nil
  end
  local place, before = tonumber(in_run.place), 0
  for skip in string.gmatch(call.skip, '%d+') do
    before = before + (tonumber(skip) < place and 1 or 0)
  end
  return num(tonumber(call.first) + place - 1 - before)
end

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local record = find_record(state, KEYS[2], KEYS[3], ARGV[2])
local seq = record and must(sequence_of(record), 'JP_DAMAGED record')
if not record then
  local batch_id, index = string.match(ARGV[2], '^([^:]+):([1-9]%d*)$')
  local of_batch = batch_id and find_record(state, KEYS[2], KEYS[3], batch_id .. ':')
  local batch = of_batch and must(read_batch_record(of_batch), 'JP_DAMAGED batch')
  if not batch or tonumber(index) > tonumber(batch.count) then
    return { 'missing', mark(state) }
  end
  seq = num(tonumber(batch.first) + tonumber(index) - 1)
end
-- The first event at or after <seq>-0 raised the sequence to seq or beyond, so it is the event of this entry.
local found = redis.call('XRANGE', KEYS[4], seq .. '-0', '+', 'COUNT', 1)[1]
local fields = found and event_fields(found[2]) or {}
if fields.type ~= 'enter' or tonumber(fields.first) > tonumber(seq) then
  fields = {}
end
local reversed = '!' .. seq
local reply = found_reply(mark(state), {
  record = record,
  sequence = seq,
  reversal = redis.call('HGET', KEYS[2], reversed) or redis.call('HGET', KEYS[3], reversed) or '',
  at_ms = fields.at,
})
for _, field in ipairs(CALL_FIELDS) do
  reply[#reply + 1] = fields[field] or false
end
return reply
