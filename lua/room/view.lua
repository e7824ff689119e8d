-- Reads a whole room at one instant.
--
-- KEYS  the eleven of the room (state.lua)
-- ARGV  1 known mark
-- Reply {'unknown'} | {'behind' | 'restoring', mark}
--       {'ok', mark, values of the room} (view_reply)
-- Invariants: changes nothing. So due places that no step has ended yet count as before.
-- Cost: O(1).
-- needs: state decides view_reply

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local kept, wall = redis.call('HMGET', KEYS[1], 'json', 'order_nonce', 'commitment'), now_ms()
local at = room_ms(state, wall)
return viewed_reply(mark(state), {
  now_ms = at,
  wall_ms = wall,
  status = state.status,
  version = state.version,
  definition = must(kept[1] or nil, 'JP_DAMAGED state'),
  nonce = must(kept[2] or nil, 'JP_DAMAGED state'),
  commitment = must(kept[3] or nil, 'JP_DAMAGED state'),
  decides = decides(state, kept[3]),
  defined = state.defined,
  opens_ms = not has_opened(state, wall) and state.opens,
  hold_ms = state.hold > at and state.hold,
  active = redis.call('ZCARD', KEYS[6]),
  waiting = redis.call('ZCARD', KEYS[4]),
  admitted = state.admitted,
  promoted = state.promoted,
  expired = state.expired,
  abandoned = state.abandoned,
  left = state.left,
  waited_ms = state.waited_ms,
  collected = redis.call('ZCARD', KEYS[10]),
  collected_sha256 = state.collected_sha256,
})
