-- Generated from crates/room/src/scripts/collected.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run
-- --test it docs::`.

-- `ok`: progress of the new order. If others have ordered some, the caller goes on from there.
local function ordered_reply(mark_text, values)
  return {
    'ok',
    mark_text,
    values.ordered,
    values.to_order,
  }
end
