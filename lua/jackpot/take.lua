-- The claim: GET, guard, DECRBY. `enter` uses it for the first claim of a drawn winner, in the same step as its entry,
-- and `claim` for a redraw. The GET is read_tiers, the DECRBY write_pools. Both are in the same call as this guard, so
-- no other winner comes between them.
-- needs: tiers claims

-- floor(pool * ppm / 1,000,000) within the exact integers of a double. fmod is exact. The division is exact too,
-- because its dividend is a multiple of a million.
local function share(pool, ppm)
  local low = math.fmod(pool, MICRO)
  return (pool - low) / MICRO * ppm + math.floor(low * ppm / MICRO)
end

-- Parses a prize: "tier kind value min", kind all | share (value in ppm) | fixed (value in minor units); min in minor
-- units.
local function parse_prize(text)
  local tier, kind, value, min = string.match(text, '^(%S+) (%S+) (%d+) (%d+)$')
  return { tier = tier, kind = kind, value = tonumber(value), min = tonumber(min) }
end

-- Takes the prize from its pool if the pool holds it. Returns the amount, or nil for retry, and the pool before. An
-- open cycle pins the tier's `min_payout`. After a take of all, the tier's cycle ends, the waiting definition comes
-- into force and the pool restarts at its seed. The seed comes from the reserve, then from the overflow. The overflow
-- also refills the pool up to the cap, and no further than `low` of a must-hit rule. `by`: what ends the tier's cycle,
-- `take` if missing.
local function take(state, tiers, prize, by)
  local tier = tier_named(tiers, prize.tier)
  local before = tier.pool
  local amount
  if prize.kind == 'fixed' then
    amount = prize.value
    if before < amount then
      return nil, before
    end
  else
    local pinned = pinning(state, prize.tier)
    amount = prize.kind == 'all' and before or share(before, prize.value)
    if amount < math.max(pinned and pinned.min or prize.min, 1) then
      return nil, before
    end
  end

  state.order = state.order + 1
  tier.pool = before - amount
  tier.paid = tier.paid + amount
  if prize.kind == 'all' then
    tier.wins = tier.wins + 1
    local moved = moved_row(state, tier.name)
    moved.took_wins, moved.took_sequence, moved.pool_reversed = tier.wins, state.seq, 0
    end_cycle(state, tier, by or 'take')
    if state.next ~= '' then
      apply_next(state, tiers, tier)
    end
    local from_reserve = math.min(tier.seed, tier.reserve)
    local from_overflow = math.min(tier.seed - from_reserve, tier.overflow)
    tier.pool = from_reserve + from_overflow
    tier.reserve = tier.reserve - from_reserve
    tier.overflow = tier.overflow - from_overflow
    local cycles = cycles_of(state)
    local rule = cycles and cycles.rules[tier.name]
    local ceiling = rule and rule.low or tier.cap
    local refill = ceiling and math.min(tier.overflow, math.max(ceiling - tier.pool, 0)) or tier.overflow
    tier.pool = tier.pool + refill
    tier.overflow = tier.overflow - refill
    if rule then
      begin_cycle(state, tier)
    end
  end
  return amount, before
end

-- A claim for the event, after `take`. `head`: from claim_head.
local function taken_claim(head, state, prize, amount, before)
  if amount then
    return paid_claim(head, prize.tier, num(amount), num(state.order), num(before))
  end
  return retry_claim(head, prize.tier, num(before))
end
