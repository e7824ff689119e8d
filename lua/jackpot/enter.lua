-- Takes entries: adds their contributions, numbers them, and runs the first claim of each that drew a pool or
-- fixed prize, in sequence. One entry or many; a repeated id, in Redis or earlier in this call, changes nothing.
--
-- KEYS  1 state  2 meters  3 seen:a  4 seen:b  5 pending  6 events  7.. pool of each tier, in the definition's order
-- ARGV  1..4 fence (state.lua)
--       5 entries of this call, 1 to 1,000  6 rows of amounts, at least 1
--       7 block: these entries, encoded by the caller, for the event
--       8.. rows of (pool units, pool millionths, reserve units, reserve millionths) for each tier
--       then for each entry: id, fingerprint, row (from 1), prize
--         prize: '' drew nothing | "rank|who|tier kind value min" | "rank|who|" for one that is not money,
--         who: "player stake client_seed"
-- Reply {'unknown'}                there is no such jackpot
--       {'behind' | 'restoring', mark}  this Redis lost events, or is getting them back: nothing was read further
--       {code, mark, reply, ...}   one reply an entry: '+record' taken now, '=record' seen before, '' not taken
--         code 'ok' | why the first '' was not taken: 'paused', 'suspended', 'closed', 'stale', 'secret',
--         'too-large' (a meter would pass 2^53-1). Entries behind it are not tried: send them again.
-- Invariants: read, decide, then write; what is refused leaves no trace; one event for all that were taken.
-- Cost: two HMGET and one HSET of n fields, one HSET of meters, one XADD; O(n) small arithmetic, O(winners) claims.

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local refusal = fence(state)
if state.status ~= 'open' then
  refusal = state.status
end

local FIRST_POOL, FIRST_ROW = 7, 8
local tier_count = #KEYS - FIRST_POOL + 1
local count, rows = tonumber(ARGV[5]), tonumber(ARGV[6])
local first_entry = FIRST_ROW + rows * tier_count * 4

local ids = {}
for i = 1, count do
  ids[i] = ARGV[first_entry + (i - 1) * 4]
end
local seen_now, seen_before = KEYS[3], KEYS[4]
if state.gen == 'b' then
  seen_now, seen_before = KEYS[4], KEYS[3]
end
local current = redis.call('HMGET', seen_now, unpack(ids))
local older = redis.call('HMGET', seen_before, unpack(ids))

local tiers, amounts, at
local replies, taken_at, missed = {}, {}, false
local records, pendings, skipped, pools, claims = {}, {}, {}, {}, {}
local version, first_seq, stamp = state.version, state.seq + 1, ' ' .. state.epoch .. '.' .. state.version .. ' '

-- The tail of the record of one that drew a prize, after its claim if it is for money; and whether it is pending.
local function settle(prize_text)
  local rank, who, money = string.match(prize_text, '^(%d+)|([^|]+)|(.*)$')
  local seq = num(state.seq)
  if money == '' then
    claims[#claims + 1] = seq .. ',0,' .. rank .. ',later,-,0,0,0;'
    return ' p - ' .. num(at) .. ' ' .. who, true
  end
  local prize = parse_prize(money)
  local amount, before = take(state, tiers, prize)
  claims[#claims + 1] = claim_text(seq, '0', rank, prize, amount, state, before)
  if amount then
    return paid_text('-', rank, prize, amount, state), false
  end
  return ' p ' .. rank .. 'r ' .. num(at) .. ' ' .. who, true
end

-- Takes one entry, in memory, and returns its record; nil and the reason in `refusal` when it does not fit.
local function enter(id, fingerprint, row, prize_text)
  local from = FIRST_ROW + (row - 1) * tier_count * 4
  for t, tier in ipairs(tiers) do
    local a = from + (t - 1) * 4
    if not fits(tier, amounts[a], amounts[a + 1], amounts[a + 2], amounts[a + 3]) then
      refusal = 'too-large'
      return nil
    end
  end
  state.seq = state.seq + 1
  local parts = {}
  for t, tier in ipairs(tiers) do
    local a = from + (t - 1) * 4
    local amount = accrue(tier, amounts[a], amounts[a + 1], amounts[a + 2], amounts[a + 3])
    parts[t] = num(tier.pool) .. '+' .. num(amount)
  end
  local text = table.concat(parts, ',')
  pools[#pools + 1] = text
  local record = num(state.seq) .. stamp .. fingerprint .. ' ' .. text
  if prize_text ~= '' then
    local tail, pending = settle(prize_text)
    record = record .. tail
    if pending then
      pendings[#pendings + 1] = num(state.seq)
      pendings[#pendings + 1] = id
    end
    if state.applied then
      refusal = 'stale' -- those behind it drew from the odds that were in force before this take
    end
  end
  records[#records + 1] = id
  records[#records + 1] = record
  return record
end

for i = 1, count do
  local id, seen = ids[i], current[i] or older[i]
  if seen then
    replies[i] = '=' .. seen
  elseif taken_at[id] then
    replies[i] = '=' .. string.sub(replies[taken_at[id]], 2)
  elseif refusal then
    replies[i] = ''
  else
    if not tiers then
      tiers = read_tiers(state.tiers, KEYS[2], FIRST_POOL)
      at = now_ms()
      amounts = {}
      for a = FIRST_ROW, first_entry - 1 do
        amounts[a] = must(exact(ARGV[a]), 'JP_ARGUMENT amount')
      end
    end
    local arg = first_entry + (i - 1) * 4
    local record = enter(id, ARGV[arg + 1], tonumber(ARGV[arg + 2]), ARGV[arg + 3])
    replies[i] = record and '+' .. record or ''
    taken_at[id] = record and i
  end
  if string.sub(replies[i], 1, 1) ~= '+' then
    skipped[#skipped + 1] = i
    missed = missed or replies[i] == ''
  end
end

if #records > 0 then
  if #pendings > 0 then
    redis.call('ZCARD', KEYS[5]) -- its type, before the first write
  end
  append_event(KEYS[6], state, at, 'enter', {
    'epoch',
    state.epoch,
    'version',
    version,
    'first',
    num(first_seq),
    'count',
    num(#records / 2),
    'block',
    ARGV[7],
    'skip',
    table.concat(skipped, ','),
    'pools',
    table.concat(pools, ';'),
    'claims',
    table.concat(claims),
    'meters',
    changes(tiers),
    'applied',
    state.applied or '',
  })
  write_tiers(tiers, KEYS[2])
  redis.call('HSET', seen_now, unpack(records))
  if #pendings > 0 then
    redis.call('ZADD', KEYS[5], unpack(pendings))
  end
  write_state(KEYS[1], state)
end
return { missed and refusal or 'ok', mark(state), unpack(replies) }
