-- Takes entries: adds their contributions, numbers them, and makes the first claim of each entry that drew a pool or
-- fixed prize, in sequence. One entry or many. A repeated id, in Redis or earlier in this call, changes nothing.
--
-- The caller has drawn. It sends consecutive entries that drew nothing as one sum, a run. So the work is the winners
-- and the look-ups of ids.
--
-- KEYS  1 state  2 seen:a  3 seen:b  4 pending  5 events  6.. pool of each tier, in the definition's order
-- ARGV  1..4 fence (state.lua)
--       5 number of entries, 1 to 1,000  6 name of this call, different for every call; its record is ":<name>"
--         (call_record.lua)
--       7 block: "id player stake client_seed" a line, for the event
--       8 stakes of the entries with commas, '' when all add the same, for the record of the call
--       9 amounts (amount_row.lua), for the event and for the record of the call
--       10.. the segment (entering.lua). Its steps are one entry each, or a run. A winner has attempt 0 alone
--       then for each entry: id, ":<name> place fingerprint", its record if it ends up in a run; place from 1
-- Reply {'unknown'}                the jackpot does not exist
--       {'behind' | 'restoring', mark}  this Redis lost events, or a restore is running: nothing more was read
--       {code, mark, what was taken, what there is to say of some entries} (enter_reply.lua)
--         code: 'ok' | why the first '' was not taken: 'paused', 'suspended', 'closed', 'stale',
--           'too-large' (a meter would pass 2^53-1). The script does not try the entries after it: send them again.
-- Invariants: read, decide, then write. A refused entry leaves no trace. One event for all entries taken.
-- Cost: two HMGET of the ids and their HSET; O(steps) arithmetic, O(winners) claims; one XADD, one HSET of meters.

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local refusal = fence(state)
if state.status ~= 'open' then
  refusal = state.status
end

