-- Generated from src/coupon/ledger/event.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test it
-- docs::`.
--
-- Part of a script. Appends the event `redrive`: A dead letter went back into the queue.
-- `values` has a text for each field:
--   request: Id of the request.
--   arrival: Its place in the queue.
--   who: Name of the operator's key, or of the part of the service.
--   request_id: `X-Request-Id` of the call; empty for none.

local function append_redrive(key, state, at, values)
  redis.call(
    'XADD',
    key,
    next_event(state),
    'n',
    num(state.n),
    'at',
    num(at),
    'type',
    'redrive',
    'history',
    state.history,
    'request',
    values.request,
    'arrival',
    values.arrival,
    'who',
    values.who,
    'request_id',
    values.request_id
  )
end
