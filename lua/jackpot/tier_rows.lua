-- Shared by the scripts that get or report the tiers of a definition as text: "name seed cap;" each, cap "-" for none.

-- Parses such a text into the rows that the terms keep.
local function tier_rows(text)
  local rows = {}
  for name, seed, cap in string.gmatch(text, '(%S+) (%d+) (%S+);') do
    local limit = cap ~= '-' and must(exact(cap), 'JP_ARGUMENT tiers')
    rows[#rows + 1] = { name, must(exact(seed), 'JP_ARGUMENT tiers'), limit }
  end
  return rows
end

local function tier_text(rows)
  local out = {}
  for i, row in ipairs(rows) do
    out[i] = row[1] .. ' ' .. num(row[2]) .. ' ' .. (row[3] and num(row[3]) or '-') .. ';'
  end
  return table.concat(out)
end
