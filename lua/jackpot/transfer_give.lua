-- Gives all money of some tiers out, for another jackpot. The money is in transit from here on.
--
-- KEYS  1 state  2 pending  3 adjustments  4 events  5.. pool of each tier, in the definition's order
-- ARGV  1..4 fence (state.lua)  5 transfer id  6 digest of its content  7 the jackpot that it goes to
--       8 parts that the target expects (transfer.lua), '' to look only
--       9 reason  10 who  11 request id  12 prepared cycles (cycles.lua)
--       13.. of each part: tier; tier of the other jackpot
-- Reply {'unknown'} | {'behind' | 'restoring' | 'stale', mark}
--       with values (transfer_reply.lua): {'ok', mark, ...} given | {'same', mark, ...} given before
--         {'holds', mark, ...} nothing was given, because the tiers hold other parts than the target expects
--       {'reused', mark} the id was used with another content | {'no-tier', mark}
--       {'open' | 'suspended', mark} | {'pending', mark} entries have no outcome
-- Invariants: only a paused or closed jackpot without pending entries gives, and each transfer id gives once. A tier
-- gives everything that it holds, to the millionth, and its open cycle ends without a take. The record of the transfer
-- is kept for ever, beside those of adjustments.
-- Runs when memory is full: the target's part needs that memory, and it comes first.
-- Cost: O(tiers).

local FIRST_PART = 13

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local refusal = fence(state)
local transfer_id, digest, to = ARGV[5], ARGV[6], ARGV[7]
local name = '!out!' .. transfer_id
local done = redis.call('HGET', KEYS[3], name)
if done then
  local was = must(read_adjustment(done), 'JP_DAMAGED transfer')
  local given = must(read_given(was.digest), 'JP_DAMAGED transfer')
  if given.digest == digest then
    return given_reply('same', mark(state), { parts = given.parts })
  end
  return { 'reused', mark(state) }
end
if refusal then
  return { refusal, mark(state) }
end
if state.status ~= 'paused' and state.status ~= 'closed' then
  return { state.status, mark(state) }
end
if redis.call('ZCARD', KEYS[2]) > 0 then
  return { 'pending', mark(state) }
end

-- Takes everything out of a tier, in memory. Returns the part.
local function give(tier, to_tier)
  local text = part_text(
    tier.name,
    to_tier,
    num(tier.pool),
    num(tier.pool_micro),
    num(tier.reserve),
    num(tier.reserve_micro),
    num(tier.overflow)
  )
  local moved = moved_row(state, tier.name)
  local units, micro = sum(tier.pool + tier.overflow, tier.pool_micro, tier.reserve, tier.reserve_micro)
  moved.transferred_out, moved.transferred_out_micro =
    sum(moved.transferred_out, moved.transferred_out_micro, units, micro)
  tier.pool, tier.pool_micro, tier.reserve, tier.reserve_micro, tier.overflow = 0, 0, 0, 0, 0
  return text
end

local tiers = read_tiers(state, state.tiers, 5)
local given, texts, meters = {}, {}, {}
for first = FIRST_PART, #ARGV, 2 do
  local tier = tier_named(tiers, ARGV[first])
  if not tier then
    return { 'no-tier', mark(state) }
  end
  local moved = moved_row(state, tier.name)
  local was = moved_before(moved)
  given[#given + 1], texts[#texts + 1] = tier, give(tier, ARGV[first + 1])
  meters[#meters + 1] = changes(state, { tier }) .. moved_changes(moved, was)
end
local parts = table.concat(texts)
if parts ~= ARGV[8] then
  return given_reply('holds', mark(state), { parts = parts })
end

local at = now_ms()
local lacking = state.status ~= 'closed' and prepare(state, ARGV[12], at)
if lacking then
  return { lacking, mark(state) }
end
for _, tier in ipairs(given) do
  leave_cycle(state, tier)
end
append_give(KEYS[4], state, at, {
  transfer = transfer_id,
  digest = digest,
  to = to,
  parts = parts,
  reason = ARGV[9],
  who = ARGV[10],
  request_id = ARGV[11],
  meters = table.concat(meters),
  applied = '',
  cycles = cycle_changes(state),
})
write_pools(tiers)
redis.call('HSET', KEYS[3], name, adjustment_text(given_text(digest, to, parts), num(at)))
write_state(KEYS[1], state)
return given_reply('ok', mark(state), { parts = parts })
