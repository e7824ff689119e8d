-- Generated from crates/core/src/jackpot/added.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test
-- it docs::`.
--
-- The beginning of a run: the first entry of a call, the one after each paid entry, and the first one under another
-- definition.
--   index:tiers;

local function run_text(index, tiers)
  return index .. ':' .. tiers .. ';'
end

--
-- The part of a tier's state that contributions need.
--   pool,pool_micro,contributed_micro,cap

local function run_tier_text(pool, pool_micro, contributed_micro, cap)
  return pool .. ',' .. pool_micro .. ',' .. contributed_micro .. ',' .. cap
end
