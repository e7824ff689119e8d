-- Shared by a checkpoint and a view: what Redis holds of the state.
--
-- Part of a script, after state.lua and tier_rows.lua.
-- needs: tier_rows

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
  for _, name in ipairs({ 'hold', 'took' }) do
    local used = redis.call('HGET', KEYS[1], name)
    if used then
      out[#out + 1] = name
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
