-- Makes one claim of a redraw for a pending entry: takes the prize, or records that the rank refused (`retry`).
--
-- KEYS  1 state  2 seen:a  3 seen:b  4 pending  5 events  6.. pool of each tier, in the definition's order
-- ARGV  1..4 fence (state.lua)  5 entry id  6 attempt  7 rank  8 prize: "tier kind value min", as it was pinned
--       9 prepared cycles (cycles.lua)
-- Reply {'unknown'} | {'behind' | 'restoring' | 'stale', mark}
--       {'missing', mark}             no record of this entry
--       {'ok', mark, ...} (settled_reply): done now, paid or still pending with one more refusal; or done before
-- Invariants: a rank refuses an entry once and for ever, whatever the pool holds later. An entry is paid at most once.
-- Runs in every status and when memory is full, because a drawn prize is owed.
-- Cost: O(tiers).
-- needs: state find_record read_pending pending_record take event/claim settled_reply

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local refusal = fence(state)
if refusal then
  return { refusal, mark(state) }
end
local entry_id, attempt, rank = ARGV[5], ARGV[6], ARGV[7]
local text, seen = find_record(state, KEYS[2], KEYS[3], entry_id)
if not text then
  return { 'missing', mark(state) }
end
local pending = read_pending_entry(text)
if not pending or has_refused(pending, rank) then
  return settled_reply(mark(state), { done_now = false, record = text })
end

redis.call('ZCARD', KEYS[4]) -- checks the key's type before the first write
local tiers = read_tiers(state, state.tiers, 6)
local prize, at = parse_prize(ARGV[8]), now_ms()
refusal = prepare(state, ARGV[9], at)
if refusal then
  return { refusal, mark(state) }
end
local amount, before = take(state, tiers, prize)
local record
if amount then
  local order = num(state.order)
  record = paid_entry(pending.head, pending.refusals, rank, prize.tier, num(amount), order, state.history)
  apply_when_settled(state, tiers, KEYS[4])
else
  record = refused_entry(pending, rank, 'r')
end

append_claim(KEYS[5], state, at, {
  entry = entry_id,
  claims = taken_claim(claim_head(pending.sequence, attempt, rank), state, prize, amount, before),
  meters = changes(state, tiers),
  applied = state.applied or '',
  cycles = cycle_changes(state),
})
write_pools(tiers)
redis.call('HSET', seen, entry_id, record)
if amount then
  redis.call('ZREM', KEYS[4], entry_id)
end
write_state(KEYS[1], state)
return settled_reply(mark(state), { done_now = true, record = record })
