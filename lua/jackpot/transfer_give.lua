-- Gives all money of some tiers out, for another jackpot. The money is in transit from here on.
--
-- KEYS  1 state  2 pending  3 adjustments  4 events  5.. pool of each tier, in the definition's order
-- ARGV  1..4 fence (state.lua)  5 transfer id  6 digest of its content  7 the jackpot that it goes to
--       8 parts that the target expects (transfer.lua), '' to look only
--       9 reason  10 who  11 request id  12 prepared cycles (cycles.lua)  13 owner of the key
--       14 'approve': gives what waits, whose content is in its record (6 and 7 are ''); '' otherwise
--       15 'room' when the target has made room for the parts, '' otherwise
--       16 when the caller looked, ms of this clock (`at_ms` of a look), 0 for none
--       17.. of each part: tier; tier of the other jackpot
-- Reply {'unknown'} | {'behind' | 'restoring' | 'stale', mark}
--       with values (transfer_reply): {'ok', mark, ...} given | {'same', mark, ...} given before
--         {'held', mark, ...} it waits for a second owner (two_owners.lua), by this call | {'waits', mark, ...} by an
--         earlier one | {'withdrawn', mark, ...} it waited, and gives nothing any more
--         {'holds', mark, ...} nothing was given, because the tiers hold other parts than the target expects
--       {'reused', mark} the id was used with another content | {'no-tier', mark}
--       {'open' | 'suspended', mark} | {'pending', mark} entries have no outcome
--       {'too-large', mark} the tiers together hold more than 2^53-1, the largest amount that can be written
--       of an approval: {'no-transfer', mark} | {'not-held', mark} it was given without one
--         {'same-owner', mark} by the owner who asked | {'more', mark} the tiers hold more than was asked for
-- Invariants: only a paused or closed jackpot without pending entries gives, and each transfer id gives once. A tier
-- gives everything that it holds, to the millionth, and its open cycle ends without a take. The record of the transfer
-- is kept for ever, beside those of adjustments. What waits has moved nothing.
-- Runs when memory is full: the target's part needs that memory, and it comes first.
-- Cost: O(tiers + MAX_TOOK).
-- needs: state tiers exactly two_owners transfer event/ask event/give transfer_reply

local FIRST_PART = 17
local GIVE_MS = 4000 -- for how long after the look room is there for sure (rooms.lua)

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local refusal = fence(state)
local transfer_id, digest, to, owner, approves = ARGV[5], ARGV[6], ARGV[7], ARGV[13], ARGV[14] == 'approve'
local name, held_name = '!out!' .. transfer_id, '!held-out!' .. transfer_id
local known = known_leaving(KEYS[3], name, held_name, '!withdrawn-out!' .. transfer_id)
local waiting, done = known.waiting, nil
if known.done then
  local was = must(read_adjustment(known.done), 'JP_DAMAGED transfer')
  done = must(read_given(was.digest), 'JP_DAMAGED transfer')
end
if done or waiting then
  if not approves and (waiting or done).digest ~= digest then
    return { 'reused', mark(state) }
  end
  if approves and not waiting then
    return { 'not-held', mark(state) }
  end
  if done or known.withdrawn then
    return given_reply(done and 'same' or 'withdrawn', mark(state), { parts = done and done.parts or waiting.what })
  end
  if not approves then
    return given_reply('waits', mark(state), { parts = waiting.what })
  end
elseif approves then
  return { 'no-transfer', mark(state) }
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

local pairs_of_tiers = {}
if approves then
  if waiting.owner == owner then
    return { 'same-owner', mark(state) }
  end
  digest, to = waiting.digest, waiting.to
  for row in string.gmatch(waiting.what, '[^;]+') do
    local part = must(read_part(row), 'JP_DAMAGED transfer')
    pairs_of_tiers[#pairs_of_tiers + 1] = { part.tier, part.to_tier }
  end
else
  for first = FIRST_PART, #ARGV, 2 do
    pairs_of_tiers[#pairs_of_tiers + 1] = { ARGV[first], ARGV[first + 1] }
  end
end

-- Takes everything out of a tier, in memory. Returns the part, and its whole units.
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
  return text, units
end

local tiers = read_tiers(state, state.tiers, 5)
local given, texts, meters, leaves = {}, {}, {}, 0
for _, pair in ipairs(pairs_of_tiers) do
  local tier = tier_named(tiers, pair[1])
  if not tier then
    return { 'no-tier', mark(state) }
  end
  local moved = moved_row(state, tier.name)
  local was = moved_before(moved)
  local text, units = give(tier, pair[2])
  given[#given + 1], texts[#texts + 1], leaves = tier, text, leaves + units
  meters[#meters + 1] = changes(state, { tier }) .. moved_changes(moved, was)
end
if leaves > MAX then
  return { 'too-large', mark(state) }
end
if approves and leaves > must(exact(waiting.amount), 'JP_DAMAGED transfer') then
  return { 'more', mark(state) }
end
local at, parts = now_ms(), table.concat(texts)
local took = not approves and took_rows(KEYS[1], at)
local waits = took and needs_two(KEYS[1], took, owner, leaves)
local has_room = ARGV[15] == 'room' and at - must(exact(ARGV[16]), 'JP_ARGUMENT at') < GIVE_MS
if parts ~= ARGV[8] or not (has_room or waits) then
  local hold = known_hold(KEYS[1]) or NOT_USED
  return holds_reply(mark(state), { parts = parts, waits = waits, limit = hold.above, at_ms = num(at) })
end
if waits then
  append_ask(KEYS[4], state, at, {
    adjustment = '',
    transfer = transfer_id,
    digest = digest,
    owner = owner,
    amount = num(leaves),
    to = to,
    what = parts,
    reason = ARGV[9],
    who = ARGV[10],
    request_id = ARGV[11],
    meters = '',
    applied = '',
  })
  local record = held_text(digest, owner, num(leaves), to, parts)
  redis.call('HSET', KEYS[3], held_name, adjustment_text(record, num(at)))
  redis.call('HSET', KEYS[1], 'n', num(state.n))
  return given_reply('held', mark(state), { parts = parts })
end

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
  owner = owner,
  asked = approves and waiting.owner or '',
  reason = ARGV[9],
  who = ARGV[10],
  request_id = ARGV[11],
  meters = table.concat(meters),
  applied = '',
  cycles = cycle_changes(state),
})
write_pools(tiers)
redis.call('HSET', KEYS[3], name, adjustment_text(given_text(digest, to, parts), num(at)))
if took then
  write_took(KEYS[1], took, owner, at, leaves)
end
write_state(KEYS[1], state)
return given_reply('ok', mark(state), { parts = parts })
