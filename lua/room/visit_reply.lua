-- Generated from crates/room/src/scripts/visit.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test
-- it docs::`.

-- `ok`: a room after a step. All times are room times but `wall_ms` and `opens_ms`, which are of Redis' clock.
local function stepped_reply(mark_text, values)
  return {
    'ok',
    mark_text,
    values.now_ms,
    values.wall_ms,
    values.passes,
    values.revocations,
    values.status,
    values.active,
    values.waiting,
    values.admitted,
    values.promoted,
    values.expired,
    values.abandoned,
    values.left,
    values.waited_ms,
    values.opens_ms or '',
    values.hold_ms or '',
    values.waiting_timeout_ms,
    values.session_ms,
    values.capacity,
    values.rate or '',
    values.next_due_ms or '',
    values.more and 1 or 0,
    values.unpublished and 1 or 0,
    values.unordered and 1 or 0,
    values.nonce,
    values.commitment,
  }
end

-- The answer to one visit, after the values of the room.
local function append_answer(reply, values)
  local length = #reply
  reply[length + 1] = values.code
  reply[length + 2] = values.ticket or ''
  reply[length + 3] = values.record or ''
  reply[length + 4] = values.ahead
end
