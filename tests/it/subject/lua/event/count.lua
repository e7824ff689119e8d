-- Generated from tests/it/subject/toy/ledger.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test it
-- docs::`.
--
-- Part of a script. Appends the event `count`: The toy counted one further.
-- `values` has a text for each field:
--   count: How far it has counted.

local function append_count(key, state, at, values)
  redis.call(
    'XADD',
    key,
    next_event(state),
    'n',
    num(state.n),
    'at',
    num(at),
    'type',
    'count',
    'history',
    state.history,
    'count',
    values.count
  )
end
