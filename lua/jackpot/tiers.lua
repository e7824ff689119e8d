-- Shared by the scripts that move money: the tiers, read once, changed in memory, written once.
--
-- Pools are plain integers under their own keys. The hash `meters` has everything else of a tier, and as "<tier>:pool"
-- the value that a script last wrote to the pool. If a pool differs from it, the pool was changed by hand, and no
-- script decides by it. For each tier, at every instant, in millionths:
--   contributed + funded = pool + reserve + overflow + the two remainders + paid
-- contributed + funded stays at most MAX. This bounds every other term, so a claim can never fail on a bound.

local MICRO = 1000000 -- millionths of a minor unit

local METERS = {
  'reserve', -- hidden pool that pays the next seed
  'overflow', -- contributions beyond the cap
  'pool_micro', -- fraction not yet in the pool, millionths
  'reserve_micro', -- fraction not yet in the reserve, millionths
  'contributed', -- exact sum of contributions, whole units, ...
  'contributed_micro', -- ... and its millionths
  'funded', -- paid in minus taken out by operators, signed
  'paid',
  'wins', -- takes of all
}

local function rows_of(text)
  return string.gmatch(text, '(%S+) (%d+) (%S+);')
end

-- Reads the tiers of `text`, in order. Their pools are KEYS[first_pool], KEYS[first_pool + 1], ... `fresh` names tiers
-- that may not exist yet and then start at 0. Any other missing meter is damage, not zero. With `only_look` a pool that
-- was changed by hand is no error, because the caller decides nothing by it.
local function read_tiers(text, meters_key, first_pool, fresh, only_look)
  local tiers, fields, pools = { by_name = {}, first_pool = first_pool }, {}, {}
  for name, seed, cap in rows_of(text) do
    local tier = { name = name, seed = tonumber(seed), cap = tonumber(cap) }
    tiers[#tiers + 1] = tier
    tiers.by_name[name] = tier
    pools[#pools + 1] = KEYS[first_pool + #tiers - 1]
    for _, field in ipairs(METERS) do
      fields[#fields + 1] = name .. ':' .. field
    end
    fields[#fields + 1] = name .. ':pool'
  end
  local width = #METERS + 1
  local pool_values = redis.call('MGET', unpack(pools))
  local values = redis.call('HMGET', meters_key, unpack(fields))
  for t, tier in ipairs(tiers) do
    tier.was = {}
    local new = fresh and fresh[tier.name] and not pool_values[t]
    tier.pool = new and 0 or must(exact(pool_values[t]), 'JP_DAMAGED pool')
    tier.was.pool = tier.pool
    tier.written = new and 0 or must(exact(values[t * width]), 'JP_DAMAGED meter')
    if tier.written ~= tier.pool and not only_look then
      must(nil, 'JP_DAMAGED pool is ' .. num(tier.pool) .. ', and the last script wrote ' .. num(tier.written))
    end
    for f, field in ipairs(METERS) do
      tier[field] = new and 0 or must(exact(values[(t - 1) * width + f]), 'JP_DAMAGED meter')
      tier.was[field] = tier[field]
    end
  end
  return tiers
end

-- The changes since read_tiers, as text for the event: "tier meter:delta ...;". Call it before the writes.
local function changes(tiers)
  local out = {}
  for _, tier in ipairs(tiers) do
    local parts = {}
    if tier.pool ~= tier.was.pool then
      parts[1] = 'pool:' .. num(tier.pool - tier.was.pool)
    end
    for _, field in ipairs(METERS) do
      if tier[field] ~= tier.was[field] then
        parts[#parts + 1] = field .. ':' .. num(tier[field] - tier.was[field])
      end
    end
    if #parts > 0 then
      out[#out + 1] = tier.name .. ' ' .. table.concat(parts, ' ') .. ';'
    end
  end
  return table.concat(out)
end

local function write_tiers(tiers, meters_key)
  local fields = {}
  for t, tier in ipairs(tiers) do
    local delta = tier.pool - tier.was.pool
    if delta > 0 then
      redis.call('INCRBY', KEYS[tiers.first_pool + t - 1], num(delta))
    elseif delta < 0 then
      redis.call('DECRBY', KEYS[tiers.first_pool + t - 1], num(-delta))
    end
    if delta ~= 0 then
      fields[#fields + 1] = tier.name .. ':pool'
      fields[#fields + 1] = num(tier.pool)
    end
    for _, field in ipairs(METERS) do
      if tier[field] ~= tier.was[field] then
        fields[#fields + 1] = tier.name .. ':' .. field
        fields[#fields + 1] = num(tier[field])
      end
    end
  end
  if #fields > 0 then
    redis.call('HSET', meters_key, unpack(fields))
  end
end

-- Both take the money of one entry for one tier: whole units and millionths for the pool and for the reserve. Call
-- `fits` first: false when a meter would pass MAX. Then call `accrue`, which returns by how much `contributed` grew.
local function fits(tier, pool, pool_micro, reserve, reserve_micro)
  local carry = math.floor((tier.contributed_micro + pool_micro + reserve_micro) / MICRO)
  local contributed = tier.contributed + pool + reserve + carry
  return contributed <= MAX and contributed + math.max(tier.funded, 0) <= MAX
end

local function accrue(tier, pool, pool_micro, reserve, reserve_micro)
  local micro = tier.contributed_micro + pool_micro + reserve_micro
  local amount = pool + reserve + math.floor(micro / MICRO)
  tier.contributed = tier.contributed + amount
  tier.contributed_micro = micro % MICRO

  micro = tier.reserve_micro + reserve_micro
  tier.reserve = tier.reserve + reserve + math.floor(micro / MICRO)
  tier.reserve_micro = micro % MICRO

  micro = tier.pool_micro + pool_micro
  local whole = pool + math.floor(micro / MICRO)
  tier.pool_micro = micro % MICRO
  local room = tier.cap and math.max(tier.cap - tier.pool, 0) or whole
  local taken = math.min(whole, room)
  tier.pool = tier.pool + taken
  tier.overflow = tier.overflow + whole - taken
  return amount
end

-- Whether the pools fit the caps of a definition, given by its tiers' text. If one does not, only a take of all puts
-- the definition in force: a pool that players see never shrinks without one.
local function caps_hold(text, tiers)
  for name, _, cap in rows_of(text) do
    local tier, limit = tiers.by_name[name], tonumber(cap)
    if tier and limit and tier.pool > limit then
      return false
    end
  end
  return true
end

-- Puts the waiting definition in force: new seeds and caps. The part of a pool above a lower cap moves to the overflow.
-- The PUT has already made the tiers that it adds. Sets `state.applied` to its version, for the event.
local function apply_next(state, tiers)
  for name, seed, cap in rows_of(state.next_tiers) do
    local tier = tiers.by_name[name]
    if tier then
      tier.seed, tier.cap = tonumber(seed), tonumber(cap)
      local excess = tier.cap and math.max(tier.pool - tier.cap, 0) or 0
      tier.pool = tier.pool - excess
      tier.overflow = tier.overflow + excess
    end
  end
  state.version, state.tiers, state.money = state.next, state.next_tiers, state.next_money
  state.next, state.next_tiers, state.next_money = '', '', ''
  state.applied = state.version
end

-- Writes the fields of the state that a script with money in it may have changed.
local function write_state(key, state)
  local fields = { 'n', num(state.n), 'seq', num(state.seq), 'order', num(state.order) }
  if state.applied then
    for _, field in ipairs({ 'version', 'tiers', 'money', 'next', 'next_tiers', 'next_money' }) do
      fields[#fields + 1] = field
      fields[#fields + 1] = state[field]
    end
  end
  redis.call('HSET', key, unpack(fields))
end
