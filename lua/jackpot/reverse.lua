-- Takes the exact contribution of one entry back, because the game cancelled its round.
--
-- KEYS  1 state  2 seen:a  3 seen:b  4 events  5.. pool of each tier, in the definition's order
-- ARGV  1..4 fence (state.lua)  5 named values (lua/subject/named.lua): reversal (its id), reason, who, request_id,
--         reason_digest, and
--         of the entry: entry (its id), seq, entered: when it was taken, ms; within: for how long it can be reversed,
--         ms; stake; version of the definition that it entered under; source, '' for none
--         parts: "name units micro units micro;" of each tier of that definition: what the entry added to the pool,
--         minor units and millionths, and to the reserve
-- Reply {'unknown'} | {'behind' | 'restoring' | 'stale', mark}
--       {'ok' | 'same' | 'other', mark, ...} (reverse_reply)
--       {'reused', mark}  the id is that of another entry's reversal, or came with another reason
--       {'too-late', mark}  the time has passed  | {'too-large', mark}  past 2^53-1
-- Invariants: an entry is reversed once. Its number names the record, because its id may be used again for another
-- entry. The caller has found the entry's record under this fence, with no prize and not pending: such a record never
-- changes. A tier gives the pool's share out of pool, then overflow, and the reserve's share out of the reserve. When a
-- take of all came after the entry, or the tier holds less, the rest is uncovered, which counts as funded: so no meter
-- is below 0, and `contributed` stays. Runs in every status and when memory is full.
-- Cost: O(tiers).
-- needs: state subject/named tiers exactly reversal early_cancel event/reverse reverse_reply

local PART = '(%S+) (%S+) (%S+) (%S+) (%S+);'

-- Takes units and millionths from what is held. Returns what is left, and what was missing.
local function less(held, held_micro, units, micro)
  local left, left_micro = held - units, held_micro - micro
  if left_micro < 0 then
    left, left_micro = left - 1, left_micro + MICRO
  end
  if left >= 0 then
    return left, left_micro, 0, 0
  end
  local missing, missing_micro = units - held, micro - held_micro
  if missing_micro < 0 then
    missing, missing_micro = missing - 1, missing_micro + MICRO
  end
  return 0, 0, missing, missing_micro
end

local function whole(text)
  return must(exact(text), 'JP_ARGUMENT number')
end

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
-- Before the look-up: after a restore the number may be that of another entry.
local refusal = fence(state)
if refusal then
  return { refusal, mark(state) }
end
local wish = named(ARGV[5])
local reversal_id = wish.reversal
local name, use_name, use = '!' .. wish.seq, '~' .. reversal_id, reversal_use_text(wish.entry, wish.reason_digest)
local seen_now, seen_before = KEYS[2], KEYS[3]
if state.gen == 'b' then
  seen_now, seen_before = KEYS[3], KEYS[2]
end
local newer = redis.call('HMGET', seen_now, name, use_name)
local older = redis.call('HMGET', seen_before, name, use_name)
local used, done = newer[2] or older[2], newer[1] or older[1]
if used and used ~= use then
  return { 'reused', mark(state) }
end
if done then
  local was = must(read_reversal(done), 'JP_DAMAGED reversal')
  return reversed_reply(was.reversal_id == reversal_id and 'same' or 'other', mark(state), { record = done })
end
local at, sequence = now_ms(), whole(wish.seq)
if at - whole(wish.entered) > whole(wish.within) then
  return { 'too-late', mark(state) }
end

-- Takes a tier's part back, in memory. Returns it for the event, and the changes of the tier, nil when a meter would
-- pass MAX.
local function give_back(tier, pool, pool_micro, reserve, reserve_micro)
  local moved = moved_row(state, tier.name)
  -- A take of all that an older version of the service made has no sequence here: every entry so far came before it.
  local took = moved.took_wins == tier.wins and moved.took_sequence or state.seq
  local taken = tier.wins > 0 and sequence <= took
  local missing, missing_micro, from_pool = pool, pool_micro, 0
  if not taken then
    local held = tier.pool + tier.overflow
    local left, left_micro
    left, left_micro, missing, missing_micro = less(held, tier.pool_micro, pool, pool_micro)
    from_pool = math.min(tier.pool, held - left)
    tier.pool, tier.overflow = tier.pool - from_pool, tier.overflow - (held - left - from_pool)
    tier.pool_micro = left_micro
  end
  local short, short_micro
  tier.reserve, tier.reserve_micro, short, short_micro = less(tier.reserve, tier.reserve_micro, reserve, reserve_micro)
  local uncovered, uncovered_micro = sum(missing, missing_micro, short, short_micro)
  local amount, amount_micro = sum(pool, pool_micro, reserve, reserve_micro)

  local was = moved_before(moved)
  tier.funded, moved.funded_micro = sum(tier.funded, moved.funded_micro, uncovered, uncovered_micro)
  moved.reversed, moved.reversed_micro = sum(moved.reversed, moved.reversed_micro, amount, amount_micro)
  moved.pool_reversed = moved.pool_reversed + from_pool
  count_reversed(state, tier.name, from_pool)
  if tier.contributed + math.max(tier.funded, 0) > MAX then
    return nil
  end
  local text = reversed_tier_text(
    tier.name,
    num(amount),
    num(amount_micro),
    num(uncovered),
    num(uncovered_micro),
    taken and '1' or '0'
  )
  return text, changes(state, { tier }) .. moved_changes(moved, was)
end

local tiers = read_tiers(state, state.tiers, 5)
local reversed, meters = {}, {}
for name_of, pool, pool_micro, reserve, reserve_micro in string.gmatch(wish.parts, PART) do
  local tier = must(tier_named(tiers, name_of), 'JP_ARGUMENT tier')
  local text, changed = give_back(tier, whole(pool), whole(pool_micro), whole(reserve), whole(reserve_micro))
  if not text then
    return { 'too-large', mark(state) }
  end
  reversed[#reversed + 1], meters[#meters + 1] = text, changed
end
local text = table.concat(reversed)
local record = reversal_text(reversal_id, num(at), text)

local own = { reversed = text, used = not newer[2] and use or nil, meters = table.concat(meters), applied = '' }
own.cycles = cycle_changes(state)
append_reverse(KEYS[4], state, at, values_of(wish, own))
write_pools(tiers)
redis.call('HSET', seen_now, name, record, use_name, use)
write_state(KEYS[1], state)
return reversed_reply('ok', mark(state), { record = record })
