-- Changes one meter for an operator (fund, correct), or moves money between two meters of a tier. An adjustment id
-- works once. What takes money out may need a second owner (two_owners.lua): then it waits, and another call of this
-- script makes it when that owner approves it.
--
-- KEYS  1 state  2 adjustments  3 events  4.. pool of each tier, in the definition's order
-- ARGV  1..4 fence (state.lua)  5 named values (lua/subject/named.lua): adjustment (its id), reason, who, request_id,
--         owner of the key, and
--         approves: '1' makes what waits, whose content is in its record; '0' what these say:
--         digest of the content, tier, from and to: pool | reserve | overflow, '' for outside the jackpot; amount, 1 to
--         2^53-1, minor units
-- Reply {'unknown'} | {'behind' | 'restoring' | 'stale', mark}
--       with values (adjust_reply): {'ok', mark, ...} done | {'same', mark, ...} done before
--         {'held', mark, ...} it waits, by this call | {'waits', mark, ...} by an earlier one
--         {'withdrawn', mark, ...} it waited, and stays undone for good
--         {'below-zero', mark, ...} the meter holds less | {'above-cap', mark, ...}
--       {'reused', mark} the id was used with another content
--       {'must-hit', mark} it would raise the pool above what an open amount cycle allows (`guarded_to` in cycles.lua)
--       {'too-large', mark} past 2^53-1 | {'no-tier', mark}
--       of an approval: {'no-adjustment', mark} | {'not-held', mark} it was made without one
--         {'same-owner', mark} by the owner who asked
-- Invariants: a meter is never below 0, and no adjustment raises a pool above its cap. `funded` counts money that
-- enters or leaves the jackpot. A move does not change it. What waits has changed no meter.
-- Cost: O(tiers); of what takes money out also O(MAX_TOOK).
-- needs: state subject/named tiers two_owners event/ask event/adjust adjust_reply

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local refusal = fence(state)
local wish = named(ARGV[5])
local adjustment_id, owner, approves = wish.adjustment, wish.owner, wish.approves == '1'
local held_name, withdrawn_name = '!held!' .. adjustment_id, '!withdrawn!' .. adjustment_id
local known = known_leaving(KEYS[2], adjustment_id, held_name, withdrawn_name)
local done = known.done and must(read_adjustment(known.done), 'JP_DAMAGED adjustment')
local waiting = known.waiting
if done or waiting then
  if not approves and (waiting or done).digest ~= wish.digest then
    return { 'reused', mark(state) }
  end
  if approves and not waiting then
    return { 'not-held', mark(state) }
  end
  if done or known.withdrawn then
    return adjusted_reply(done and 'same' or 'withdrawn', mark(state), { at_ms = (done or known.record).at_ms })
  end
  if not approves then
    return adjusted_reply('waits', mark(state), { at_ms = known.record.at_ms })
  end
elseif approves then
  return { 'no-adjustment', mark(state) }
end
if refusal then
  return { refusal, mark(state) }
end

if approves then
  if waiting.owner == owner then
    return { 'same-owner', mark(state) }
  end
  local tier_name, from = string.match(waiting.what, '^([^,]+),(%l+)$')
  must(from, 'JP_DAMAGED adjustment')
  wish.digest, wish.amount, wish.tier, wish.from, wish.to = waiting.digest, waiting.amount, tier_name, from, ''
end
local tiers, from, to = read_tiers(state, state.tiers, 4), wish.from, wish.to
local tier = tier_named(tiers, wish.tier)
if not tier then
  return { 'no-tier', mark(state) }
end
local amount = must(exact(wish.amount), 'JP_ARGUMENT amount')
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
local took = from ~= '' and to == '' and not approves and took_rows(KEYS[1], at)
if took and needs_two(KEYS[1], took, owner, amount) then
  local what = tier.name .. ',' .. from
  local own = { transfer = '', to = '-', what = what, meters = '', applied = '' }
  append_ask(KEYS[3], state, at, values_of(wish, own))
  local record = held_text(wish.digest, owner, num(amount), '-', what)
  redis.call('HSET', KEYS[2], held_name, adjustment_text(record, num(at)))
  redis.call('HSET', KEYS[1], 'n', num(state.n))
  return adjusted_reply('held', mark(state), { at_ms = num(at) })
end
local own = { asked = approves and waiting.owner or '', meters = changes(state, tiers), applied = '' }
append_adjust(KEYS[3], state, at, values_of(wish, own))
write_pools(tiers)
redis.call('HSET', KEYS[2], adjustment_id, adjustment_text(wish.digest, num(at)))
if took then
  write_took(KEYS[1], took, owner, at, amount)
end
write_state(KEYS[1], state)
return adjusted_reply('ok', mark(state), { at_ms = num(at) })
