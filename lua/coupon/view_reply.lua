-- Generated from crates/coupon/src/scripts/read.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test
-- it docs::`.

-- `ok`: a coupon as it is. Each field of the state and each count follows.
local function viewed_reply(mark_text, values)
  return {
    'ok',
    mark_text,
    values.now_ms,
    values.definition,
  }
end

-- A field of the state, or how many records there are.
local function append_told(reply, values)
  local length = #reply
  reply[length + 1] = values.name
  reply[length + 2] = values.value
end
