-- Reads a coupon whole, at one instant.
--
-- KEYS  the six of the coupon (state.lua)
-- ARGV  1 known mark
-- Reply {'unknown'} | {'behind' | 'restoring', mark}
--       {'ok', mark, now ms, status, version, definition (JSON), stock, seq, voided, arrivals, in the line, dead,
--        requests remembered}
-- Cost: O(1).

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
return {
  'ok',
  mark(state),
  num(now_ms()),
  state.status,
  num(state.version),
  must(redis.call('HGET', KEYS[1], 'json') or nil, 'JP_DAMAGED state'),
  num(state.stock),
  num(state.seq),
  num(state.voided),
  num(state.arrivals),
  num(redis.call('ZCARD', KEYS[4])),
  num(redis.call('ZCARD', KEYS[5])),
  num(redis.call('HLEN', KEYS[2])),
}
