-- Takes entries: adds their contributions, numbers them, and makes the first claim of each entry that drew a pool or
-- fixed prize, in sequence. One entry or many. A repeated id, in Redis or earlier in this call, changes nothing.
--
-- The caller has drawn. It sends consecutive entries that drew nothing as one sum, a run. So the work is the winners
-- and the look-ups of ids.
--
-- KEYS  1 state  2 seen:a  3 seen:b  4 pending  5 events  6.. pool of each tier, in the definition's order
-- ARGV  1..4 fence (state.lua)
--       5 the entries, packed (entering.lua), a list of:
--         number of entries, 1 to 1,000; name of this call, different for every call: its record is ":<name>"
--           (write_call)
--         block: the id and what was sent a line, for the event
--         row of each entry in the amounts with commas, '' when all add the same, for the record of the call
--         amounts (`amount_row`), for the event and for the record of the call
--         the segment. Its steps are one entry each, or a run. A winner has attempt 0 alone
--         then for each entry: id; its fingerprint or, in a run, its record ":<name> place fingerprint", place from 1
--       6 '1' to be told the state after it  7 prepared cycles (cycles.lua), '' for none
--       8 only for a call of one entry that came after cancels, none of which is for its source: their record
-- Reply {'unknown'}                the jackpot does not exist
--       {'behind' | 'restoring', mark}  this Redis lost events, or a restore is running: nothing more was read
--       {code, mark, what was taken, what there is to say of some entries} (enter_reply)
--         code: 'ok' | why the first '' was not taken: 'paused', 'suspended', 'closed', 'stopped', 'stale',
--           'too-large' (a meter would pass 2^53-1), 'cycles' (more may end than were prepared). The script does not
--           try the entries after it: send them again.
-- Invariants: read, decide, then write. A refused entry leaves no trace. One event for all entries taken.
-- Cost: two HMGET of the ids and their HSET; O(steps) arithmetic, O(winners) claims; one XADD, one HSET of meters.
-- needs: kept record subject/sent entering enter_reply replaced stake_rows write_call digest

local state, ended = kept_state(KEYS[1])
if not state then
  return ended
end
local refusal = refused_by(state) or fence(state)

