-- Generated from crates/jackpot/src/scripts/approve_limit.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest
-- run --test it docs::`.

-- The limit is in force: by this call (`ok`), or because nothing waits (`same`).
local function approved_reply(code, mark_text, values)
  return {
    code,
    mark_text,
    values.settlement,
    values.above,
  }
end
