-- Shared by a checkpoint and a view: what Redis holds.
--
-- Part of a script, after state.lua.
-- needs: tier_rows tiers voided_rows used

local HELD = {
  'n',
  'restores',
  'status',
  'version',
  'tiers',
  'money',
  'next',
  'next_tiers',
  'next_money',
  'last_version',
  'currency',
  'seq',
  'order',
  'epoch',
  'commitment',
  'nonce',
  'secret',
  'history',
  'gen',
  'gen_start',
  'gen_opened',
  'gen_version',
  'gen_age',
  'gen_looked',
  'retention',
}

-- "name pool reserve ... wins pool_written;" of each tier in force, in the order of METERS (tiers.lua); after
-- pool_written also MOVED_METERS, unless all are 0, and then voided, unless it is 0: so an older version can read the
-- tiers that do not use them. `first_pool`: place of the first pool in KEYS.
local function held_tiers(state, first_pool)
  local rows, voided = {}, voided_rows(KEYS[1])
  for t, tier in ipairs(read_tiers(state, state.tiers, first_pool, nil, true)) do
    local row = { tier.name, num(tier.pool) }
    for i = FIRST_METER + 1, METERS_WIDTH do
      row[#row + 1] = num(tier[METERS_FIELDS[i]])
    end
    row[#row + 1] = num(tier.written)
    local taken_back = voided[tier.name] or 0
    local moved, parts, is_used = moved_row(state, tier.name), {}, taken_back > 0
    for i, name in ipairs(MOVED_METERS) do
      parts[i], is_used = num(moved[name]), is_used or moved[name] ~= 0
    end
    row[#row + 1] = is_used and table.concat(parts, ' ') or nil
    row[#row + 1] = taken_back > 0 and num(taken_back) or nil
    rows[t] = table.concat(row, ' ') .. ';'
  end
  return table.concat(rows)
end

-- The values of the state as name, value, ..., and the sizes of the other keys.
local function held_values(state, pending, seen_a, seen_b, definitions, adjustments)
  local out = {}
  for _, name in ipairs(HELD) do
    local value = state[name]
    out[#out + 1] = name
    out[#out + 1] = type(value) == 'number' and num(value) or type(value) == 'table' and tier_text(value) or value
  end
  if state.cycles_text ~= '' then
    out[#out + 1] = 'cycles'
    out[#out + 1] = state.cycles_text
  end
  for _, field in ipairs(USED) do
    local used = redis.call('HGET', KEYS[1], field[1])
    if used then
      out[#out + 1] = field[1]
      out[#out + 1] = used
    end
  end
  local hashes = { seen_a, seen_b, definitions, adjustments }
  for i, name in ipairs({ 'seen_a', 'seen_b', 'definitions', 'adjustments' }) do
    out[#out + 1] = name
    out[#out + 1] = num(redis.call('HLEN', hashes[i]))
  end
  out[#out + 1] = 'pending'
  out[#out + 1] = num(redis.call('ZCARD', pending))
  return out
end
