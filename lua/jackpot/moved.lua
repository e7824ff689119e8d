-- Generated from crates/core/src/jackpot/reversal.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run
-- --test it docs::`.
--
-- What a tier has outside the packed meters, in the field `moved` of the state. The field is written by takes of all
-- and by reversals.
--   tier took_wins took_sequence reversed reversed_micro funded_micro pool_reversed;

local function moved_text(tier, took_wins, took_sequence, reversed, reversed_micro, funded_micro, pool_reversed)
  return tier
    .. ' '
    .. took_wins
    .. ' '
    .. took_sequence
    .. ' '
    .. reversed
    .. ' '
    .. reversed_micro
    .. ' '
    .. funded_micro
    .. ' '
    .. pool_reversed
    .. ';'
end

-- Parses it into a table with its fields as text; nil for every other text.
local function read_moved(text)
  local tier, took_wins, took_sequence, reversed, reversed_micro, funded_micro, pool_reversed =
    string.match(text, '^(%S+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+)$')
  if not tier then
    return nil
  end
  return {
    tier = tier,
    took_wins = took_wins,
    took_sequence = took_sequence,
    reversed = reversed,
    reversed_micro = reversed_micro,
    funded_micro = funded_micro,
    pool_reversed = pool_reversed,
  }
end
