-- Takes one step of a tracked payout: approve, settle, fail, void-request, void or withdraw.
--
-- KEYS  1 state  2 steps  3 events  4.. pool of each tier, in the definition's order
-- ARGV  1..4 fence (state.lua)  5 named values (lua/subject/named.lua): those of the event `payout`, of which
--         `attempt_at` is '' for this step's own time; and
--         seen: number of the event up to which the caller has read the ledger
-- Reply {'unknown'} | {'behind' | 'restoring' | 'stale', mark}
--       {'later', mark, ...} (settle_reply) an event that the caller has not read took a step of this payout, or
--         used this settlement id: read the ledger up to it, and decide again
--       {'same-owner', mark} an approval by the owner who set the limit | {'too-large', mark} past 2^53-1
--       {'ok', mark} done
-- Invariants: the caller decides by the ledger, and the step is taken only where the ledger that it read has the last
-- step of the payout. The set `steps` has the numbers of the last events of payouts and settlement ids, and those of
-- the ledger's past are dropped; FLOOR is the highest number that was dropped. A void puts the amount into the overflow
-- of its tier and counts it as `voided`; `paid` stays. Runs in every status, and when memory is full: money waits.
-- Cost: O(tiers); once in MAX_STEPS steps O(MAX_STEPS).
-- needs: state subject/named tiers voided_rows limit event/payout settle_reply

local MAX_STEPS, FLOOR = 1000, '!floor'

local state, ended = fenced_state(KEYS[1])
if not state then
  return ended
end
local wish = named(ARGV[5])
local seen, step = must(exact(wish.seen), 'JP_ARGUMENT seen'), wish.step
local members = { 'p!' .. wish.payout }
if step == 'settle' or step == 'fail' then
  members[2] = 's!' .. wish.settlement
end

-- The number of the last event about one of these; 0 for none.
local function last_step(names)
  local last = 0
  for _, name in ipairs(names) do
    local n = redis.call('ZSCORE', KEYS[2], name)
    last = math.max(last, n and must(exact(n), 'JP_DAMAGED steps') or 0)
  end
  return last
end

local last = math.max(last_step(members), last_step({ FLOOR }))
if last > seen then
  return later_reply(mark(state), { n = num(last) })
end
if step == 'approve' then
  local hold = known_hold(KEYS[1])
  if hold and hold.owner == wish.owner then
    return { 'same-owner', mark(state) }
  end
end

-- Puts the amount into the overflow, in memory. Returns the changes for the event and the new field `voided`; nil when
-- a meter would pass MAX.
local function take_back()
  local amount = must(exact(wish.amount), 'JP_ARGUMENT amount')
  local tier = must(tier_named(read_tiers(state, state.tiers, 4), wish.tier), 'JP_ARGUMENT tier')
  local rows, names = voided_rows(KEYS[1])
  tier.overflow, tier.funded = tier.overflow + amount, tier.funded + amount
  if tier.contributed + math.max(tier.funded, 0) > MAX then
    return nil
  end
  if not rows[tier.name] then
    names[#names + 1] = tier.name
  end
  rows[tier.name] = (rows[tier.name] or 0) + amount
  local texts = {}
  for i, name in ipairs(names) do
    texts[i] = voided_text(name, num(rows[name]))
  end
  local voided = tier_changes_text(tier.name, meter_delta_text('voided', num(amount)))
  return changes(state, { tier }) .. voided, table.concat(texts)
end

local meters, voided = '', nil
if step == 'void' then
  meters, voided = take_back()
  if not meters then
    return { 'too-large', mark(state) }
  end
end

local at = now_ms()
local attempt_at = wish.attempt_at == '' and wish.attempt ~= '' and num(at) or wish.attempt_at
append_payout(KEYS[3], state, at, values_of(wish, { attempt_at = attempt_at, meters = meters, applied = '' }))
if voided then
  redis.call('HSET', KEYS[1], 'voided', voided)
end
write_state(KEYS[1], state)
for _, name in ipairs(members) do
  redis.call('ZADD', KEYS[2], num(state.n), name)
end
if redis.call('ZCARD', KEYS[2]) > MAX_STEPS then
  local dropped = redis.call('ZREVRANGEBYSCORE', KEYS[2], num(seen), '-inf', 'WITHSCORES', 'LIMIT', 0, 1)
  if dropped[2] then
    redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', num(seen))
    redis.call('ZADD', KEYS[2], dropped[2], FLOOR)
  end
end
return { 'ok', mark(state) }
