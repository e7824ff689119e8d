-- Generated from crates/jackpot/src/scripts/operate.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run
-- --test it docs::`.

-- `tier-removed`: a tier must stay, because money may be in it.
local function removed_reply(mark_text, values)
  return {
    'tier-removed',
    mark_text,
    values.tier,
  }
end

-- `currency`: the currency must stay once money has been in the jackpot.
local function kept_reply(mark_text, values)
  return {
    'currency',
    mark_text,
    values.currency,
  }
end
