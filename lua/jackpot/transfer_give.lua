-- Gives all money of some tiers out, for another jackpot. The money is in transit from here on.
--
-- KEYS  1 state  2 pending  3 adjustments  4 events  5.. pool of each tier, in the definition's order
-- ARGV  1..4 fence (state.lua)  5 named values (lua/subject/named.lua): transfer (its id), reason, who, request_id,
--         owner of the key, and
--         approves: '1' gives what waits, whose content is in its record; '0' what these say:
--         digest of the content; to: the jackpot that it goes to; pairs: "tier its tier;" of each tier that gives
--         expected: parts that the target expects (`transfer`), '' to look only
--         room: '1' when the target has made room for the parts; looked: when the caller looked, ms of this clock
--         (`at_ms` of a look), 0 for none
--         prepared cycles (cycles.lua)
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
-- needs: state subject/named tiers exactly two_owners transfer event/ask event/give transfer_reply

local GIVE_MS = 4000 -- for how long after the look room is there for sure (rooms.lua)

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local refusal = fence(state)
local wish = named(ARGV[5])
local transfer_id, owner, approves = wish.transfer, wish.owner, wish.approves == '1'
local name, held_name = '!out!' .. transfer_id, '!held-out!' .. transfer_id
local known = known_leaving(KEYS[3], name, held_name, '!withdrawn-out!' .. transfer_id)
local waiting, done = known.waiting, nil
if known.done then
  local was = must(read_adjustment(known.done), 'JP_DAMAGED transfer')
  done = must(read_given(was.digest), 'JP_DAMAGED transfer')
end
if done or waiting then
  if not approves and (waiting or done).digest ~= wish.digest then
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
  wish.digest, wish.to = waiting.digest, waiting.to
  for row in string.gmatch(waiting.what, '[^;]+') do
    local part = must(read_part(row), 'JP_DAMAGED transfer')
    pairs_of_tiers[#pairs_of_tiers + 1] = { part.tier, part.to_tier }
  end
else
  for tier, to_tier in string.gmatch(wish.pairs, '(%S+) (%S+);') do
    pairs_of_tiers[#pairs_of_tiers + 1] = { tier, to_tier }
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
local has_room = wish.room == '1' and at - must(exact(wish.looked), 'JP_ARGUMENT looked') < GIVE_MS
if parts ~= wish.expected or not (has_room or waits) then
  local hold = known_hold(KEYS[1]) or NOT_USED
  return holds_reply(mark(state), { parts = parts, waits = waits, limit = hold.above, at_ms = num(at) })
end
if waits then
  local own = { adjustment = '', amount = num(leaves), what = parts, meters = '', applied = '' }
  append_ask(KEYS[4], state, at, values_of(wish, own))
  local record = held_text(wish.digest, owner, num(leaves), wish.to, parts)
  redis.call('HSET', KEYS[3], held_name, adjustment_text(record, num(at)))
  redis.call('HSET', KEYS[1], 'n', num(state.n))
  return given_reply('held', mark(state), { parts = parts })
end

local lacking = state.status ~= 'closed' and prepare(state, wish.prepared, at)
if lacking then
  return { lacking, mark(state) }
end
for _, tier in ipairs(given) do
  leave_cycle(state, tier)
end
local own = { parts = parts, asked = approves and waiting.owner or '', meters = table.concat(meters), applied = '' }
own.cycles = cycle_changes(state)
append_give(KEYS[4], state, at, values_of(wish, own))
write_pools(tiers)
redis.call('HSET', KEYS[3], name, adjustment_text(given_text(wish.digest, wish.to, parts), num(at)))
if took then
  write_took(KEYS[1], took, owner, at, leaves)
end
write_state(KEYS[1], state)
return given_reply('ok', mark(state), { parts = parts })
