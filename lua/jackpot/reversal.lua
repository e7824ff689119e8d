-- Generated from crates/core/src/jackpot/reversal.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run
-- --test it docs::`.
--
-- A reversal that was made, beside the records of entries under the name `!<sequence>`: an id that is used again, after
-- its record was dropped, is another entry.
--   reversal_id at_ms tiers

local function reversal_text(reversal_id, at_ms, tiers)
  return reversal_id .. ' ' .. at_ms .. ' ' .. tiers
end

-- Parses it into a table with its fields as text; nil for every other text.
local function read_reversal(text)
  local reversal_id, at_ms, tiers = string.match(text, '^(%S+) (%d+) (%S+)$')
  if not reversal_id then
    return nil
  end
  return {
    reversal_id = reversal_id,
    at_ms = at_ms,
    tiers = tiers,
  }
end

--
-- What a reversal gave back of one tier, and how much of it the tier did not hold.
--   tier,amount,amount_micro,uncovered,uncovered_micro,taken;

local function reversed_tier_text(tier, amount, amount_micro, uncovered, uncovered_micro, taken)
  return tier
    .. ','
    .. amount
    .. ','
    .. amount_micro
    .. ','
    .. uncovered
    .. ','
    .. uncovered_micro
    .. ','
    .. taken
    .. ';'
end
