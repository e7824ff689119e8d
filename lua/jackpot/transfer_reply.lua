-- Generated from src/jackpot/scripts/transfer.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test it
-- docs::`.

-- The money of a transfer is given, by this call (`ok`) or an earlier one (`same`), or would be these parts (`holds`).
local function given_reply(code, mark_text, values)
  return {
    code,
    mark_text,
    values.parts,
  }
end
