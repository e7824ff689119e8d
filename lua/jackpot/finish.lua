-- Ends a pending entry with no prize: its last draw gave nothing, or it has no redraw left.
--
-- KEYS  1 state  2 seen:a  3 seen:b  4 pending  5 events  6.. pool of each tier, in the definition's order
-- ARGV  1..4 fence (state.lua)  5 entry id  6 the last attempt made  7 prepared cycles (cycles.lua)
-- Reply {'unknown'} | {'behind' | 'restoring' | 'stale', mark} | {'missing', mark} no record of this entry
--       {'ok', mark, ...} (settled_reply): ended now, or it had its outcome before
-- Invariants: an outcome never changes. Runs in every status and when memory is full, because it finishes a pending
-- entry.
-- Cost: O(tiers).
-- needs: state find_record read_pending pending_record event/finish settled_reply

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local refusal = fence(state)
if refusal then
  return { refusal, mark(state) }
end
local entry_id = ARGV[5]
local text, seen = find_record(state, KEYS[2], KEYS[3], entry_id)
if not text then
  return { 'missing', mark(state) }
end
local pending = read_pending_entry(text)
if not pending then
  return settled_reply(mark(state), { done_now = false, record = text })
end

redis.call('ZCARD', KEYS[4]) -- checks the key's type before the first write
-- Pools decide here only if a definition comes into force. Otherwise a pool changed by hand must not delay an outcome.
local tiers = read_tiers(state, state.tiers, 6, nil, state.next == '')
local at = now_ms()
refusal = prepare(state, ARGV[7], at)
if refusal then
  return { refusal, mark(state) }
end
apply_when_settled(state, tiers, KEYS[4])
local record = ended_entry(pending.head, pending.refusals)
append_finish(KEYS[5], state, at, {
  entry = entry_id,
  seq = pending.sequence,
  attempt = ARGV[6],
  meters = changes(state, tiers),
  applied = state.applied or '',
  cycles = cycle_changes(state),
})
write_pools(tiers)
redis.call('HSET', seen, entry_id, record)
redis.call('ZREM', KEYS[4], entry_id)
write_state(KEYS[1], state)
return settled_reply(mark(state), { done_now = true, record = record })
