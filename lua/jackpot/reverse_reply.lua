-- Generated from crates/jackpot/src/scripts/reverse.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run
-- --test it docs::`.

-- The entry is reversed: by this call (`ok`), an earlier one with the same id (`same`), or another reversal (`other`).
local function reversed_reply(code, mark_text, values)
  return {
    code,
    mark_text,
    values.record,
  }
end
