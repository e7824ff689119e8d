-- Generated from src/coupon/ledger/event.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test it
-- docs::`.
--
-- Part of a script. Appends the event `retire`: The coupon is over for good, and its records were dropped.
-- `values` has a text for each field:
--   requests: How many requests had a record.
--   queued: How many of them were in the queue.
--   dead: How many of them were dead letters.

local function append_retire(key, state, at, values)
  redis.call(
    'XADD',
    key,
    next_event(state),
    'n',
    num(state.n),
    'at',
    num(at),
    'type',
    'retire',
    'history',
    state.history,
    'requests',
    values.requests,
    'queued',
    values.queued,
    'dead',
    values.dead
  )
end
