-- Shared by the scripts that move money to the millionth outside the packed meters (reversals, transfers).
--
-- Part of a script, after tiers.lua.

-- Adds units and millionths to others.
local function sum(units, micro, more, more_micro)
  local both = micro + more_micro
  return units + more + (both >= MICRO and 1 or 0), both % MICRO
end

-- What a tier has outside the packed meters, before a script changes it: for `moved_changes`.
local function moved_before(moved)
  local was = {}
  for _, field in ipairs(MOVED_METERS) do
    was[field] = moved[field]
  end
  return was
end

-- The changes since then as text for the event, to follow those of `changes` for the same tier.
local function moved_changes(moved, was)
  local parts = {}
  for _, field in ipairs(MOVED_METERS) do
    if moved[field] ~= was[field] then
      parts[#parts + 1] = meter_delta_text(field, num(moved[field] - was[field]))
    end
  end
  return #parts > 0 and tier_changes_text(moved.tier, table.concat(parts, ',')) or ''
end
