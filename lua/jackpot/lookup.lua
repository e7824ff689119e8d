-- Reads one entry: its record, and what was sent, from the event that took it.
--
-- KEYS  1 state  2 seen:a  3 seen:b  4 events
-- ARGV  1 known mark  2 entry id
-- Reply {'unknown'} | {'behind' | 'restoring', mark} | {'missing', mark}
--       {'ok', mark, record, first, skip, block}  first sequence, skipped positions and block of its event; false when
--       the stream has been trimmed that far
-- Cost: O(log n of the stream).

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local record = find_record(state, KEYS[2], KEYS[3], ARGV[2])
if not record then
  return { 'missing', mark(state) }
end
local seq = string.match(record, '^%d+')
-- The first event at or behind <seq>-0 is the one that raised the sequence to seq or beyond: that of this entry.
local found = redis.call('XRANGE', KEYS[4], seq .. '-0', '+', 'COUNT', 1)[1]
local fields = {}
if found then
  for i = 1, #found[2], 2 do
    fields[found[2][i]] = found[2][i + 1]
  end
end
if fields.type ~= 'enter' or tonumber(fields.first) > tonumber(seq) then
  fields = {}
end
return { 'ok', mark(state), record, fields.first or false, fields.skip or false, fields.block or false }
