-- Takes a batch of entries, all or none. The result is exactly that of its entries one after the other. The script adds
-- their contributions, numbers them, and settles each entry that drew a prize, in sequence, redraws included.
--
-- The caller has drawn everything. For each entry that drew a prize it sends the chain of attempts up to the one that
-- draws nothing: the first attempt of each rank, because a rank that refused once refuses again.
--
-- KEYS  1 state  2 seen:a  3 seen:b  4 pending  5 events  6.. pool of each tier of the first segment's
--       definition, in its order, then of the tiers that only the second segment has, in its order
-- ARGV  1..4 fence (state.lua)
--       5 the batch, packed (entering.lua), a list of:
--         batch id; its fingerprint; number of its entries, 1 to 10,000
--         block: what was sent a line, for the event
--         amounts (`amount_row`), for the event; "|" between two segments
--         number of segments, 1 or 2
--         then for each segment: stamp: "version digest" of the definition under which it was drawn, number of its
--           entries, and the segment. Its winners have `who` if they end up pending
--       6 prepared cycles (cycles.lua), '' for none
--       7 only for a batch with cancelled ids, none of whose cancels is for the source of its entry: what
--         `cancelled` said
-- Reply {'unknown'} | {'behind' | 'restoring', mark}
--       {'ok', mark, the batch, each winner} (batch_reply)  taken now or before
--       {'paused' | 'suspended' | 'closed' | 'stopped' | 'stale' | 'too-large', mark}  refused whole
--       {'too-many', mark}      refused whole: its entries make more claims than one call may
--       {'cycles', mark}        refused whole: more cycles may end in it than were prepared
--       {'too-many-takes', mark}  refused whole: more than 1,000 cycles end in it
--       {'split' | 'cancelled', mark, ...} (batch_reply)
-- Invariants: read, decide, then write. A refused batch leaves no trace. The script answers a repeat before any other
-- check. One event for the whole batch.
-- Cost: O(steps * tiers), one XADD, HSET and ZADD of the winners; and the copying of the block.
-- needs: state find_record write_batch batch replaced subject/sent entering

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local sent = unpack_sent(ARGV[5])
local batch_id, fingerprint, total, block, amounts, segment_count = unpack(sent, 2, 7)
local known, known_in, is_cancelled = find_record(state, KEYS[2], KEYS[3], batch_id .. ':')
if known then
  return batch_reply(state, known, known_in, batch_id)
end
local seen, seen_before = KEYS[2], KEYS[3]
if state.gen == 'b' then
  seen, seen_before = KEYS[3], KEYS[2]
end

