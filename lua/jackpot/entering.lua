-- Shared by the scripts that take entries: the part of a call that entries, alone or as a batch, have in common.
--
-- A call adds the contributions of its entries in sequence, settles each entry that drew a prize, and appends one
-- event. Consecutive entries that drew nothing are one sum, a run of losers.
--
-- A segment of ARGV, which the caller drew under one definition:
--   prizes: "rank tier kind value min;" of each money prize that its attempts name
--   number of rows  number of steps
--   rows of (pool units, pool millionths, reserve units, reserve millionths) for each tier
--   steps of (entries, row (from 1), winner). winner: '' for entries that drew nothing, whose row is their sum; or one
--     entry that drew a prize, "fingerprint|who|attempt rank;attempt rank;..." (settle)
--     who: "player stake client_seed"
--
-- A run begins at the first entry and after each paid claim: within it only contributions change the meters. So the
-- tiers at its beginning and the amounts determine what each of its entries added. The script does not write it for
-- each entry.

-- A call that has taken nothing yet.
local function begin_call(state)
  return {
    first = state.seq + 1,
    count = 0, -- entries taken
    version = state.version, -- definition in force before it
    run_begins = true, -- whether the next entry begins a run
    runs = {}, -- for the event
    claims = {}, -- for the event
    records = {}, -- entry id, record, ...
    pendings = {}, -- sequence, entry id, ...
  }
end

-- Reads the head of the segment at ARGV[at] for `width` amounts a row.
local function read_segment(at, width)
  local first_step = at + 3 + tonumber(ARGV[at + 1]) * width
  return {
    prizes_text = ARGV[at],
    first_row = at + 3,
    width = width,
    rows = {},
    first_step = first_step,
    next_arg = first_step + tonumber(ARGV[at + 2]) * 3,
  }
end

-- A row of amounts of a segment, read at its first use.
local function row_of(segment, i)
  local row = segment.rows[i]
  if not row then
    local first = segment.first_row + (i - 1) * segment.width
    row = {}
    for a = 1, segment.width do
      row[a] = must(exact(ARGV[first + a - 1]), 'JP_ARGUMENT amount')
    end
    segment.rows[i] = row
  end
  return row
end

-- Takes consecutive entries that add this row together. Returns "pool+amount,..." after them, one part for each tier;
-- or nil when a meter would pass MAX: then nothing has changed.
local function add_entries(call, state, tiers, entries, row)
  for t, tier in ipairs(tiers) do
    local a = (t - 1) * 4
    if not fits(tier, row[a + 1], row[a + 2], row[a + 3], row[a + 4]) then
      return nil
    end
  end
  local parts = {}
  if call.run_begins then
    for t, tier in ipairs(tiers) do
      local cap = tier.cap and num(tier.cap) or '-'
      parts[t] = run_tier_text(num(tier.pool), num(tier.pool_micro), num(tier.contributed_micro), cap)
    end
    call.runs[#call.runs + 1] = run_text(num(call.count + 1), table.concat(parts, '/'))
    call.run_begins = false
  end
  state.seq, call.count = state.seq + entries, call.count + entries
  for t, tier in ipairs(tiers) do
    local a = (t - 1) * 4
    local amount = accrue(tier, row[a + 1], row[a + 2], row[a + 3], row[a + 4])
    parts[t] = contributed_text(num(tier.pool), num(amount))
  end
  return table.concat(parts, ',')
end

-- Keeps the record of an entry.
local function keep_record(call, id, record)
  call.records[#call.records + 1] = id
  call.records[#call.records + 1] = record
end

-- Makes the attempts of the entry taken last, which drew a prize, and keeps its record. Rank 0 ends the entry with no
-- prize. The entry is pending when a rank is not for money, or when every attempt of the list was refused.
local function settle(call, state, tiers, segment, version, at, id, winner, pools)
  local fingerprint, who, attempts = string.match(winner, '^([^|]+)|([^|]*)|(.+)$')
  local claims, seq, refused, record = call.claims, num(state.seq), '-', nil
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

-- Appends the event of the call: the first write. `values`: the fields `meters`, `block`, `skip`, `amounts` and `call`;
-- for a batch also its own fields.
local function append_entries(call, state, at, values)
  if #call.pendings > 0 then
    redis.call('ZCARD', KEYS[4]) -- checks the key's type before the first write
  end
  values.epoch, values.version = state.epoch, call.version
  values.first, values.count = num(call.first), num(call.count)
  values.runs, values.claims = table.concat(call.runs), table.concat(call.claims)
  values.applied = state.applied or ''
  append_enter(KEYS[5], state, at, values)
end
