-- Begins a restore from the ledger: deletes the subject's keys in Redis and makes all its other scripts refuse.
--
-- KEYS  1 state  2.. every other key of the subject; for a jackpot also the pool of each tier that any definition named
-- ARGV  1 token of this restore  2 mark of Redis as the caller saw it, '' for none
--       3 the last decision about the emergency stop, "order reason", '' for none: the subject obeys it from its
--         restore on, unless it has obeyed a later one
-- Reply {'ok', mark, ...} begun (restore_begin_reply)
--       {'changed', mark} Redis has another mark than the caller saw: nothing was done
-- Invariants: one restore runs at a time, and the newest token owns it. Any other restore may take over one that did
-- not end. The script deletes what Redis had, so the caller holds the stream's lease and has read all events.
-- If the state is damaged ('JP_DAMAGED' in other scripts), the mark uses the parts that can be read.
-- Cost: O(keys); Redis frees their content in the background.
-- needs: subject/restore_begin_reply

local had = redis.call('HMGET', KEYS[1], 'n', 'restores', 'status', 'restore_from', 'emergency')
-- The emergency stop may have marked a name without a subject.
local exists = redis.call('HLEN', KEYS[1]) > (had[5] and 1 or 0)
local state = { n = exact(had[1]) or 0, restores = exact(had[2]) or 0 }
local taken_over = had[3] == 'restoring'
if not taken_over and ARGV[2] ~= (exists and mark(state) or '') then
  return { 'changed', mark(state) }
end
local from = taken_over and had[4] or (exists and num(state.n) or '')
local decided = tonumber(string.match(ARGV[3], '^(%d+) ')) or 0
local emergency = decided > emergency_order(KEYS[1]) and ARGV[3] or had[5] or ''
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
if emergency ~= '' then
  redis.call('HSET', KEYS[1], 'emergency', emergency)
end
return begun_reply(mark(state), { at_ms = num(now_ms()) })
