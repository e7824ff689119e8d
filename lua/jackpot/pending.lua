-- Lists entries without a final outcome, oldest first.
--
-- KEYS  1 state  2 seen:a  3 seen:b  4 pending
-- ARGV  1 known mark  2 list from the entry after this sequence  3 smallest age in ms  4 most entries, 1 to 1,000
-- Reply {'unknown'} | {'behind' | 'restoring', mark}
--       {'ok', mark, the page, each entry} (pending_reply)
-- Invariants: changes nothing. An entry with a time in the future was taken before the clock was set back. It counts as
-- old enough.
-- Cost: O(most entries).
-- needs: state find_record read_pending pending_reply

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local at, age = now_ms(), tonumber(ARGV[3])
local found = redis.call('ZRANGEBYSCORE', KEYS[4], '(' .. ARGV[2], '+inf', 'WITHSCORES', 'LIMIT', 0, tonumber(ARGV[4]))
local entries, last = {}, nil
for i = 1, #found, 2 do
  local record = find_record(state, KEYS[2], KEYS[3], found[i])
  local entry = record and read_pending_entry(record)
  local entered = entry and entry.entered_ms
  -- A record that is not pending is damage. The reply has it, because it blocks the rotation.
  local old = not entered or tonumber(entered) <= at - age or tonumber(entered) > at
  if old then
    entries[#entries + 1] = { entry_id = found[i], record = record or '' }
  end
  last = found[i + 1]
end
local reply = looked_reply(mark(state), { last = last })
for _, entry in ipairs(entries) do
  append_unsettled(reply, entry)
end
return reply
