-- Generated from src/coupon/ledger/event.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test it
-- docs::`.
--
-- Part of a script. Appends the event `define`: The coupon was created, or its definition changed.
-- `values` has a text for each field:
--   mode: What the PUT did: it created the subject, its definition is in force, or waits for the next take of all.
--   version: Version of the definition.
--   json: The definition, as the operator sent it.
--   nonce: One for the PUT and all its repeats.
--   who: Name of the operator's key, or of the part of the service.
--   request_id: `X-Request-Id` of the call; empty for none.
--   retention: For how long records are kept after the end.

local function append_define(key, state, at, values)
  redis.call(
    'XADD',
    key,
    next_event(state),
    'n',
    num(state.n),
    'at',
    num(at),
    'type',
    'define',
    'history',
    state.history,
    'mode',
    values.mode,
    'version',
    values.version,
    'json',
    values.json,
    'nonce',
    values.nonce,
    'who',
    values.who,
    'request_id',
    values.request_id,
    'retention',
    values.retention
  )
end
