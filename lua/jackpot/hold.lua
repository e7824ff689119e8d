-- Generated from crates/core/src/jackpot/settlement.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run
-- --test it docs::`.
--
-- Under what payouts of a jackpot are tracked, in the field `hold` of its state. It is there from the first PUT on that
-- tracks payouts or has a limit.
--   settlement above owner asked asked_settlement asked_above

local function hold_text(settlement, above, owner, asked, asked_settlement, asked_above)
  return settlement .. ' ' .. above .. ' ' .. owner .. ' ' .. asked .. ' ' .. asked_settlement .. ' ' .. asked_above
end

-- Parses it into a table with its fields as text; nil for every other text.
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
