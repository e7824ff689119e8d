-- Generated from tests/it/subject/toy/ledger.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test it
-- docs::`.
--
-- Part of a script. Appends the event `checkpoint`: What Redis held right before the event.
-- `values` has a text for each field:
--   state: All of it.

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
