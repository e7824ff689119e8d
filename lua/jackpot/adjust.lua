-- Changes one meter for an operator (fund, correct), or moves money between two meters of a tier. An adjustment id
-- works once.
--
-- KEYS  1 state  2 adjustments  3 events  4.. pool of each tier, in the definition's order
-- ARGV  1..4 fence (state.lua)  5 adjustment id  6 digest of its content  7 tier
--       8 from: meter or ''  9 to: meter or ''  (pool | reserve | overflow; '' is outside the jackpot)
--       10 amount, 1 to 2^53-1, minor units  11 reason  12 who  13 request id
-- Reply {'unknown'} | {'behind' | 'restoring' | 'stale', mark}
--       with values (adjust_reply.lua): {'ok', mark, ...} done | {'same', mark, ...} done before
--         {'below-zero', mark, ...} the meter holds less | {'above-cap', mark, ...}
--       {'reused', mark} the id was used with another content
--       {'must-hit', mark} it would raise the pool above what an open amount cycle allows (`guarded_to` in cycles.lua)
--       {'too-large', mark} past 2^53-1 | {'no-tier', mark}
-- Invariants: a meter is never below 0, and no adjustment raises a pool above its cap. `funded` counts money that
-- enters or leaves the jackpot. A move does not change it.
-- Cost: O(tiers).

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local refusal = fence(state)
local adjustment_id, digest = ARGV[5], ARGV[6]
local done = redis.call('HGET', KEYS[2], adjustment_id)
if done then
  local was = must(read_adjustment(done), 'JP_DAMAGED adjustment')
  if was.digest == digest then
    return adjusted_reply('same', mark(state), { at_ms = was.at_ms })
  end
  return { 'reused', mark(state) }
end
if refusal then
  return { refusal, mark(state) }
end

local tiers = read_tiers(state, state.tiers, 4)
local tier = tier_named(tiers, ARGV[7])
if not tier then
  return { 'no-tier', mark(state) }
end
local from, to, amount = ARGV[8], ARGV[9], must(exact(ARGV[10]), 'JP_ARGUMENT amount')
if from ~= '' then
  if tier[from] < amount then
    return below_reply(mark(state), { held = num(tier[from]) })
  end
  tier[from] = tier[from] - amount
else
  tier.funded = tier.funded + amount
end
if to ~= '' then
  tier[to] = tier[to] + amount
else
  tier.funded = tier.funded - amount
end
if tier.funded > MAX or tier.funded < -MAX or tier.contributed + math.max(tier.funded, 0) > MAX then
  return { 'too-large', mark(state) }
end
if to == 'pool' and tier.cap and tier.pool > tier.cap then
  return above_reply(mark(state), { cap = num(tier.cap) })
end

if to == 'pool' and tier.pool > guarded_to(state, tier.name) then
  return { 'must-hit', mark(state) }
end

local at = now_ms()
append_adjust(KEYS[3], state, at, {
  adjustment = adjustment_id,
  digest = digest,
  tier = tier.name,
  from = from,
  to = to,
  amount = num(amount),
  reason = ARGV[11],
  who = ARGV[12],
  request_id = ARGV[13],
  meters = changes(state, tiers),
  applied = '',
})
write_pools(tiers)
redis.call('HSET', KEYS[2], adjustment_id, adjustment_text(digest, num(at)))
write_state(KEYS[1], state)
return adjusted_reply('ok', mark(state), { at_ms = num(at) })