local EARLY = string.byte('!') -- what a record of early cancels begins with
local FIRST_POOL, COUNT, NAME, BLOCK, STAKES, AMOUNTS, SEGMENT = 6, 2, 3, 4, 5, 6, 7
local sent = unpack_sent(ARGV[5])
local count, shared = sent[COUNT], nil
local segment = read_segment(sent, SEGMENT, (#KEYS - FIRST_POOL + 1) * 4)
local first_entry = segment.next

must(#sent == first_entry + 2 * count - 1 or nil, 'JP_ARGUMENT entries') -- HSET reads pairs from it

local ids, place_of, twice = {}, {}, false
for i = 1, count do
  local id = sent[first_entry + 2 * i - 2]
  ids[i] = id
  if count > 1 then
    twice = twice or place_of[id] ~= nil
    place_of[id] = place_of[id] or i
  end
end
local has_run = segment.steps < count
if has_run then
  table.concat(sent, '', first_entry) -- fails unless all are texts: HSET would, after the first write
  shared = ':' .. sent[NAME]
  ids[count + 1] = shared -- finds a record that has this name already
end
local seen_now, seen_before = KEYS[2], KEYS[3]
if state.gen == 'b' then
  seen_now, seen_before = KEYS[3], KEYS[2]
end
local current, older = find_ids(seen_now, ids), find_ids(seen_before, ids)

-- The texts of the reply: entries that are not taken, or that drew a prize.
local texts, repeats = {}, 0
for i = 1, count do
  local found = current[i] or older[i]
  if found and string.byte(found) == EARLY and found ~= ARGV[8] then
    texts[i], repeats = found, repeats + 1
  elseif found and found ~= ARGV[8] then
    texts[i], repeats = '=' .. whole_record(found, current[i] and seen_now or seen_before), repeats + 1
  elseif twice and place_of[ids[i]] ~= i then
    texts[i], repeats = '@' .. place_of[ids[i]], repeats + 1
  end
end
-- If another call has this name, each entry gets a record of its own.
local may_run = has_run and not (current[count + 1] or older[count + 1])

-- Tiers and clock are read once there is an entry to take.
local call, tiers, at = begin_call(state), nil, nil
call.over = current[1] and current[1] == ARGV[8] and replaced_text(ids[1]) or nil
local cycles = cycles_of(state)
if cycles then
  state.prepared = read_prepared(ARGV[7])
end
local missed, run_places, skipped = false, {}, {}

local i = 0
for s = segment.first_step, first_entry - 1, 3 do
  local entries, row, winner = sent[s], segment.before_row + sent[s + 1] * segment.width, sent[s + 2]
  if not tiers and not refusal and repeats < count then
    tiers, at = kept_tiers(state, FIRST_POOL), now_ms()
    state.at = at
  end
  -- A take in this call may have begun another cycle.
  if tiers and cycles and not refusal and not arm(call, state) then
    refusal = 'cycles'
  end
  local is_run = entries > 1 and may_run and not refusal and not may_hit(call, state, tiers, sent, row)
  for j = i + 1, is_run and repeats > 0 and i + entries or i do
    is_run = is_run and not texts[j]
  end
  if is_run and add_entries(call, state, tiers, entries, sent, row) then
    run_places[#run_places + 1] = { i + 1, i + entries }
    i = i + entries
  else
    for _ = 1, entries do
      i = i + 1
      local text = texts[i]
      if not text then
        local pools, hit
        if cycles and not refusal and not arm(call, state) then
          refusal = 'cycles'
        end
        if not refusal and entries == 1 then
          pools = add_entries(call, state, tiers, 1, sent, row)
        elseif not refusal then
          pools = add_entries(call, state, tiers, 1, row_of_entry(segment, sent[STAKES], sent[AMOUNTS], i), 1)
        end
        hit = pools and cycles and due(call, state, tiers)
        if not pools then
          refusal, text = refusal or 'too-large', ''
          missed = true
        elseif hit then
          local last = sent[first_entry + 2 * i - 1]
          local fingerprint = entries == 1 and last or string.match(last, '%S+$')
          text = '+' .. give_hit(call, state, tiers, call.version, ids[i], fingerprint, pools, hit)
          if state.applied then
            refusal = 'stale' -- the entries after it were drawn from the odds before this take
          end
        elseif winner == '' then
          local last = sent[first_entry + 2 * i - 1]
          local fingerprint = entries == 1 and last or string.match(last, '%S+$')
          keep_record(call, ids[i], entry_head(seq_text(state.seq), state.epoch, call.version, fingerprint, pools))
        else
          text = '+' .. settle(call, state, tiers, segment, call.version, at, ids[i], winner, pools)
          if state.applied then
            refusal = 'stale' -- the entries after it were drawn from the odds before this take
          end
        end
        texts[i] = text
      end
      if text and string.sub(text, 1, 1) ~= '+' then
        skipped[#skipped + 1] = i
      end
    end
  end
end
must(i == count or nil, 'JP_ARGUMENT steps')
state.prepared = nil -- the state may be kept for the next call: no trigger stays with it

local runs, first = '', nil
local terms, digest, meters_now, cycles_now = '', '', '', '' -- to tell
if call.count > 0 then
  local skip = table.concat(skipped, ',')
  local of_call
  if #run_places > 0 then
    local places, stakes = skip == '' and '-' or skip, sent[STAKES] == '' and '-' or sent[STAKES]
    of_call = call_record_text(
      num(call.first),
      state.epoch,
      call.version,
      places,
      stakes,
      sent[AMOUNTS],
      table.concat(call.runs)
    )
  end
  local meters = changes(state, tiers)
  runs, first = append_entries(call, state, at, meters, sent[BLOCK], skip, sent[AMOUNTS], of_call and '1' or '')
  write_pools(tiers)
  for r = 1, #run_places do
    local run = run_places[r]
    redis.call('HSET', seen_now, unpack(sent, first_entry + 2 * run[1] - 2, first_entry + 2 * run[2] - 1))
  end
  if of_call then
    redis.call('HSET', seen_now, shared, of_call)
  end
  if #call.records > 0 then
    redis.call('HSET', seen_now, unpack(call.records))
  end
  if #call.pendings > 0 then
    redis.call('ZADD', KEYS[4], unpack(call.pendings))
  end
  local written = write_state(KEYS[1], state)
  keep_state(KEYS[1], state, written)
  if ARGV[6] == '1' and not state.applied then
    terms, digest, meters_now = state.terms_text, digest_of(state.terms_text), written
    cycles_now = state.cycles_text
  end
end

local reply = entered_reply(missed and refusal or 'ok', mark(state), {
  first = first or num(call.first),
  runs = runs,
  terms = terms,
  digest = digest,
  meters = meters_now,
  cycles = cycles_now,
})
for place = 1, next(texts) and count or 0 do
  if texts[place] then
    append_said(reply, { place = num(place), text = texts[place] })
  end
end
return reply
