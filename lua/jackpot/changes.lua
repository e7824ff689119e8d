-- Generated from crates/jackpot/src/ledger/event.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test
-- it docs::`.
--
-- The changes of a tier's meters.
--   tier changes;

local function tier_changes_text(tier, changes)
  return tier .. ' ' .. changes .. ';'
end

--
-- The change of a meter.
--   meter:delta

local function meter_delta_text(meter, delta)
  return meter .. ':' .. delta
end
