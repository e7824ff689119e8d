-- Generated from src/jackpot/ledger/event.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test it
-- docs::`.
--
-- Part of a script. Appends the event `rotate`: An epoch closed and the next one opened.
-- `values` has a text for each field:
--   epoch: The epoch that opened.
--   commitment: SHA-256 of the seed of the epoch that opened.
--   epoch_nonce: Public input of that seed: 32 hexadecimal digits.
--   secret_id: Id of the master secret, the other input: 16 hexadecimal digits.
--   kind: `generation` when the older generation of records was dropped too.
--   pruned: Versions of definitions that no record needs any more.
--   closed: The epoch that closed.
--   closed_commitment: SHA-256 of the seed of the epoch that closed.
--   dropped: The generation of records that is written from now on, `a` or `b`; empty when none was dropped.
--   reason: Why, in the operator's words.
--   who: Name of the operator's key, or of the part of the service.
--   request_id: `X-Request-Id` of the call; empty for none.
--   meters: The change of each meter.
--   applied: Version of the definition that came into force with the event.

local function append_rotate(key, state, at, values)
  redis.call(
    'XADD',
    key,
    next_event(state),
    'n',
    num(state.n),
    'at',
    num(at),
    'type',
    'rotate',
    'history',
    state.history,
    'epoch',
    values.epoch,
    'commitment',
    values.commitment,
    'epoch_nonce',
    values.epoch_nonce,
    'secret_id',
    values.secret_id,
    'kind',
    values.kind,
    'pruned',
    values.pruned,
    'closed',
    values.closed,
    'closed_commitment',
    values.closed_commitment,
    'dropped',
    values.dropped,
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
