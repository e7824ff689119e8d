-- Counts one further: the toy's own event.
--
-- KEYS  the two of the toy (state.lua)
-- ARGV  1 known mark
-- Reply {'unknown'} | {'behind' | 'restoring', mark} | {'suspended' | 'stopped' | 'full', mark}
--       {'ok', mark, count} (`replies`)
-- needs: state event/count replies

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
if state.is_stopped or state.status ~= 'open' then
  return { state.is_stopped and 'stopped' or 'suspended', mark(state) }
end
if state.seq >= state.limit then
  return { 'full', mark(state) }
end
state.seq = state.seq + 1
append_count(KEYS[2], state, now_ms(), { count = num(state.seq) })
redis.call('HSET', KEYS[1], 'n', num(state.n), 'seq', num(state.seq))
return counted_reply(mark(state), { count = num(state.seq) })
