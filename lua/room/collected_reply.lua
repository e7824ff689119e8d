-- Generated from crates/room/src/scripts/collected.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run
-- --test it docs::`.

-- `ok`: a page of the tickets from before the opening. Each follows, in join order.
local function collected_page_reply(mark_text, values)
  return {
    'ok',
    mark_text,
    values.now_ms,
    values.opens_ms or '',
  }
end

-- A ticket from before the opening.
local function append_collected(reply, values)
  local length = #reply
  reply[length + 1] = values.number
  reply[length + 2] = values.ticket
end