local FIRST_POOL = 6
local count, shared = tonumber(ARGV[5]), ':' .. ARGV[6]
local segment = read_segment(10, (#KEYS - FIRST_POOL + 1) * 4)
local first_entry = segment.next_arg

must(#ARGV == first_entry + 2 * count - 1 or nil, 'JP_ARGUMENT entries') -- HSET reads pairs from it

local ids, place_of, twice = {}, {}, false
for i = 1, count do
  local id = ARGV[first_entry + 2 * i - 2]
  ids[i] = id
  if place_of[id] then
    twice = true
  else
    place_of[id] = i
  end
end
ids[count + 1] = shared -- finds a record that has this name already
local seen_now, seen_before = KEYS[2], KEYS[3]
if state.gen == 'b' then
  seen_now, seen_before = KEYS[3], KEYS[2]
end
local current = redis.call('HMGET', seen_now, unpack(ids))
local older = redis.call('HMGET', seen_before, unpack(ids))

-- The texts of the reply: entries that are not taken, or that drew a prize.
local texts, repeats = {}, 0
for i = 1, count do
  if current[i] then
    texts[i], repeats = '=' .. whole_record(current[i], seen_now), repeats + 1
  elseif older[i] then
    texts[i], repeats = '=' .. whole_record(older[i], seen_before), repeats + 1
  elseif twice and place_of[ids[i]] ~= i then
    texts[i], repeats = '@' .. place_of[ids[i]], repeats + 1
  end
end
-- If another call has this name, each entry gets a record of its own.
local may_run = not (current[count + 1] or older[count + 1])

local call, tiers, at = begin_call(state), nil, nil
local missed, run_places, skipped = false, {}, {}

-- Takes entries by their row, in memory. Reads tiers and clock once there is an entry to take.
local function add(entries, row)
  if not tiers then
    tiers = read_tiers(state, state.tiers, FIRST_POOL)
    at = now_ms()
  end
  return add_entries(call, state, tiers, entries, row)
end

-- Takes one entry, in memory. Returns its text for the reply, nil if it drew nothing.
local function take_one(i, row, winner)
  local pools = add(1, row)
  if not pools then
    refusal = 'too-large'
    return ''
  end
  if winner == '' then
    local fingerprint = string.match(ARGV[first_entry + 2 * i - 1], '%S+$')
    keep_record(call, ids[i], entry_head(num(state.seq), state.epoch, call.version, fingerprint, pools))
    return nil
  end
  local record = settle(call, state, tiers, segment, call.version, at, ids[i], winner, pools)
  if state.applied then
    refusal = 'stale' -- the entries after it were drawn from the odds before this take
  end
  return '+' .. record
end

-- Takes a run by its sum if all its entries can be taken. Returns whether it did.
local function take_run(from, to, row)
  if refusal or not may_run then
    return false
  end
  if repeats > 0 then
    for i = from, to do
      if texts[i] then
        return false
      end
    end
  end
  if not add(to - from + 1, row) then
    return false
  end
  run_places[#run_places + 1] = { from, to }
  return true
end

local stakes, row_of_stake
-- The row of a single entry of a run.
local function own_row(i)
  if not row_of_stake then
    stakes, row_of_stake = {}, {}
    for stake in string.gmatch(ARGV[8], '%d+') do
      stakes[#stakes + 1] = stake
    end
    for text in string.gmatch(ARGV[9], '[^;]+') do
      local of_stake, row = must(read_amount_row(text), 'JP_ARGUMENT amounts'), {}
      for amount in string.gmatch(of_stake.amounts, '%d+') do
        row[#row + 1] = must(exact(amount), 'JP_ARGUMENT amount')
      end
      row_of_stake[of_stake.stake], row_of_stake.only = row, row
    end
  end
  return must(row_of_stake[stakes[i] or 'only'], 'JP_ARGUMENT amounts')
end

local i = 0
for s = segment.first_step, first_entry - 1, 3 do
  local entries, row = tonumber(ARGV[s]), row_of(segment, tonumber(ARGV[s + 1]))
  if entries > 1 and take_run(i + 1, i + entries, row) then
    i = i + entries
  else
    for _ = 1, entries do
      i = i + 1
      if not texts[i] then
        texts[i] = refusal and '' or take_one(i, entries == 1 and row or own_row(i), ARGV[s + 2])
      end
      if texts[i] and string.sub(texts[i], 1, 1) ~= '+' then
        skipped[#skipped + 1] = i
        missed = missed or texts[i] == ''
      end
    end
  end
end
must(i == count or nil, 'JP_ARGUMENT steps')

local runs = table.concat(call.runs)
if call.count > 0 then
  local skip = table.concat(skipped, ',')
  local skipped_places = skip == '' and '-' or skip
  local stakes_sent = ARGV[8] == '' and '-' or ARGV[8]
  local of_call =
    call_record_text(num(call.first), state.epoch, call.version, skipped_places, stakes_sent, ARGV[9], runs)
  append_entries(call, state, at, {
    meters = changes(state, tiers),
    block = ARGV[7],
    skip = skip,
    amounts = ARGV[9],
    call = #run_places > 0 and '1' or '',
  })
  write_pools(tiers)
  for _, run in ipairs(run_places) do
    redis.call('HSET', seen_now, unpack(ARGV, first_entry + 2 * run[1] - 2, first_entry + 2 * run[2] - 1))
  end
  if #run_places > 0 then
    redis.call('HSET', seen_now, shared, of_call)
  end
  if #call.records > 0 then
    redis.call('HSET', seen_now, unpack(call.records))
  end
  if #call.pendings > 0 then
    redis.call('ZADD', KEYS[4], unpack(call.pendings))
  end
  write_state(KEYS[1], state)
end

local reply = entered_reply(missed and refusal or 'ok', mark(state), { first = num(call.first), runs = runs })
for place = 1, next(texts) and count or 0 do
  if texts[place] then
    append_said(reply, { place = num(place), text = texts[place] })
  end
end
return reply
