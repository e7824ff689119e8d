-- Generated from crates/room/src/scripts/revoked.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test
-- it docs::`.

-- `ok`: a page of revoked passes. Each follows, by number.
local function revoked_page_reply(mark_text, values)
  return {
    'ok',
    mark_text,
    values.now_ms,
    values.passes,
    values.hold_ms,
    values.last,
    values.complete and 1 or 0,
  }
end

-- A revoked pass.
local function append_revoked_pass(reply, values)
  local length = #reply
  reply[length + 1] = values.number
  reply[length + 2] = values.ticket
  reply[length + 3] = values.exp_ms
  reply[length + 4] = values.at_ms
end
