-- Generated from crates/jackpot/src/scripts/read.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test
-- it docs::`.

-- `ok`: entries without an outcome, by sequence. Each follows.
local function looked_reply(mark_text, values)
  return {
    'ok',
    mark_text,
    values.last or '',
  }
end

-- An entry without an outcome.
local function append_unsettled(reply, values)
  local length = #reply
  reply[length + 1] = values.entry_id
  reply[length + 2] = values.record
end
