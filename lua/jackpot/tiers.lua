-- Shared by the scripts that move money: the tiers, read once, changed in memory, written once.
--
-- Pools are plain integers under their own keys. The field `meters` of the state has everything else of a tier, and the
-- value that a script last wrote to the pool. If a pool differs from it, the pool was changed by hand, and no script
-- decides by it. For each tier, at every instant, in millionths:
--   contributed + funded = pool + reserve + overflow + the two remainders + paid + reversed + transferred_out
--     + expected
-- `funded` counts what operators paid in, what transfers brought (`transferred_in`) or will bring (`expected`), and
-- what payouts were taken back (`voided`). So its bound holds for them in scripts that read only the packed meters.
-- contributed + funded stays at most MAX. This bounds every other term, so a claim can never fail on a bound.
-- needs: values moved cycles changes

local MICRO = 1000000 -- millionths of a minor unit

local FIRST_METER = 2 -- METERS_FIELDS from here on: without the name

-- The place of a tier's row in the list of meters, nil for none. `guess`: where it probably is.
local function place_of_tier(meters, name, guess)
  if meters[guess] == name then
    return guess
  end
  for at = METERS_FIRST, #meters, METERS_WIDTH do
    if meters[at] == name then
      return at
    end
  end
  return nil
end

-- Reads the tiers of `rows`, in order. Their pools are KEYS[first_pool], KEYS[first_pool + 1], ... `fresh` names tiers
-- that may not exist yet and then start at 0. Any other missing meter is damage, not zero. With `only_look` a pool that
-- was changed by hand is no error, because the caller decides nothing by it. `cap` of a tier counts: an open cycle pins
-- it. `limit` is the one of the row.
local function read_tiers(state, rows, first_pool, fresh, only_look)
  local tiers, meters = { first_pool = first_pool }, state.meters
  local pools = redis.call('MGET', unpack(KEYS, first_pool, first_pool + #rows - 1))
  for t = 1, #rows do
    local row = rows[t]
    local name = row[1]
    local at = place_of_tier(meters, name, METERS_FIRST + (t - 1) * METERS_WIDTH)
    if not at then
      must(fresh and fresh[name] and not pools[t] or nil, 'JP_DAMAGED meter')
      at, pools[t] = #meters + 1, '0'
      meters[at] = name
      for i = 1, METERS_WIDTH - 1 do
        meters[at + i] = 0
      end
    end
    local tier = meters_row(meters, at, 'JP_DAMAGED meter')
    local pool, written = must(exact(pools[t]), 'JP_DAMAGED pool'), tier.pool
    if pool ~= written and not only_look then
      must(nil, 'JP_DAMAGED pool is ' .. num(pool) .. ', and the last script wrote ' .. num(written))
    end
    local pinned = pinning(state, name)
    tier.at, tier.seed, tier.limit = at, row[2], row[3] or nil
    tier.cap = tier.limit
    if pinned then
      tier.cap = pinned.cap
    end
    tier.pool, tier.written = pool, written
    tiers[t] = tier
  end
  return tiers
end

-- A pool as text. The last one is kept.
local function pool_text(tier)
  if tier.pool ~= tier.pool_of_text then
    tier.pool_of_text, tier.pool_text = tier.pool, num(tier.pool)
  end
  return tier.pool_text
end

-- The tier of this name, nil for none.
local function tier_named(tiers, name)
  for t = 1, #tiers do
    if tiers[t].name == name then
      return tiers[t]
    end
  end
  return nil
end

-- Puts the tiers into the list of meters that write_state writes. Returns the changes since read_tiers as text for the
-- event. Call it once, before the writes.
local function changes(state, tiers)
  local text, meters = '', state.meters
  for t = 1, #tiers do
    local tier = tiers[t]
    local parts, at = nil, tier.at - 1
    for i = FIRST_METER, METERS_WIDTH do
      local field = METERS_FIELDS[i]
      local value, before = tier[field], meters[at + i]
      if value ~= before then
        local part = meter_delta_text(field, num(value - before))
        parts = parts and parts .. ',' .. part or part
        meters[at + i] = value
      end
    end
    if parts then
      text = text .. tier_changes_text(tier.name, parts)
    end
  end
  return text
end

-- Writes the pools that changed, after `changes`.
local function write_pools(tiers)
  for t = 1, #tiers do
    local tier = tiers[t]
    local delta = tier.pool - tier.written
    if delta > 0 then
      redis.call('INCRBY', KEYS[tiers.first_pool + t - 1], num(delta))
    elseif delta < 0 then
      redis.call('DECRBY', KEYS[tiers.first_pool + t - 1], num(-delta))
    end
    tier.written = tier.pool
  end
end

-- Both take the money of one entry for one tier: whole units and millionths for the pool and for the reserve. Call
-- `fits` first: false when a meter would pass MAX. Then call `accrue`, which returns by how much `contributed` grew.
local function fits(tier, pool, pool_micro, reserve, reserve_micro)
  local micro = tier.contributed_micro + pool_micro + reserve_micro
  local contributed = tier.contributed + pool + reserve + (micro - micro % MICRO) / MICRO
  local funded = tier.funded
  return contributed + (funded > 0 and funded or 0) <= MAX
end

local function accrue(tier, pool, pool_micro, reserve, reserve_micro)
  local micro = tier.contributed_micro + pool_micro + reserve_micro
  local rest = micro % MICRO
  local amount = pool + reserve + (micro - rest) / MICRO
  tier.contributed = tier.contributed + amount
  tier.contributed_micro = rest

  micro = tier.reserve_micro + reserve_micro
  rest = micro % MICRO
  tier.reserve = tier.reserve + reserve + (micro - rest) / MICRO
  tier.reserve_micro = rest

  micro = tier.pool_micro + pool_micro
  rest = micro % MICRO
  tier.pool_micro = rest
  local whole, held, cap = pool + (micro - rest) / MICRO, tier.pool, tier.cap
  if cap and whole > cap - held then
    local taken = cap > held and cap - held or 0
    tier.overflow = tier.overflow + whole - taken
    whole = taken
  end
  tier.pool = held + whole
  return amount
end

-- What tiers have outside the packed meters (`moved`): a row for each by its name. Only takes of all, reversals
-- and transfers read and write it, so it costs other entries nothing. Reads it once in a call.
local function moved_rows(state)
  if not state.moved then
    local rows = {}
    for text in string.gmatch(redis.call('HGET', KEYS[1], 'moved') or '', '[^;]+') do
      local row = must(read_moved(text), 'JP_DAMAGED meter')
      for name, value in pairs(row) do
        row[name] = name == 'tier' and value or must(exact(value), 'JP_DAMAGED meter')
      end
      rows[#rows + 1], rows[row.tier] = row, row
    end
    state.moved = rows
  end
  return state.moved
end

-- The meters in it.
local MOVED_METERS = {
  'funded_micro',
  'reversed',
  'reversed_micro',
  'transferred_in',
  'transferred_in_micro',
  'transferred_out',
  'transferred_out_micro',
  'expected',
}

local function moved_row(state, name)
  local rows = moved_rows(state)
  if not rows[name] then
    local row = {
      tier = name,
      took_wins = 0,
      took_sequence = 0,
      reversed = 0,
      reversed_micro = 0,
      funded_micro = 0,
      pool_reversed = 0,
      transferred_in = 0,
      transferred_in_micro = 0,
      transferred_out = 0,
      transferred_out_micro = 0,
      expected = 0,
    }
    rows[#rows + 1], rows[name] = row, row
  end
  return rows[name]
end

local function moved_rows_text(rows)
  local texts = {}
  for i, row in ipairs(rows) do
    texts[i] = moved_text(
      row.tier,
      num(row.took_wins),
      num(row.took_sequence),
      num(row.reversed),
      num(row.reversed_micro),
      num(row.funded_micro),
      num(row.pool_reversed),
      num(row.transferred_in),
      num(row.transferred_in_micro),
      num(row.transferred_out),
      num(row.transferred_out_micro),
      num(row.expected)
    )
  end
  return table.concat(texts)
end

-- Whether the pools fit the caps of a definition, given by the rows of its tiers. If one does not, only a take of all
-- puts the definition in force: a pool that players see never shrinks without one.
local function caps_hold(rows, tiers)
  for _, row in ipairs(rows) do
    local tier, limit = tier_named(tiers, row[1]), row[3]
    if tier and limit and tier.pool > limit then
      return false
    end
  end
  return true
end

-- Puts the waiting definition in force: seeds and caps, and rules of cycles (`except`: apply_cycles). The part of
-- a pool above a lower cap moves to the overflow, unless an open cycle pins the cap.
-- The PUT has already made the tiers that it adds. Sets `state.applied` to its version, for the event.
local function apply_next(state, tiers, except)
  for _, row in ipairs(state.next_tiers) do
    local tier = tier_named(tiers, row[1])
    if tier then
      tier.seed, tier.limit = row[2], row[3] or nil
      if not pinning(state, tier.name) then
        tier.cap = tier.limit
        local excess = tier.cap and math.max(tier.pool - tier.cap, 0) or 0
        tier.pool = tier.pool - excess
        tier.overflow = tier.overflow + excess
      end
    end
  end
  state.version, state.tiers, state.money = state.next, state.next_tiers, state.next_money
  state.next, state.next_tiers, state.next_money = '', {}, ''
  state.applied = state.version
  apply_cycles(state, tiers, except)
end

-- Writes what a script with money in it may have changed, after its event. `terms_changed`: it has changed the terms
-- itself. Returns the packed meters.
local function write_state(key, state, terms_changed)
  local meters = write_meters(state, state.meters)
  if state.moved then
    redis.call('HSET', key, 'moved', moved_rows_text(state.moved))
    state.moved = nil -- the state may be kept for the next call
  end
  if state.cycles_changed then
    redis.call('HSET', key, 'cycles', state.cycles_text)
  end
  if terms_changed or state.applied then
    redis.call('HSET', key, 'n', n_text(state.n), 'meters', meters, 'terms', write_terms(state))
  else
    redis.call('HSET', key, 'n', n_text(state.n), 'meters', meters)
  end
  return meters
end
