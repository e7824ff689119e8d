-- Puts the list of tickets from before the opening into the ledger: how many, and the SHA-256 of the list.
--
-- KEYS  the eleven of the room (state.lua)
-- ARGV  1 known mark  2 how many tickets the caller has read  3 SHA-256 of each ticket and a line feed, in join order
-- Reply {'unknown'} | {'behind' | 'restoring', mark}
--       {'ok', mark} done | {'same', mark} done before
--       {'early', mark} the room has not opened, or some tickets do not have their order yet
--       {'changed', mark} the caller has read another list
-- Invariants: once, and after the opening, when no ticket joins the list any more. Runs in every status.
-- Cost: O(1).
-- needs: state event/opened

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local wall = now_ms()
room_ms(state, wall)
if state.collected_sha256 ~= '' then
  return { 'same', mark(state) }
end
if wall < state.opens or state.ordered < state.to_order then
  return { 'early', mark(state) }
end
must(string.find(ARGV[3], '^%x+$') and #ARGV[3] == 64 or nil, 'JP_ARGUMENT sha256')
if redis.call('ZCARD', KEYS[10]) ~= tonumber(ARGV[2]) then
  return { 'changed', mark(state) }
end
append_opened(KEYS[11], state, wall, timed(state, { joined = ARGV[2], sha256 = ARGV[3] }))
local clock, ahead = num(state.clock), num(state.ahead)
local n = num(state.n)
redis.call('HSET', KEYS[1], 'n', n, 'defined', n, 'collected_sha256', ARGV[3], 'opened', '1')
redis.call('HSET', KEYS[1], 'clock', clock, 'ahead', ahead)
return { 'ok', mark(state) }
