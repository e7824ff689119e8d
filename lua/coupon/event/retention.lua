-- Generated from src/coupon/ledger/event.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test it
-- docs::`.
--
-- Part of a script. Appends the event `retention`: An instance with a longer setting raised how long records are kept
-- after the end.
-- `values` has a text for each field:
--   before: Before.
--   retention: From now on.

local function append_retention(key, state, at, values)
  redis.call(
    'XADD',
    key,
    next_event(state),
    'n',
    num(state.n),
    'at',
    num(at),
    'type',
    'retention',
    'history',
    state.history,
    'before',
    values.before,
    'retention',
    values.retention
  )
end
