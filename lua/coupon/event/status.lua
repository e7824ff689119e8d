-- Generated from src/coupon/ledger/event.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test it
-- docs::`.
--
-- Part of a script. Appends the event `status`: The service suspended the coupon, or opened it again.
-- `values` has a text for each field:
--   before: Status before.
--   after: Status after.
--   reason: Why, in the operator's words.
--   who: Name of the operator's key, or of the part of the service.
--   request_id: `X-Request-Id` of the call; empty for none.

local function append_status(key, state, at, values)
  redis.call(
    'XADD',
    key,
    next_event(state),
    'n',
    num(state.n),
    'at',
    num(at),
    'type',
    'status',
    'history',
    state.history,
    'before',
    values.before,
    'after',
    values.after,
    'reason',
    values.reason,
    'who',
    values.who,
    'request_id',
    values.request_id
  )
end
