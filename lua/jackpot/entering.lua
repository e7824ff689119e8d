-- Shared by the scripts that take entries: the part of a call that entries, alone or as a batch, have in common.
--
-- A call adds the contributions of its entries in sequence, settles each entry that drew a prize, and appends one
-- event. Consecutive entries that drew nothing are one sum, a run of losers.
--
-- The caller sends the entries as one packed list: an argument of its own for each value costs Redis more than all that
-- this part does with it. `sent` is that list (lua/subject/sent.lua), and its integers are numbers. A segment of it was
-- drawn under one definition:
--   prizes: "rank tier kind value min;" of each money prize that its attempts name
--   number of rows  number of steps
--   rows of (pool units, pool millionths, reserve units, reserve millionths) for each tier
--   steps of (entries, row (from 1), winner). winner: '' for entries that drew nothing, whose row is their sum; or one
--     entry that drew a prize, "fingerprint|who|attempt rank;attempt rank;..." (settle)
--     who: what was sent (record.rs)
--
-- A run begins at the first entry and after each paid claim: within it only contributions change the meters. So the
-- tiers at its beginning and the amounts determine what each of its entries added. The script does not write it for
-- each entry. The ledger reads the event: crates/kernel/src/ledger/projector/mod.rs.
-- needs: take event/enter refusal write_entry contributed runs

-- The records of these ids in a generation, false for none.
local function find_ids(seen, ids)
  if #ids == 1 then
    return { redis.call('HGET', seen, ids[1]) }
  end
  return redis.call('HMGET', seen, unpack(ids))
end

-- A call that has taken nothing yet.
local function begin_call(state)
  return {
    first = state.seq + 1,
    count = 0, -- entries taken
    version = state.version, -- definition in force before it
    run_begins = true, -- whether the next entry begins a run
    runs = {}, -- for the event
    claims = {}, -- for the event
    over = nil, -- records of early cancels that its records replace, for the event
    records = {}, -- entry id, record, ...
    pendings = {}, -- sequence, entry id, ...
  }
end

-- Reads the head of the segment at place `at` of the list for `width` amounts a row.
local function read_segment(sent, at, width)
  local rows, steps = sent[at + 1], sent[at + 2]
  local first_row = at + 3
  local first_step = first_row + rows * width
  for i = first_row, first_step - 1, width do
    must(pcall(check_whole, sent, i, i + width - 1) or nil, 'JP_ARGUMENT amount')
  end
  return {
    prizes_text = sent[at],
    before_row = first_row - width,
    width = width,
    first_step = first_step,
    steps = steps,
    next = first_step + steps * 3, -- place of what follows it
  }
end

