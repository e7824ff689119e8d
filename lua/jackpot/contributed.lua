-- Generated from crates/core/src/jackpot/record.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test
-- it docs::`.
--
-- An entry's contribution to a tier.
--   pool+amount

local function contributed_text(pool, amount)
  return pool .. '+' .. amount
end
