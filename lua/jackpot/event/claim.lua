-- Generated from src/jackpot/ledger/event.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test it
-- docs::`.
--
-- Part of a script. Appends the event `claim`: A redraw of a pending entry claimed a prize, or a coupon answered.
-- `values` has a text for each field:
--   entry: Id of the entry.
--   claims: The claim.
--   meters: The change of each meter.
--   applied: Version of the definition that came into force with the event.

local function append_claim(key, state, at, values)
  redis.call(
    'XADD',
    key,
    next_event(state),
    'n',
    num(state.n),
    'at',
    num(at),
    'type',
    'claim',
    'history',
    state.history,
    'entry',
    values.entry,
    'claims',
    values.claims,
    'meters',
    values.meters,
    'applied',
    values.applied
  )
end
