-- Generated from crates/core/src/jackpot/reversal.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run
-- --test it docs::`.
--
-- A record of early cancels that the record of an entry or a batch replaced.
--   name;

local function replaced_text(name)
  return name .. ';'
end
