-- Reads one batch: its record, and the records of its winners.
--
-- KEYS  1 state  2 seen:a  3 seen:b
-- ARGV  1 known mark  2 batch id
-- Reply {'unknown'} | {'behind' | 'restoring', mark} | {'missing', mark}
--       {'ok', mark, the batch, each winner} (batch_reply)  as enter_batch.lua answers a repeat
-- Invariants: changes nothing.
-- Cost: O(winners).
-- needs: state find_record batch

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local record, found_in = find_record(state, KEYS[2], KEYS[3], ARGV[2] .. ':')
if not record then
  return { 'missing', mark(state) }
end
return batch_reply(state, record, found_in, ARGV[2])
