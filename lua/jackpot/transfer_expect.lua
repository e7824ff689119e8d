-- Makes room for a transfer, before the other jackpot gives its money: from here on entries and operators
-- can't use it.
--
-- KEYS  1 state  2 adjustments  3 events  4.. pool of each tier, in the definition's order
-- ARGV  1..4 fence (state.lua)  5 named values (lua/subject/named.lua): transfer (its id), reason, who, request_id, and
--         of the jackpot that gives: from (its id), currency, limit: the amount from which on its money needs a second
--         owner, '-' for none
--         digest of the parts; parts (`transfer`); looks: '1' checks all, and makes no room
-- Reply {'unknown'} | {'behind' | 'restoring' | 'stale', mark}
--       {'ok', mark} there is room | {'same', mark} it was made before
--       {'weaker', mark} here less money needs a second owner: payouts are not tracked, or the amount is none or higher
--       {'closed', mark} | {'currency', mark} | {'no-tier', mark} | {'too-large', mark} past 2^53-1
-- Invariants: calls that come soon after one another share the room for the same parts. It counts as funded and as
-- expected, so conservation holds, and every script keeps it free. Millionths take a whole unit. Room that is not used
-- ends (rooms.lua, transfer_release.lua).
-- Cost: O(tiers + rooms for these parts).
-- needs: state subject/named tiers limit transfer_parts rooms event/expect

local CARRIED = 2 -- units that the remainders of pool and reserve can become

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local refusal = fence(state)
local wish = named(ARGV[5])
local source, transfer_id = wish.from, wish.transfer
if redis.call('HEXISTS', KEYS[2], '!in!' .. source .. '!' .. transfer_id) == 1 then
  return { 'same', mark(state) }
end
if wish.limit ~= '-' then
  local hold = known_hold(KEYS[1]) or NOT_USED
  local own = hold.settlement == 'tracked' and hold.above ~= '-' and must(exact(hold.above), 'JP_DAMAGED hold')
  if not own or own > must(exact(wish.limit), 'JP_ARGUMENT limit') then
    return { 'weaker', mark(state) }
  end
end
local at = now_ms()
local open, name = rooms_of(KEYS[2], source, transfer_id, wish.digest)
if #open > 0 and at - open[#open].at < ROOM_MS / 2 then
  return { 'same', mark(state) }
end
if refusal then
  return { refusal, mark(state) }
end
if state.status == 'closed' then
  return { 'closed', mark(state) }
end
if state.currency ~= wish.currency then
  return { 'currency', mark(state) }
end

local tiers, meters = read_tiers(state, state.tiers, 4), {}
for _, part in ipairs(read_parts(wish.parts, 'JP_ARGUMENT parts')) do
  local tier = tier_named(tiers, part.to_tier)
  if not tier then
    return { 'no-tier', mark(state) }
  end
  local moved = moved_row(state, tier.name)
  local was = moved_before(moved)
  local room = room_of(part)
  tier.funded, moved.expected = tier.funded + room, moved.expected + room
  if tier.contributed + math.max(tier.funded, 0) > MAX - CARRIED then
    return { 'too-large', mark(state) }
  end
  meters[#meters + 1] = changes(state, { tier }) .. moved_changes(moved, was)
end

if wish.looks == '1' then
  return { 'ok', mark(state) }
end
local own = { digest = digest_in(name), meters = table.concat(meters), applied = '' }
append_expect(KEYS[3], state, at, values_of(wish, own))
redis.call('HSET', KEYS[2], '!room!' .. name, adjustment_text(wish.parts, num(at)))
write_state(KEYS[1], state)
return { 'ok', mark(state) }
