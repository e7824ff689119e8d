-- Begins to rebuild what has a stream from the ledger: takes away what Redis has of it, and stops all its scripts.
--
-- KEYS  1 state  2.. every other key of it; of a jackpot also the pool of each tier that any definition named
-- ARGV  1 token of this restore  2 mark of Redis as the caller saw it, '' for none
-- Reply {'ok', mark, now in ms} begun | {'changed', mark} Redis is not as the caller saw it: nothing was done
-- Invariants: one restore at a time: the newest token has it. One that was begun and not ended is taken over by any
-- other. What Redis had is gone after this, so the caller holds the stream's lease and has read all of it.
-- A state that no other script can read ('JP_DAMAGED') has the mark of the parts that can be read.
-- Cost: O(keys); their content is freed in the background.

local had = redis.call('HMGET', KEYS[1], 'n', 'restores', 'status', 'restore_from')
local exists = redis.call('EXISTS', KEYS[1]) == 1
local state = { n = exact(had[1]) or 0, restores = exact(had[2]) or 0 }
local taken_over = had[3] == 'restoring'
if not taken_over and ARGV[2] ~= (exists and mark(state) or '') then
  return { 'changed', mark(state) }
end
local from = taken_over and had[4] or (exists and num(state.n) or '')
redis.call('UNLINK', unpack(KEYS))
redis.call(
  'HSET',
  KEYS[1],
  'status',
  'restoring',
  'n',
  num(state.n),
  'restores',
  num(state.restores),
  'restore_token',
  ARGV[1],
  'restore_from',
  from
)
return { 'ok', mark(state), num(now_ms()) }
