-- Ends room for a transfer that nobody uses. The caller has seen, after the room was old enough, that the other jackpot
-- has not given these parts, or that they are in.
--
-- KEYS  1 state  2 adjustments  3 events  4.. pool of each tier, in the definition's order
-- ARGV  1..4 fence (state.lua)  5 the jackpot that would give  6 transfer id
--       7 digest in the room's name, with its number (rooms.lua)
-- Reply {'unknown'} | {'behind' | 'restoring' | 'stale', mark}
--       {'ok', mark} it has ended | {'same', mark} it had ended, or there is none | {'early', mark} somebody may use it
-- Invariants: each room ends once. No money moves. Runs in every status, and when memory is full.
-- Cost: O(tiers).
-- needs: state tiers transfer_parts rooms event/release

local state, ended = fenced_state(KEYS[1])
if not state then
  return ended
end
local source, transfer_id, digest = ARGV[5], ARGV[6], ARGV[7]
local name = source .. '!' .. transfer_id .. '!' .. digest
local kept = redis.call('HMGET', KEYS[2], '!room!' .. name, '!free!' .. name, '!in!' .. source .. '!' .. transfer_id)
if not kept[1] or kept[2] then
  return { 'same', mark(state) }
end
local made = must(read_adjustment(kept[1]), 'JP_DAMAGED transfer')
-- An earlier version took the first room for the parts that came in, and wrote no record of that.
local came = kept[3] and must(read_adjustment(kept[3]), 'JP_DAMAGED transfer')
if came and came.digest == made.digest and not string.find(digest, '!', 1, true) then
  return { 'same', mark(state) }
end
local at = now_ms()
if at - must(exact(made.at_ms), 'JP_DAMAGED transfer') < ROOM_MS then
  return { 'early', mark(state) }
end

local tiers, meters = read_tiers(state, state.tiers, 4), {}
for _, part in ipairs(read_parts(made.digest, 'JP_DAMAGED transfer')) do
  local tier = must(tier_named(tiers, part.to_tier), 'JP_DAMAGED transfer')
  local moved = moved_row(state, tier.name)
  local was = moved_before(moved)
  local room = room_of(part)
  tier.funded, moved.expected = tier.funded - room, moved.expected - room
  meters[#meters + 1] = changes(state, { tier }) .. moved_changes(moved, was)
end
append_release(KEYS[3], state, at, {
  transfer = transfer_id,
  from = source,
  digest = digest,
  parts = made.digest,
  meters = table.concat(meters),
  applied = '',
})
redis.call('HSET', KEYS[2], '!free!' .. name, adjustment_text('unused', num(at)))
write_state(KEYS[1], state)
return { 'ok', mark(state) }
