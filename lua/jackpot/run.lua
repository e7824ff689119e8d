-- Shared by the scripts that take entries: what an entry or a sum of entries adds, and where runs begin.
--
-- A run lies between two paid claims: within it only contributions change the meters. So the tiers at its beginning and
-- the amounts determine what each of its entries added. The script does not write it for each entry.

-- The tiers before the entry with this index: "index pool,pool_micro,contributed_micro,cap/...;", one part for each
-- tier, cap "-" for none.
local function run_text(tiers, index)
  local places = {}
  for t, tier in ipairs(tiers) do
    local cap = tier.cap and num(tier.cap) or '-'
    places[t] = num(tier.pool) .. ',' .. num(tier.pool_micro) .. ',' .. num(tier.contributed_micro) .. ',' .. cap
  end
  return num(index) .. ' ' .. table.concat(places, '/') .. ';'
end

-- Whether no meter passes MAX with this row: pool units, pool millionths, reserve units, reserve millionths for each
-- tier.
local function row_fits(tiers, row)
  for t, tier in ipairs(tiers) do
    local a = (t - 1) * 4
    if not fits(tier, row[a + 1], row[a + 2], row[a + 3], row[a + 4]) then
      return false
    end
  end
  return true
end

-- Adds one row of amounts. Returns "pool+amount,..." after it, or nil when it does not fit.
local function contribute(tiers, row)
  if not row_fits(tiers, row) then
    return nil
  end
  local parts = {}
  for t, tier in ipairs(tiers) do
    local a = (t - 1) * 4
    local amount = accrue(tier, row[a + 1], row[a + 2], row[a + 3], row[a + 4])
    parts[t] = num(tier.pool) .. '+' .. num(amount)
  end
  return table.concat(parts, ',')
end

-- Reads a row of `width` amounts from ARGV.
local function read_row(first, width)
  local row = {}
  for a = 1, width do
    row[a] = must(exact(ARGV[first + a - 1]), 'JP_ARGUMENT amount')
  end
  return row
end
