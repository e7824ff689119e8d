-- Records for a pending entry how a coupon's script answered the request for a unit.
--
-- KEYS  1 state  2 seen:a  3 seen:b  4 pending  5 events  6.. pool of each tier, in the definition's order
-- ARGV  1..4 fence (state.lua)  5 entry id  6 attempt  7 rank  8 coupon id
--       9 issued | out-of-stock | already-issued | not-open  10 sequence of the issue, 11 its code; both '' for none
--       12 prepared cycles (cycles.lua)
-- Reply {'unknown'} | {'behind' | 'restoring' | 'stale', mark}
--       {'missing', mark}             no record of this entry
--       {'ok', mark, ...} (settled_reply): done now, the entry has its coupon or is still pending with one more
--         refusal; or done before
-- Invariants: the coupon decides, once for each entry and coupon. This script only records; a repeat records nothing.
-- Runs in every status and when memory is full, because a drawn prize is owed.
-- Cost: O(tiers).
-- needs: state find_record read_pending claims pending_record event/claim settled_reply

local LETTERS = { ['out-of-stock'] = 'o', ['already-issued'] = 'a', ['not-open'] = 'n' }

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local refusal = fence(state)
if refusal then
  return { refusal, mark(state) }
end
local entry_id, attempt, rank, coupon, answer = ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9]
local issued, letter = answer == 'issued', LETTERS[answer]
must(issued or letter, 'JP_ARGUMENT answer')
local text, seen = find_record(state, KEYS[2], KEYS[3], entry_id)
if not text then
  return { 'missing', mark(state) }
end
local pending = read_pending_entry(text)
if not pending or has_refused(pending, rank) then
  return settled_reply(mark(state), { done_now = false, record = text })
end

redis.call('ZCARD', KEYS[4]) -- checks the key's type before the first write
-- Pools decide here only if a definition comes into force. Otherwise a pool changed by hand must not delay an outcome.
local tiers = read_tiers(state, state.tiers, 6, nil, state.next == '')
local at = now_ms()
refusal = prepare(state, ARGV[12], at)
if refusal then
  return { refusal, mark(state) }
end
local answered = claim_head(pending.sequence, attempt, rank)
local record
if issued then
  record = issued_entry(pending.head, pending.refusals, rank, coupon, ARGV[10], ARGV[11])
  answered = issued_claim(answered, coupon, ARGV[10], ARGV[11])
  apply_when_settled(state, tiers, KEYS[4])
else
  record = refused_entry(pending, rank, letter)
  answered = refused_claim(answered, coupon, answer)
end

append_claim(KEYS[5], state, at, {
  entry = entry_id,
  claims = answered,
  meters = changes(state, tiers),
  applied = state.applied or '',
  cycles = cycle_changes(state),
})
write_pools(tiers)
redis.call('HSET', seen, entry_id, record)
if issued then
  redis.call('ZREM', KEYS[4], entry_id)
end
write_state(KEYS[1], state)
return settled_reply(mark(state), { done_now = true, record = record })
