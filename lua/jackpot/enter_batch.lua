-- Takes a batch of entries, all or none. The result is exactly that of its entries one after the other. The script adds
-- their contributions, numbers them, and settles each entry that drew a prize, in sequence, redraws included.
--
-- The caller has drawn everything. It sends runs of losers as one sum. For each entry that drew a prize it sends the
-- chain of attempts up to the one that draws nothing: the first attempt of each rank, because a rank that refused once
-- refuses again.
--
-- KEYS  1 state  2 meters  3 seen:a  4 seen:b  5 pending  6 events  7.. pool of each tier of the first segment's
--       definition, in its order, then of the tiers that only the second segment has, in its order
-- ARGV  1..4 fence (state.lua)  5 batch id  6 fingerprint  7 entries in all, 1 to 10,000  8 segments, 1 or 2
--       then for each segment:
--         stamp: "version digest" of the definition under which it was drawn  number of its entries
--         block: "player stake client_seed" a line  amounts: "stake=pu,pm,ru,rm/...;"  both for the event
--         prizes: "rank tier kind value min;" of the money prizes that its attempts name
--         number of rows of amounts  number of steps
--         rows of (pool units, pool millionths, reserve units, reserve millionths) for each tier
--         steps of (entries, row (from 1), winner): winner '' for a run of losers, whose row is their sum; or one entry
--           that drew a prize: "fingerprint|who|attempt rank;attempt rank;...". Rank 0 ends it with no prize. A rank
--           that is not in `prizes` leaves it pending. who: "player stake client_seed" for pending entries alone
-- Reply {'unknown'} | {'behind' | 'restoring', mark}
--       {'ok', mark, '+record' | '=record', winner record, ...}  taken now | taken before (batch.lua)
--       {'paused' | 'suspended' | 'closed' | 'stale' | 'too-large', mark}  refused whole
--       {'too-many', mark}      refused whole: its entries make more claims than one call may
--       {'split', mark, index}  the entry at this index (from 1) took all and put the waiting definition in force: draw
--         the entries after it under that definition, and send them as the second segment
-- Invariants: read, decide, then write. A refused batch leaves no trace. The script answers a repeat before any other
-- check. One event for each segment, in the same call.
-- Cost: O(steps * tiers), at most two XADD, HSET and ZADD of the winners; and the copying of the blocks.

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local batch_id, total, segment_count = ARGV[5], tonumber(ARGV[7]), tonumber(ARGV[8])
local known, known_in = find_record(state, KEYS[3], KEYS[4], batch_id .. ':')
if known then
  return batch_reply(state, known, known_in, batch_id)
end
local refusal = fence(state)
if state.status ~= 'open' then
  refusal = state.status
end
if refusal then
  return { refusal, mark(state) }
end

local FIRST_POOL = 7
local MAX_CLAIMS = 100000 -- some 0.2 s of Redis' time; a batch comes near it only if most prizes are refused
local at, first_seq = now_ms(), state.seq + 1
local tiers = read_tiers(state.tiers, KEYS[2], FIRST_POOL)
local groups = { tiers } -- the pools of a group are consecutive in KEYS
local index, next_arg, claim_count = 0, 9, 0
local events, winners, records, pendings = {}, {}, {}, {}

local function argument()
  next_arg = next_arg + 1
  return ARGV[next_arg - 1]
end

