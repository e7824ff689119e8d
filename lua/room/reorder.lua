-- Gives tickets that were made before the opening, under another nonce, their order under the room's: a page of them.
--
-- KEYS  the eleven of the room (state.lua)
-- ARGV  1 known mark  2 nonce of the orders  3 number of the last ticket that has its order, as far as the caller knows
--       4.. ticket, score, ... of those with the next numbers, in order; the scores negative
-- Reply {'unknown'} | {'behind' | 'restoring', mark}
--       {'nonce', mark} the room has another nonce by now
--       {'ok', mark, number of the last that has its order, of the last that needs one}; it is another one than was
--        said where others have done some: the caller goes on from there
-- Invariants: in order, each once. Until the last has its order nobody is admitted (step.lua). Users who joined again
-- are not on the list with that: they stand behind all who are. Runs when memory is full.
-- Cost: O(log n) for each.

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
  redis.call('ZADD', KEYS[4], 'XX', unpack(orders)) -- who waits no longer is not there
  state.ordered = from + count
  redis.call('HSET', KEYS[1], 'ordered', num(state.ordered))
end
return { 'ok', mark(state), num(state.ordered), num(state.to_order) }
