-- Takes one step of a tracked payout: approve, settle, fail, void-request, void or withdraw.
--
-- KEYS  1 state  2 steps  3 events  4.. pool of each tier, in the definition's order
-- ARGV  1..4 fence (state.lua)  5 payout id  6 number of the event up to which the caller has read the ledger
--       7 step  8 state before it  9 state after it  10 tier  11 amount, minor units
--       the payout after the step, '' for none:  12 name of the key that approved it  13 owner of that key
--       14 how the last attempt ended  15 its settlement id  16 its text  17 its time, ms; '' for this step's own
--       18 owner who asked for a void
--       19 owner of the key that takes the step  20 reason  21 who  22 request id
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
-- needs: state tiers voided_rows limit event/payout settle_reply

local MAX_STEPS, FLOOR = 1000, '!floor'

local state, ended = fenced_state(KEYS[1])
if not state then
  return ended
end
local seen, step = must(exact(ARGV[6]), 'JP_ARGUMENT seen'), ARGV[7]
local members = { 'p!' .. ARGV[5] }
if step == 'settle' or step == 'fail' then
  members[2] = 's!' .. ARGV[15]
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
  if hold and hold.owner == ARGV[19] then
    return { 'same-owner', mark(state) }
  end
end

-- Puts the amount into the overflow, in memory. Returns the changes for the event and the new field `voided`; nil when
-- a meter would pass MAX.
local function take_back()
  local amount = must(exact(ARGV[11]), 'JP_ARGUMENT amount')
  local tier = must(tier_named(read_tiers(state, state.tiers, 4), ARGV[10]), 'JP_ARGUMENT tier')
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
append_payout(KEYS[3], state, at, {
  payout = ARGV[5],
  tier = ARGV[10],
  amount = ARGV[11],
  step = step,
  before = ARGV[8],
  after = ARGV[9],
  approved_by = ARGV[12],
  approver = ARGV[13],
  attempt = ARGV[14],
  settlement = ARGV[15],
  text = ARGV[16],
  attempt_at = ARGV[17] == '' and ARGV[14] ~= '' and num(at) or ARGV[17],
  asked = ARGV[18],
  owner = ARGV[19],
  reason = ARGV[20],
  who = ARGV[21],
  request_id = ARGV[22],
  meters = meters,
  applied = '',
})
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
