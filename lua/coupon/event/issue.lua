-- Generated from src/coupon/ledger/event.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test it
-- docs::`.
--
-- Part of a script. Appends the event `issue`: Requests were decided as they came, or joined the queue.
-- `values` has a text for each field:
--   block: One request a line.
--   users: How many users got their first record.

local function append_issue(key, state, at, values)
  redis.call(
    'XADD',
    key,
    next_event(state),
    'n',
    num(state.n),
    'at',
    num(at),
    'type',
    'issue',
    'history',
    state.history,
    'block',
    values.block,
    'users',
    values.users
  )
end