-- Makes the attempts of an entry that drew a prize, and adds its record and its claims. Returns whether it was paid.
local function settle(winner, pools, segment)
  local fingerprint, who, attempts = string.match(winner, '^([^|]+)|([^|]*)|(.+)$')
  local id, seq, refused, tail = batch_id .. ':' .. index, num(state.seq), {}, nil
  local claims, paid = segment.claims, false
  local function refusals()
    return #refused > 0 and table.concat(refused, ',') or '-'
  end
  for attempt, rank in string.gmatch(attempts, '(%d+) (%d+);') do
    local prize = segment.prizes[rank]
    if rank == '0' then
      claims[#claims + 1] = seq .. ',' .. attempt .. ',0,none,-,0,0,0;'
      tail = ' n ' .. refusals()
    elseif not prize then
      claims[#claims + 1] = seq .. ',' .. attempt .. ',' .. rank .. ',later,-,0,0,0;'
      tail = ' p ' .. refusals() .. ' ' .. num(at) .. ' ' .. who
      pendings[#pendings + 1] = seq
      pendings[#pendings + 1] = id
    else
      local amount, before = take(state, tiers, prize)
      claims[#claims + 1] = claim_text(seq, attempt, rank, prize, amount, state, before)
      if amount then
        paid, tail = true, paid_text(refusals(), rank, prize, amount, state)
      else
        refused[#refused + 1] = rank .. 'r'
      end
    end
    if tail then
      break
    end
  end
  must(tail, 'JP_ARGUMENT attempts')
  claim_count = claim_count + #refused + 1
  local stamp = ' ' .. state.epoch .. '.' .. segment.version .. ' '
  winners[#winners + 1] = index
  records[#records + 1] = id
  records[#records + 1] = seq .. stamp .. fingerprint .. ' ' .. pools .. tail
  return paid
end

-- Reads the head of a segment. Its tiers are the tiers of the definition in force.
local function read_segment(stamp)
  local segment = { stamp = stamp, version = state.version, first = state.seq + 1, from = index + 1 }
  segment.claims, segment.runs, segment.tiers, segment.rows, segment.prizes = {}, {}, {}, {}, {}
  segment.count = tonumber(argument())
  segment.block = argument()
  segment.amounts = argument()
  for rank, prize in string.gmatch(argument(), '(%d+) ([^;]+);') do
    segment.prizes[rank] = parse_prize(prize)
  end
  for t, tier in ipairs(tiers) do
    segment.tiers[t] = tier.name
  end
  local rows = tonumber(argument())
  segment.steps = tonumber(argument())
  segment.width, segment.first_row = #tiers * 4, next_arg
  next_arg = next_arg + rows * segment.width
  return segment
end

-- A row of amounts, read at its first use.
local function row_of(segment, i)
  local row = segment.rows[i]
  if not row then
    row = read_row(segment.first_row + (i - 1) * segment.width, segment.width)
    segment.rows[i] = row
  end
  return row
end

-- Takes the entries of a segment, in memory. Returns the reply that ends the call, or nil.
local function enter(segment)
  local waiting, run_begins = state.next ~= '', true
  for _ = 1, segment.steps do
    if run_begins then
      segment.runs[#segment.runs + 1] = run_text(tiers, index + 1)
    end
    local entries = tonumber(argument())
    local row = row_of(segment, tonumber(argument()))
    local winner = argument()
    index, state.seq = index + entries, state.seq + entries
    local pools = contribute(tiers, row)
    if not pools then
      return { 'too-large', mark(state) }
    end
    run_begins = winner ~= '' and settle(winner, pools, segment)
    if claim_count > MAX_CLAIMS then
      return { 'too-many', mark(state) }
    end
    -- The entries after this take must be drawn from the odds that it puts in force.
    local ends_here = segment_count == 2 and index == segment.from + segment.count - 1
    if waiting and state.applied then
      if index < total and not ends_here then
        return { 'split', mark(state), index }
      end
      segment.applied, waiting = state.applied, false
    end
  end
  must(index == segment.from + segment.count - 1 or nil, 'JP_ARGUMENT steps')
  segment.meters, segment.last = changes(tiers), state.seq
  return nil
end

-- The tiers of the definition that came into force. Reads the tiers that it adds. Changes are counted from here.
local function next_tiers()
  local added, ordered = {}, { by_name = {} }
  for name, seed, cap in rows_of(state.tiers) do
    if not tiers.by_name[name] then
      added[#added + 1] = name .. ' ' .. seed .. ' ' .. cap .. ';'
    end
  end
  if #added > 0 then
    groups[2] = read_tiers(table.concat(added), KEYS[2], FIRST_POOL + #tiers)
  end
  for name in rows_of(state.tiers) do
    local tier = tiers.by_name[name] or groups[2].by_name[name]
    ordered[#ordered + 1], ordered.by_name[name] = tier, tier
    tier.at_first, tier.was = tier.was, { pool = tier.pool }
    for _, field in ipairs(METERS) do
      tier.was[field] = tier[field]
    end
  end
  return ordered
end

for s = 1, segment_count do
  local stamp = argument()
  if s == 2 then
    if not events[1].applied or stamp ~= state.version .. ' ' .. state.money then
      return { 'stale', mark(state) }
    end
    tiers = next_tiers()
  end
  events[s] = read_segment(stamp)
  local reply = enter(events[s])
  if reply then
    return reply
  end
end
must(index == total or nil, 'JP_ARGUMENT entries')

local totals = {}
for t, tier in ipairs(tiers) do
  tier.was = tier.at_first or tier.was
  totals[t] = tier.name .. '+' .. num(tier.contributed - tier.was.contributed) .. '+' .. num(tier.pool)
end
local record = table.concat({
  num(first_seq),
  ARGV[7],
  ARGV[6],
  state.epoch,
  table.concat(totals, ','),
  #winners > 0 and table.concat(winners, ',') or '-',
}, ' ')

must(state.n + #events <= MAX_N or nil, 'JP_EVENTS no number is left')
if #pendings > 0 then
  redis.call('ZCARD', KEYS[5]) -- checks the key's type before the first write
end
for s, segment in ipairs(events) do
  state.seq = segment.last -- part of the event's id
  append_event(KEYS[6], state, at, 'enter', {
    'epoch',
    state.epoch,
    'version',
    segment.version,
    'first',
    num(segment.first),
    'count',
    num(segment.count),
    'block',
    segment.block,
    'claims',
    table.concat(segment.claims),
    'meters',
    segment.meters,
    'applied',
    segment.applied or '',
    'batch',
    batch_id,
    'from',
    num(segment.from),
    'amounts',
    segment.amounts,
    'tiers',
    table.concat(segment.tiers, ','),
    'runs',
    table.concat(segment.runs),
    'record',
    s == #events and record or '',
  })
end
for _, group in ipairs(groups) do
  write_tiers(group, KEYS[2])
end
local seen = state.gen == 'b' and KEYS[4] or KEYS[3]
redis.call('HSET', seen, batch_id .. ':', record)
call_in_parts(records, function(from, to)
  redis.call('HSET', seen, unpack(records, from, to))
end)
call_in_parts(pendings, function(from, to)
  redis.call('ZADD', KEYS[5], unpack(pendings, from, to))
end)
write_state(KEYS[1], state)

local out = { 'ok', mark(state), '+' .. record }
for i = 2, #records, 2 do
  out[#out + 1] = records[i]
end
return out
