-- Generated from crates/core/src/jackpot/reversal.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run
-- --test it docs::`.
--
-- What a tier has outside the packed meters, in the field `moved` of the state. The field is written by takes of all,
-- reversals and transfers.
--   tier took_wins took_sequence reversed reversed_micro funded_micro pool_reversed transferred_in transferred_in_micro
--     transferred_out transferred_out_micro expected;

local function moved_text(
  tier,
  took_wins,
  took_sequence,
  reversed,
  reversed_micro,
  funded_micro,
  pool_reversed,
  transferred_in,
  transferred_in_micro,
  transferred_out,
  transferred_out_micro,
  expected
)
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
    .. ' '
    .. transferred_in
    .. ' '
    .. transferred_in_micro
    .. ' '
    .. transferred_out
    .. ' '
    .. transferred_out_micro
    .. ' '
    .. expected
    .. ';'
end

-- Parses it into a table with its fields as text; nil for every other text.
local function read_moved(text)
  local found = { string.match(text, '^(%S+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+)$') }
  if not found[1] then
    return nil
  end
  return {
    tier = found[1],
    took_wins = found[2],
    took_sequence = found[3],
    reversed = found[4],
    reversed_micro = found[5],
    funded_micro = found[6],
    pool_reversed = found[7],
    transferred_in = found[8],
    transferred_in_micro = found[9],
    transferred_out = found[10],
    transferred_out_micro = found[11],
    expected = found[12],
  }
end
