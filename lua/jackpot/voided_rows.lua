-- Shared by the scripts that read or change what payouts were taken back.
--
-- Part of a script, after `voided`. The field `voided` of the state has it for each tier that has any. The packed
-- meter `funded` counts it too, so that the bound of contributed + funded holds in scripts that read only the packed
-- meters.
-- needs: voided

-- Minor units by tier, and the names of the tiers in order.
local function voided_rows(key)
  local rows, names = {}, {}
  for text in string.gmatch(redis.call('HGET', key, 'voided') or '', '[^;]+') do
    local row = must(read_voided(text), 'JP_DAMAGED meter')
    names[#names + 1] = row.tier
    rows[row.tier] = must(exact(row.amount), 'JP_DAMAGED meter')
  end
  return rows, names
end
