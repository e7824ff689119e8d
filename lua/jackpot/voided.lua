-- Generated from crates/core/src/jackpot/settlement.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run
-- --test it docs::`.
--
-- What payouts of a tier were taken back, in the field `voided` of the state.
--   tier amount;

local function voided_text(tier, amount)
  return tier .. ' ' .. amount .. ';'
end

-- Parses it into a table with its fields as text; nil for every other text.
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
