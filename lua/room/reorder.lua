-- Gives tickets from before the opening, made under another nonce, their order under the room's nonce: one page of
-- them.
--
-- KEYS  the eleven of the room (state.lua)
-- ARGV  1 known mark  2 nonce of the orders  3 number of the last ticket with its order, as far as the caller knows
--       4.. ticket, score, ... of the tickets with the next numbers, in order; the scores are negative
-- Reply {'unknown'} | {'behind' | 'restoring', mark}
--       {'nonce', mark} the room has another nonce by now
--       {'ok', mark, ...} (reorder_reply); if others have ordered some, `ordered` differs from ARGV[3], and the
--        caller goes on from there
-- Invariants: in order, each ticket once. Until the last one has its order nobody is admitted (step.lua). Tickets of
-- users who joined again are not on the list, so they stand after all tickets on it. Runs when memory is full.
-- Cost: O(log n) for each.
-- needs: state reorder_reply

local FIRST = 4

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
if redis.call('HGET', KEYS[1], 'order_nonce') ~= ARGV[2] then
  return { 'nonce', mark(state) }
end
local from = must(exact(ARGV[3]), 'JP_ARGUMENT number')
local count = (#ARGV - FIRST + 1) / 2
if from == state.ordered and count > 0 and from < state.to_order then
  local orders = {}
  for i = FIRST, #ARGV, 2 do
    local score = must(exact(ARGV[i + 1]), 'JP_ARGUMENT order')
    must(score < 0 or nil, 'JP_ARGUMENT order')
    orders[#orders + 1], orders[#orders + 2] = ARGV[i + 1], ARGV[i]
  end
  redis.call('ZADD', KEYS[4], 'XX', unpack(orders)) -- XX: an ended ticket stays out
  state.ordered = from + count
  redis.call('HSET', KEYS[1], 'ordered', num(state.ordered))
end
return ordered_reply(mark(state), { ordered = num(state.ordered), to_order = num(state.to_order) })
