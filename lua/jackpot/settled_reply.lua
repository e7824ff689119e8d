-- Generated from crates/jackpot/src/scripts/finish.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run
-- --test it docs::`.

-- `ok`: the entry after the call.
local function settled_reply(mark_text, values)
  return {
    'ok',
    mark_text,
    values.done_now and 1 or 0,
    values.record,
  }
end
