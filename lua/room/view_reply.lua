-- Generated from crates/room/src/scripts/view.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test it
-- docs::`.

-- `ok`: a room as it is. Nothing is written.
local function viewed_reply(mark_text, values)
  return {
    'ok',
    mark_text,
    values.now_ms,
    values.wall_ms,
    values.status,
    values.version,
    values.definition,
    values.nonce,
    values.commitment,
    values.decides,
    values.defined,
    values.opens_ms or '',
    values.hold_ms or '',
    values.active,
    values.waiting,
    values.admitted,
    values.promoted,
    values.expired,
    values.abandoned,
    values.left,
    values.waited_ms,
    values.collected,
    values.collected_sha256 or '',
  }
end
