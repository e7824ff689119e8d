-- Generated from src/coupon/ledger/event.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test it
-- docs::`.
--
-- Part of a script. Appends the event `checkpoint`: What Redis held right before the event. The ledger compares it with
-- its books.
-- `values` has a text for each field:
--   state: The state and the numbers of records, by their names in `lua/coupon/state.lua`.

local function append_checkpoint(key, state, at, values)
  redis.call(
    'XADD',
    key,
    next_event(state),
    'n',
    num(state.n),
    'at',
    num(at),
    'type',
    'checkpoint',
    'history',
    state.history,
    'state',
    values.state
  )
end
