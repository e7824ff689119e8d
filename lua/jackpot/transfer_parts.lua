-- Shared by the scripts of the jackpot that a transfer goes to: its parts as numbers.
--
-- Part of a script, after exactly.lua and `transfer`.
-- needs: exactly transfer

-- The parts of this text, in order.
local function read_parts(text, what)
  local parts = {}
  for row in string.gmatch(text, '[^;]+') do
    local part = must(read_part(row), what)
    for name, value in pairs(part) do
      local is_name = name == 'tier' or name == 'to_tier'
      part[name] = is_name and value or must(exact(value), what)
    end
    parts[#parts + 1] = part
  end
  return parts
end

-- All money of a part, units and millionths.
local function money_of(part)
  return sum(part.pool + part.overflow, part.pool_micro, part.reserve, part.reserve_micro)
end

-- Whole units that a part needs below MAX. A sum beyond 2^53 is rounded, but stays beyond.
local function room_of(part)
  local units, micro = money_of(part)
  return units + (micro > 0 and 1 or 0)
end
