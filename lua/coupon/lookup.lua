-- Reads one request.
--
-- KEYS  the six of the coupon (state.lua)
-- ARGV  1 known mark  2 request id
-- Reply {'unknown'} | {'behind' | 'restoring', mark} | {'missing', mark}
--       {'ended', mark} no record: retire.lua may have dropped it
--       {'ok', mark, what is known of it} (answered_reply)
-- Invariants: changes nothing.
-- Cost: O(log n of the queue).
-- needs: state record

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local text = redis.call('HGET', KEYS[2], ARGV[2])
if not text then
  return { state.status == 'ended' and 'ended' or 'missing', mark(state) }
end
return answer('ok', mark(state), true, text)
