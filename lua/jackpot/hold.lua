local function hold_text(settlement, above, owner, asked, asked_settlement, asked_above)
  return settlement .. ' ' .. above .. ' ' .. owner .. ' ' .. asked .. ' ' .. asked_settlement .. ' ' .. asked_above
end

local function read_hold(text)
  local settlement, above, owner, asked, asked_settlement, asked_above =
    string.match(text, '^(%l+) (%S+) (%S+) (%S+) (%S+) (%S+)$')
  if not settlement then
    return nil
  end
  return {
    settlement = settlement,
    above = above,
    owner = owner,
    asked = asked,
    asked_settlement = asked_settlement,
    asked_above = asked_above,
  }
end
