-- Generated from crates/coupon/src/scripts/read.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test
-- it docs::`.

-- `ok`: dead letters, by arrival number. Each follows.
local function letters_reply(mark_text, values)
  return {
    'ok',
    mark_text,
    values.last or '',
  }
end

-- A dead letter.
local function append_letter(reply, values)
  local length = #reply
  reply[length + 1] = values.request_id
  reply[length + 2] = values.record
end
