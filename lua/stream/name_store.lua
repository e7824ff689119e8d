-- Writes into Redis which ledger and which store it belongs to, unless somebody changed that meanwhile.
--
-- KEYS  1 the name: '<ledger id>', '<ledger id> <store id>' or '<ledger id> <store id> adopting'
-- ARGV  1 what the caller saw there, '' for nothing  2 what is to be there
-- Reply {'ok'} it is there | {'other'} something else is there: nothing was done
-- Invariants: compare and set; repeating it changes nothing. Runs when memory is full, because nothing else may run
-- before it.
-- Cost: O(1).

local held = redis.call('GET', KEYS[1]) or ''
if held == ARGV[2] then
  return { 'ok' }
end
if held ~= ARGV[1] then
  return { 'other' }
end
redis.call('SET', KEYS[1], ARGV[2])
return { 'ok' }
