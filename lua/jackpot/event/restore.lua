-- Generated from src/jackpot/ledger/event.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test it
-- docs::`.
--
-- Part of a script. Appends the event `restore`: Redis was rebuilt from the events before this one.
-- `values` has a text for each field:
--   from_n: Number of the last event that Redis had; empty when it had nothing of the subject.
--   restores: How often the subject has been restored, including this time.
--   status: Status after it.
--   records: How many records the restore wrote.
--   reason: Why, in the operator's words.
--   who: Name of the operator's key, or of the part of the service.
--   request_id: `X-Request-Id` of the call; empty for none.
--   closed: The epoch that was open; the restore closed it.
--   epoch: The epoch that is open now.
--   commitment: SHA-256 of the seed of the epoch that opened.
--   epoch_nonce: Public input of that seed: 32 hexadecimal digits.
--   secret_id: Id of the master secret, the other input: 16 hexadecimal digits.
--   meters: The change of each meter.
--   applied: Version of the definition that came into force with the event.

local function append_restore(key, state, at, values)
  redis.call(
    'XADD',
    key,
    next_event(state),
    'n',
    num(state.n),
    'at',
    num(at),
    'type',
    'restore',
    'history',
    state.history,
    'from_n',
    values.from_n,
    'restores',
    values.restores,
    'status',
    values.status,
    'records',
    values.records,
    'reason',
    values.reason,
    'who',
    values.who,
    'request_id',
    values.request_id,
    'closed',
    values.closed,
    'epoch',
    values.epoch,
    'commitment',
    values.commitment,
    'epoch_nonce',
    values.epoch_nonce,
    'secret_id',
    values.secret_id,
    'meters',
    values.meters,
    'applied',
    values.applied
  )
end
