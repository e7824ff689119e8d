-- Takes entries: adds their contributions, numbers them, and makes the first claim of each entry that drew a pool or
-- fixed prize, in sequence. One entry or many. A repeated id, in Redis or earlier in this call, changes nothing.
--
-- The caller has drawn. It sends consecutive entries that drew nothing as one sum, a run. So the work is the winners
-- and the look-ups of ids.
--
-- KEYS  1 state  2 meters  3 seen:a  4 seen:b  5 pending  6 events  7.. pool of each tier, in the definition's order
-- ARGV  1..4 fence (state.lua)
--       5 number of entries, 1 to 1,000  6 name of this call, different for every call; its record is ":<name>"
--         (record.lua)
--       7 block: these entries, encoded by the caller, for the event
--       8 "rows of the entries|amounts", for the event and for the record of the call. rows: which row each entry adds,
--         "1,2,1,..." or '' when all add the first. amounts: the amounts of those rows, "pu,pm,ru,rm/...;" each
--       9 number of rows of amounts: rows of entries, then the sums of runs  10 number of steps
--       11.. rows of (pool units, pool millionths, reserve units, reserve millionths) for each tier
--       then the steps of (entries, row, prize): one entry with its own row, or a run, whose row is its sum
--         prize: '' drew nothing | "fingerprint|rank|who|tier kind value min" | "fingerprint|rank|who|" for a prize
--         that is not money; who: "player stake client_seed"
--       then for each entry: id, ":<name> place fingerprint", its record if it ends up in a run; place from 1
-- Reply {'unknown'}                the jackpot does not exist
--       {'behind' | 'restoring', mark}  this Redis lost events, or a restore is running: nothing more was read
--       {code, mark, first, runs, place, text, ...}
--         first: sequence of the first entry taken now. runs: where their runs begin (run.lua); the first entry taken
--           has index 1
--         place, text: for each entry except those taken now without a prize: '+record' taken now with a prize,
--           '=record' seen before, '@place' repeats the entry at this place of the call, '' not taken
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

