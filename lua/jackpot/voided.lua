local function voided_text(tier, amount)
  return tier .. ' ' .. amount .. ';'
end

local function read_voided(text)
  local tier, amount = string.match(text, '^(%S+) (%d+)$')
  if not tier then
    return nil
  end
  return {
    tier = tier,
    amount = amount,
  }
end
