-- Generated from src/room/ledger/event.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test it
-- docs::`.
--
-- Part of a script. Appends the event `opened`: The list of the users who joined before the opening was published.
-- `values` has a text for each field:
--   joined: Number of users.
--   sha256: SHA-256 of their tickets in the order in which they joined, each followed by a line feed; hexadecimal.
--   clock: The room's time: the highest that it has shown.

local function append_opened(key, state, at, values)
  redis.call(
    'XADD',
    key,
    next_event(state),
    'n',
    num(state.n),
    'at',
    num(at),
    'type',
    'opened',
    'history',
    state.history,
    'joined',
    values.joined,
    'sha256',
    values.sha256,
    'clock',
    values.clock
  )
end
