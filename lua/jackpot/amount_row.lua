-- Generated from crates/core/src/jackpot/added.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test
-- it docs::`.
--
-- What an entry of a stake adds.
--   stake=amounts;

-- Parses it into a table with its fields as text; nil for every other text.
local function read_amount_row(text)
  local stake, amounts = string.match(text, '^([%w*@._-]+)=([^=]+)$')
  if not stake then
    return nil
  end
  return {
    stake = stake,
    amounts = amounts,
  }
end
