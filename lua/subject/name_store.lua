-- Writes into Redis which ledger and which store it belongs to, unless the name has changed meanwhile.
--
-- KEYS  1 the name: '<ledger id>', '<ledger id> <store id>' or '<ledger id> <store id> adopting'
-- ARGV  1 name that the caller saw, '' for none  2 name to write
-- Reply {'ok'} the key has the new name | {'other'} the key has another name: nothing was written
-- Invariants: a compare-and-set; a repeat changes nothing. It runs when memory is full, because it precedes every other
-- script.
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