-- The early cancels of its entries, a line "index record" each; and of the newer generation their names.
local function cancels()
  local ids, lines, newer = { batch_id .. ':' }, {}, {}
  for i = 1, total do
    ids[i + 1] = batch_id .. ':' .. i
  end
  call_in_parts(ids, function(from, to)
    local now, before =
      redis.call('HMGET', seen, unpack(ids, from, to)), redis.call('HMGET', seen_before, unpack(ids, from, to))
    for k = 1, to - from + 1 do
      local id, text = ids[from + k - 1], now[k] or before[k]
      newer[id] = now[k] and true or nil
      if text and from + k > 2 then
        lines[#lines + 1] = from + k - 2 .. ' ' .. text
      end
    end
  end)
  return table.concat(lines, '\n'), newer
end

local replaces = {} -- names of records of early cancels in the newer generation
if is_cancelled then
  local lines
  lines, replaces = cancels()
  if lines ~= '' and lines ~= ARGV[7] then
    return cancelled_reply(mark(state), { cancels = lines })
  end
end
local refusal = refused_by(state) or fence(state)
if refusal then
  return { refusal, mark(state) }
end

local FIRST_POOL = 6
local MAX_CLAIMS = 100000 -- some 0.2 s of Redis' time; a batch comes near it only if most prizes are refused
local at, call = now_ms(), begin_call(state)
local cycles = cycles_of(state)
state.at, state.prepared = at, cycles and read_prepared(ARGV[6])
local MAX_ENDED = 1000 -- cycles that one batch may end
local contributed = {} -- before the call, by tier

local function read_group(rows, first_pool)
  local group = read_tiers(state, rows, first_pool)
  for _, tier in ipairs(group) do
    contributed[tier.name] = tier.contributed
  end
  return group
end

local tiers = read_group(state.tiers, FIRST_POOL)
local groups = { tiers } -- the pools of a group are consecutive in KEYS
local winners, split = {}, ''

-- Takes the entries of a segment up to the index `last`, in memory. Returns the reply that ends the call, or nil.
local function enter(segment, last)
  local waiting, version = state.next ~= '', state.version
  for s = segment.first_step, segment.next - 1, 3 do
    local row, winner = segment.before_row + sent[s + 1] * segment.width, sent[s + 2]
    if cycles and not arm(call, state) then
      return { 'cycles', mark(state) }
    end
    local pools = add_entries(call, state, tiers, sent[s], sent, row)
    if not pools then
      return { 'too-large', mark(state) }
    end
    local id = batch_id .. ':' .. call.count
    local hit = cycles and due(call, state, tiers)
    if hit then
      winners[#winners + 1] = call.count
      give_hit(call, state, tiers, version, id, string.match(winner, '^[^|]+'), pools, hit)
    elseif string.find(winner, '|', 1, true) then
      winners[#winners + 1] = call.count
      settle(call, state, tiers, segment, version, at, id, winner, pools)
    end
    if (state.cycles_ended or 0) > MAX_ENDED then
      return { 'too-many-takes', mark(state) }
    end
    if #call.claims > MAX_CLAIMS then
      return { 'too-many', mark(state) }
    end
    -- The entries after this take must be drawn from the odds that it puts in force.
    local ends_here = segment_count == 2 and call.count == last
    if waiting and state.applied and call.count < total and not ends_here then
      return split_reply(mark(state), { index = call.count })
    end
    waiting = waiting and not state.applied
  end
  must(call.count == last or nil, 'JP_ARGUMENT steps')
  return nil
end

-- The tiers of the definition that came into force. Reads the tiers that it adds.
local function next_tiers()
  local added, ordered = {}, {}
  for _, row in ipairs(state.tiers) do
    if not tier_named(tiers, row[1]) then
      added[#added + 1] = row
    end
  end
  if #added > 0 then
    groups[2] = read_group(added, FIRST_POOL + #tiers)
  end
  for _, row in ipairs(state.tiers) do
    ordered[#ordered + 1] = tier_named(tiers, row[1]) or tier_named(groups[2], row[1])
  end
  return ordered
end

local next_place = 8
for s = 1, segment_count do
  if s == 2 then
    if not state.applied or sent[next_place] ~= state.version .. ' ' .. state.money then
      return { 'stale', mark(state) }
    end
    tiers, split = next_tiers(), num(call.count + 1)
  end
  local last = call.count + sent[next_place + 1]
  local segment = read_segment(sent, next_place + 2, #tiers * 4)
  local reply = enter(segment, last)
  if reply then
    return reply
  end
  next_place = segment.next
end
must(call.count == total or nil, 'JP_ARGUMENT entries')

local totals, meters = {}, {}
for t, tier in ipairs(tiers) do
  totals[t] = total_text(tier.name, num(tier.contributed - contributed[tier.name]), num(tier.pool))
end
for g, group in ipairs(groups) do
  meters[g] = changes(state, group)
end
local winner_list = #winners > 0 and table.concat(winners, ',') or '-'
local record =
  batch_record_text(num(call.first), num(total), fingerprint, state.epoch, table.concat(totals, ','), winner_list)

local function replace(name)
  if replaces[name] then
    call.over = (call.over or '') .. replaced_text(name)
  end
end
replace(batch_id .. ':')
for i = 1, #call.records, 2 do
  replace(call.records[i])
end
append_entries(call, state, at, table.concat(meters), block, '', amounts, '', batch_id, split, record)
for _, group in ipairs(groups) do
  write_pools(group)
end
redis.call('HSET', seen, batch_id .. ':', record)
call_in_parts(call.records, function(from, to)
  redis.call('HSET', seen, unpack(call.records, from, to))
end)
call_in_parts(call.pendings, function(from, to)
  redis.call('ZADD', KEYS[4], unpack(call.pendings, from, to))
end)
write_state(KEYS[1], state)

local reply = taken_reply(mark(state), { replayed = false, record = record })
for i = 2, #call.records, 2 do
  append_winner(reply, { record = call.records[i] })
end
return reply