-- Takes consecutive entries that together add the row of amounts at `first` of this list. Returns "pool+amount,..."
-- after them, one part for each tier; or nil when a meter would pass MAX: then nothing has changed.
local function add_entries(call, state, tiers, entries, amounts, first)
  for t = 1, #tiers do
    local a = first + t * 4 - 4
    if not fits(tiers[t], amounts[a], amounts[a + 1], amounts[a + 2], amounts[a + 3]) then
      return nil
    end
  end
  if call.run_begins then
    local text
    for t = 1, #tiers do
      local tier = tiers[t]
      local cap = tier.cap and num(tier.cap) or '-'
      local part = run_tier_text(pool_text(tier), num(tier.pool_micro), num(tier.contributed_micro), cap)
      text = text and text .. '/' .. part or part
    end
    call.runs[#call.runs + 1] = run_text(num(call.count + 1), text)
    call.run_begins = false
  end
  state.seq, call.count = state.seq + entries, call.count + entries
  local text
  for t = 1, #tiers do
    local tier, a = tiers[t], first + t * 4 - 4
    local amount = accrue(tier, amounts[a], amounts[a + 1], amounts[a + 2], amounts[a + 3])
    local part = contributed_text(pool_text(tier), num(amount))
    text = text and text .. ',' .. part or part
  end
  return text
end

-- Keeps the record of an entry.
local function keep_record(call, id, record)
  local records = call.records
  local length = #records
  records[length + 1], records[length + 2] = id, record
end

-- Finds the triggers of the open cycles. False when the caller did not bring them, or did not bring the next cycles.
-- Cheap while no cycle has changed.
local function arm(call, state)
  local changes = state.cycle_changes and #state.cycle_changes or 0
  if call.armed ~= changes or not call.triggers then
    if not are_ready(state, state.at) then
      return false
    end
    call.triggers, call.armed = {}, changes
    for _, row in ipairs(state.cycles.rows) do
      if row.commitment then
        call.triggers[row.tier] = triggers_of(state.prepared, row)
        if not call.triggers[row.tier] then
          call.triggers = nil
          return false
        end
      end
    end
  end
  return true
end

-- Whether a tier may be due within a run that adds the row of amounts at `first` of this list. Without a cycle, false.
local function may_hit(call, state, tiers, amounts, first)
  for t = 1, call.triggers and #tiers or 0 do
    local tier, trigger = tiers[t], call.triggers[tiers[t].name]
    if trigger then
      local most = tier.pool + amounts[first + t * 4 - 4] + 1 -- the millionths may make one more
      local row = state.cycles.by[tier.name]
      local by_amount = trigger.amount and most + row.reversed >= trigger.amount
      local by_time = trigger.at and state.at >= trigger.at * 1000
      if most >= row.min and (by_amount or by_time) then
        return true
      end
    end
  end
  return false
end

-- The tier that is due after the entry taken last; nil for none. Of several it is the one whose cycle began first, by
-- sequence and then in the definition's order: so no tier waits while others hit again and again.
local function due(call, state, tiers)
  local first
  for t = 1, #tiers do
    local tier, trigger = tiers[t], call.triggers[tiers[t].name]
    local row = state.cycles.by[tier.name]
    local since = row and row.sequence or 0
    if trigger and tier.pool >= row.min and not (first and first.since <= since) then
      local found = { tier = tier.name, cycle = row.cycle, min = row.min, since = since }
      if trigger.amount and tier.pool + row.reversed >= trigger.amount then
        first, found.by, found.trigger = found, 'amount', trigger.amount
      elseif trigger.at and state.at >= trigger.at * 1000 then
        first, found.by, found.trigger = found, 'time', trigger.at
      end
    end
  end
  return first
end

-- Gives the whole pool of a tier to the entry taken last, and keeps its record. Its odds are not drawn.
local function give_hit(call, state, tiers, version, id, fingerprint, pools, hit)
  local prize = { tier = hit.tier, kind = 'all', value = 0, min = hit.min }
  local amount, before = take(state, tiers, prize, 'must-hit')
  local seq, claims = seq_text(state.seq), call.claims
  claims[#claims + 1] = taken_claim(claim_head(seq, '0', '0'), state, prize, amount, before)
  local hits = ' ' .. num(hit.cycle) .. ' ' .. hit.by .. ' ' .. num(hit.trigger)
  call.hits = (call.hits or '') .. seq .. ' ' .. hit.tier .. hits .. ';'
  call.run_begins = true
  local head = entry_head(seq, state.epoch, version, fingerprint, pools)
  local order = num(state.order)
  local cycle, trigger = num(hit.cycle), num(hit.trigger)
  local record = must_hit_entry(head, hit.tier, num(amount), order, state.history, cycle, hit.by, trigger)
  keep_record(call, id, record)
  return record
end

-- Makes the attempts of the entry taken last, which drew a prize, and keeps its record. Rank 0 ends the entry with no
-- prize. The entry is pending when a rank is not for money, or when every attempt of the list was refused.
local function settle(call, state, tiers, segment, version, at, id, winner, pools)
  local fingerprint, who, attempts = string.match(winner, '^([^|]+)|(.*)|([^|]+)$')
  local claims, seq, refused, record = call.claims, seq_text(state.seq), '-', nil
  local head = entry_head(seq, state.epoch, version, fingerprint, pools)
  if not segment.prizes then
    segment.prizes = {}
    for rank, prize in string.gmatch(segment.prizes_text, '(%d+) ([^;]+);') do
      segment.prizes[rank] = parse_prize(prize)
    end
  end
  for attempt, rank in string.gmatch(attempts, '(%d+) (%d+);') do
    local prize = segment.prizes[rank]
    local claim = claim_head(seq, attempt, rank)
    if rank == '0' then
      claims[#claims + 1] = ended_claim(claim)
      record = ended_entry(head, refused)
    elseif not prize then
      claims[#claims + 1] = later_claim(claim)
      break
    else
      local amount, before = take(state, tiers, prize)
      claims[#claims + 1] = taken_claim(claim, state, prize, amount, before)
      if amount then
        call.run_begins = true
        record = paid_entry(head, refused, rank, prize.tier, num(amount), num(state.order), state.history)
      else
        refused = add_refusal(refused, rank, 'r')
      end
    end
    if record then
      break
    end
  end
  if not record then
    must(who ~= '' or nil, 'JP_ARGUMENT attempts')
    record = pending_entry(head, refused, num(at), who)
    call.pendings[#call.pendings + 1] = seq
    call.pendings[#call.pendings + 1] = id
  end
  keep_record(call, id, record)
  return record
end

-- Appends the event of the call: the first write. `of_call`: '1' when its entries share a record. A batch has also its
-- id, its split and its record. Returns the runs
-- and the first sequence as text.
local function append_entries(call, state, at, meters, block, skip, amounts, of_call, batch, split, record)
  if #call.pendings > 0 then
    redis.call('ZCARD', KEYS[4]) -- checks the key's type before the first write
  end
  local runs = table.concat(call.runs)
  local first = call.count == 1 and seq_text(state.seq) or num(call.first)
  append_enter(KEYS[5], state, at, {
    epoch = state.epoch,
    version = call.version,
    first = first,
    count = num(call.count),
    block = block,
    skip = skip,
    amounts = amounts,
    runs = runs,
    claims = table.concat(call.claims),
    call = of_call,
    meters = meters,
    applied = state.applied or '',
    batch = batch,
    split = split,
    record = record,
    cycles = cycle_changes(state),
    hits = call.hits,
    over = call.over,
  })
  return runs, first
end
