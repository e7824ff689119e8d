-- Generated from src/jackpot/ledger/event.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test it
-- docs::`.
--
-- Part of a script. Appends the event `adjust`: An operator put money in, took it out or moved it.
-- `values` has a text for each field:
--   adjustment: Its id.
--   digest: Digest of its content, by which the service knows a repeat.
--   tier: The tier.
--   from: The meter that it lowers; empty for money from outside.
--   to: The meter that it raises; empty for money that leaves the jackpot.
--   amount: Minor units.
--   reason: Why, in the operator's words.
--   who: Name of the operator's key, or of the part of the service.
--   request_id: `X-Request-Id` of the call; empty for none.
--   meters: The change of each meter.
--   applied: Version of the definition that came into force with the event.

local function append_adjust(key, state, at, values)
  redis.call(
    'XADD',
    key,
    next_event(state),
    'n',
    num(state.n),
    'at',
    num(at),
    'type',
    'adjust',
    'history',
    state.history,
    'adjustment',
    values.adjustment,
    'digest',
    values.digest,
    'tier',
    values.tier,
    'from',
    values.from,
    'to',
    values.to,
    'amount',
    values.amount,
    'reason',
    values.reason,
    'who',
    values.who,
    'request_id',
    values.request_id,
    'meters',
    values.meters,
    'applied',
    values.applied
  )
end
