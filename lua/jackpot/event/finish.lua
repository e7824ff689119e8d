-- Generated from src/jackpot/ledger/event.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test it
-- docs::`.
--
-- Part of a script. Appends the event `finish`: A pending entry ended with no prize.
-- `values` has a text for each field:
--   entry: Id of the entry.
--   seq: Its sequence.
--   attempt: The attempt that ended it, from 0.
--   meters: The change of each meter.
--   applied: Version of the definition that came into force with the event.

local function append_finish(key, state, at, values)
  redis.call(
    'XADD',
    key,
    next_event(state),
    'n',
    num(state.n),
    'at',
    num(at),
    'type',
    'finish',
    'history',
    state.history,
    'entry',
    values.entry,
    'seq',
    values.seq,
    'attempt',
    values.attempt,
    'meters',
    values.meters,
    'applied',
    values.applied
  )
end
