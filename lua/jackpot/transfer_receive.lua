-- Puts the money of a transfer into its tiers. The caller has seen in the ledger that the other jackpot has given it.
--
-- KEYS  1 state  2 adjustments  3 events  4.. pool of each tier, in the definition's order
-- ARGV  1..4 fence (state.lua)  5 the jackpot that gave  6 transfer id  7 digest of the parts  8 parts (`transfer`)
-- Reply {'unknown'} | {'behind' | 'restoring' | 'stale', mark}
--       {'ok', mark} done | {'same', mark} done before
--       {'too-large', mark} past 2^53-1: only when Redis has lost the room and a restore did not know it
-- Invariants: each transfer comes in once. A pool takes money up to its cap and up to what an open cycle by amount
-- allows (`guarded_to` in cycles.lua). The overflow takes the rest.
-- Runs in every status, during the emergency stop too, and when memory is full: the money is in transit until then.
-- Cost: O(tiers).
-- needs: state tiers transfer_parts rooms event/receive

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local refusal = fence(state)
local source, transfer_id, parts = ARGV[5], ARGV[6], ARGV[8]
local name = '!in!' .. source .. '!' .. transfer_id
local done = redis.call('HGET', KEYS[2], name)
if done then
  local was = must(read_adjustment(done), 'JP_DAMAGED transfer')
  must(was.digest == parts or nil, 'JP_DAMAGED transfer')
  return { 'same', mark(state) }
end
if refusal then
  return { refusal, mark(state) }
end
local room = rooms_of(KEYS[2], source, transfer_id, ARGV[7])[1]

-- Puts a part into a tier, in memory. Returns its changes, nil when a meter would pass MAX.
local function receive(tier, part)
  local moved = moved_row(state, tier.name)
  local was = moved_before(moved)
  if room then
    local units = room_of(part)
    tier.funded, moved.expected = tier.funded - units, moved.expected - units
  end
  local units, micro = money_of(part)
  tier.funded, moved.funded_micro = sum(tier.funded, moved.funded_micro, units, micro)
  moved.transferred_in, moved.transferred_in_micro = sum(moved.transferred_in, moved.transferred_in_micro, units, micro)
  if tier.contributed + math.max(tier.funded, 0) > MAX then
    return nil
  end
  local pool
  pool, tier.pool_micro = sum(part.pool, part.pool_micro, 0, tier.pool_micro)
  local most = math.min(tier.cap or math.huge, guarded_to(state, tier.name))
  local taken = math.min(pool, math.max(most - tier.pool, 0))
  tier.pool, tier.overflow = tier.pool + taken, tier.overflow + part.overflow + pool - taken
  tier.reserve, tier.reserve_micro = sum(tier.reserve, tier.reserve_micro, part.reserve, part.reserve_micro)
  return changes(state, { tier }) .. moved_changes(moved, was)
end

local tiers, meters = read_tiers(state, state.tiers, 4), {}
for _, part in ipairs(read_parts(parts, 'JP_ARGUMENT parts')) do
  local tier = must(tier_named(tiers, part.to_tier), 'JP_ARGUMENT tier')
  local changed = receive(tier, part)
  if not changed then
    return { 'too-large', mark(state) }
  end
  meters[#meters + 1] = changed
end

local at = now_ms()
append_receive(KEYS[3], state, at, {
  transfer = transfer_id,
  from = source,
  parts = parts,
  room = room and digest_in(room.name) or '',
  meters = table.concat(meters),
  applied = '',
})
write_pools(tiers)
redis.call('HSET', KEYS[2], name, adjustment_text(parts, num(at)))
if room then
  redis.call('HSET', KEYS[2], '!free!' .. room.name, adjustment_text('in', num(at)))
end
write_state(KEYS[1], state)
return { 'ok', mark(state) }