local FIRST_POOL, FIRST_ROW = 7, 11
local width = (#KEYS - FIRST_POOL + 1) * 4
local count, call = tonumber(ARGV[5]), ':' .. ARGV[6]
local step_count = tonumber(ARGV[10])
local first_step = FIRST_ROW + tonumber(ARGV[9]) * width
local first_entry = first_step + step_count * 3

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
ids[count + 1] = call -- finds a record that has this name already
local seen_now, seen_before = KEYS[3], KEYS[4]
if state.gen == 'b' then
  seen_now, seen_before = KEYS[4], KEYS[3]
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

local tiers, at
local missed, run_begins, taken = false, true, 0
local records, pendings, runs, claims, run_places, skipped = {}, {}, {}, {}, {}, {}
local version, first_seq, stamp = state.version, state.seq + 1, ' ' .. state.epoch .. '.' .. state.version .. ' '

local next_run
-- Reads tiers and clock once there is an entry to take. Notes the tiers' state if the next entry begins a run.
local function prepare()
  if not tiers then
    tiers = read_tiers(state.tiers, KEYS[2], FIRST_POOL)
    at = now_ms()
  end
  next_run = run_begins and run_text(tiers, taken + 1)
end

local function took(entries)
  if run_begins then
    runs[#runs + 1] = next_run
    run_begins = false
  end
  state.seq, taken = state.seq + entries, taken + entries
end

-- Settles an entry that drew a prize: makes the claim if the prize is money. Returns the tail of the record, and
-- whether the entry is pending.
local function settle(rank, who, money)
  local seq = num(state.seq)
  if money == '' then
    claims[#claims + 1] = seq .. ',0,' .. rank .. ',later,-,0,0,0;'
    return ' p - ' .. num(at) .. ' ' .. who, true
  end
  local prize = parse_prize(money)
  local amount, before = take(state, tiers, prize)
  claims[#claims + 1] = claim_text(seq, '0', rank, prize, amount, state, before)
  if amount then
    run_begins = true
    return paid_text('-', rank, prize, amount, state), false
  end
  return ' p ' .. rank .. 'r ' .. num(at) .. ' ' .. who, true
end

-- Takes one entry, in memory. Returns its text for the reply, nil if it drew nothing.
local function take_one(i, row, prize)
  prepare()
  local pools = contribute(tiers, row)
  if not pools then
    refusal = 'too-large'
    return ''
  end
  took(1)
  local fingerprint, rank, who, money = string.match(prize, '^([^|]+)|(%d+)|([^|]+)|(.*)$')
  local record = num(state.seq) .. stamp .. (fingerprint or string.match(ARGV[first_entry + 2 * i - 1], '%S+$'))
  record = record .. ' ' .. pools
  if fingerprint then
    local tail, pending = settle(rank, who, money)
    record = record .. tail
    if pending then
      pendings[#pendings + 1] = num(state.seq)
      pendings[#pendings + 1] = ids[i]
    end
    if state.applied then
      refusal = 'stale' -- the entries after it were drawn from the odds before this take
    end
  end
  records[#records + 1] = ids[i]
  records[#records + 1] = record
  return fingerprint and '+' .. record
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
  prepare()
  if not contribute(tiers, row) then
    return false
  end
  took(to - from + 1)
  run_places[#run_places + 1] = { from, to }
  return true
end

local rows_of_entries
-- The row of a single entry of a run.
local function own_row(i)
  if not rows_of_entries then
    rows_of_entries = {}
    for row in string.gmatch(string.match(ARGV[8], '^[^|]*'), '%d+') do
      rows_of_entries[#rows_of_entries + 1] = tonumber(row)
    end
  end
  return rows_of_entries[i] or 1
end

local i = 0
for s = first_step, first_entry - 1, 3 do
  local entries, row, prize = tonumber(ARGV[s]), tonumber(ARGV[s + 1]), ARGV[s + 2]
  if entries > 1 and take_run(i + 1, i + entries, read_row(FIRST_ROW + (row - 1) * width, width)) then
    i = i + entries
  else
    for _ = 1, entries do
      i = i + 1
      if not texts[i] then
        local own = entries == 1 and row or own_row(i)
        texts[i] = refusal and '' or take_one(i, read_row(FIRST_ROW + (own - 1) * width, width), prize)
      end
      if texts[i] and string.sub(texts[i], 1, 1) ~= '+' then
        skipped[#skipped + 1] = i
        missed = missed or texts[i] == ''
      end
    end
  end
end
must(i == count or nil, 'JP_ARGUMENT steps')

if taken > 0 then
  if #pendings > 0 then
    redis.call('ZCARD', KEYS[5]) -- checks the key's type before the first write
  end
  local skip, runs_text = table.concat(skipped, ','), table.concat(runs)
  append_event(KEYS[6], state, at, 'enter', {
    'epoch',
    state.epoch,
    'version',
    version,
    'first',
    num(first_seq),
    'count',
    num(taken),
    'block',
    ARGV[7],
    'skip',
    skip,
    'rows',
    ARGV[8],
    'runs',
    runs_text,
    'call',
    #run_places > 0 and '1' or '',
    'claims',
    table.concat(claims),
    'meters',
    changes(tiers),
    'applied',
    state.applied or '',
  })
  write_tiers(tiers, KEYS[2])
  for _, run in ipairs(run_places) do
    redis.call('HSET', seen_now, unpack(ARGV, first_entry + 2 * run[1] - 2, first_entry + 2 * run[2] - 1))
  end
  if #run_places > 0 then
    local head = num(first_seq) .. '|' .. state.epoch .. '.' .. version .. '|' .. skip
    redis.call('HSET', seen_now, call, head .. '|' .. ARGV[8] .. '|' .. runs_text)
  end
  if #records > 0 then
    redis.call('HSET', seen_now, unpack(records))
  end
  if #pendings > 0 then
    redis.call('ZADD', KEYS[5], unpack(pendings))
  end
  write_state(KEYS[1], state)
end

local reply = { missed and refusal or 'ok', mark(state), num(first_seq), table.concat(runs) }
for place = 1, next(texts) and count or 0 do
  if texts[place] then
    reply[#reply + 1] = num(place)
    reply[#reply + 1] = texts[place]
  end
end
return reply
