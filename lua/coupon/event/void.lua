-- Generated from src/coupon/ledger/event.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test it
-- docs::`.
--
-- Part of a script. Appends the event `void`: An issued unit was taken back.
-- `values` has a text for each field:
--   request: Id of the request.
--   user: Its user.
--   seq: Number of the issue.
--   users: -1 when no issue counts for the user any more, so that the user's record is gone; else 0.
--   who: Name of the operator's key, or of the part of the service.
--   request_id: `X-Request-Id` of the call; empty for none.

local function append_void(key, state, at, values)
  redis.call(
    'XADD',
    key,
    next_event(state),
    'n',
    num(state.n),
    'at',
    num(at),
    'type',
    'void',
    'history',
    state.history,
    'request',
    values.request,
    'user',
    values.user,
    'seq',
    values.seq,
    'users',
    values.users,
    'who',
    values.who,
    'request_id',
    values.request_id
  )
end
