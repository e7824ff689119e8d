-- Reads a whole room at one instant.
--
-- KEYS  the eleven of the room (state.lua)
-- ARGV  1 known mark
-- Reply {'unknown'} | {'behind' | 'restoring', mark}
--       {'ok', mark, the room's time and Redis' clock in ms, status, version, definition (JSON), nonce and commitment
--        of the order before the opening, state as in a checkpoint, number of the event that makes the opening final,
--        opens and hold in ms or '' once they have passed, active, waiting, admitted, promoted, expired, abandoned,
--        left, waited ms, how many tickets of the list are kept, SHA-256 of the list or ''}
-- Invariants: changes nothing. So due places that no step has ended yet count as before.
-- Cost: O(1).

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local kept, wall = redis.call('HMGET', KEYS[1], 'json', 'order_nonce', 'commitment'), now_ms()
local at = room_ms(state, wall)
return {
  'ok',
  mark(state),
  num(at),
  num(wall),
  state.status,
  num(state.version),
  must(kept[1] or nil, 'JP_DAMAGED state'),
  must(kept[2] or nil, 'JP_DAMAGED state'),
  must(kept[3] or nil, 'JP_DAMAGED state'),
  decides(state, kept[3]),
  num(state.defined),
  has_opened(state, wall) and '' or num(state.opens),
  state.hold > at and num(state.hold) or '',
  num(redis.call('ZCARD', KEYS[6])),
  num(redis.call('ZCARD', KEYS[4])),
  num(state.admitted),
  num(state.promoted),
  num(state.expired),
  num(state.abandoned),
  num(state.left),
  num(state.waited_ms),
  num(redis.call('ZCARD', KEYS[10])),
  state.collected_sha256,
}
