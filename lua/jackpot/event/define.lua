-- Generated from src/jackpot/ledger/event.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test it
-- docs::`.
--
-- Part of a script. Appends the event `define`: The jackpot was created, or an operator put a definition.
-- `values` has a text for each field:
--   mode: What the PUT did: it created the subject, its definition is in force, or waits for the next take of all.
--   version: Version of the definition.
--   json: The definition, as the operator sent it.
--   nonce: One for the PUT and all its repeats.
--   who: Name of the operator's key, or of the part of the service.
--   request_id: `X-Request-Id` of the call; empty for none.
--   tiers: Seeds and caps of its tiers, as the state in Redis has them.
--   money: Digest of what affects money or odds.
--   currency: ISO 4217 code of all amounts from here on; it changes only while no money has been there.
--   status: Its status. Only for a new jackpot.
--   commitment: SHA-256 of the seed of the epoch that opened. Only for a new jackpot.
--   epoch_nonce: Public input of that seed: 32 hexadecimal digits. Only for a new jackpot.
--   secret_id: Id of the master secret, the other input: 16 hexadecimal digits. Only for a new jackpot.
--   retention: For how long ids are remembered. Only for a new jackpot.
--   epoch: Its first epoch: 1. Only for a new jackpot.
--   superseded: Version of the waiting definition that this one replaced; empty for none. Only for a jackpot that was
--     there.
--   meters: The change of each meter.
--   applied: Version of the definition that came into force with the event.

local function append_define(key, state, at, values)
  local more = {}
  if values.status then
    more[#more + 1], more[#more + 2] = 'status', values.status
  end
  if values.commitment then
    more[#more + 1], more[#more + 2] = 'commitment', values.commitment
  end
  if values.epoch_nonce then
    more[#more + 1], more[#more + 2] = 'epoch_nonce', values.epoch_nonce
  end
  if values.secret_id then
    more[#more + 1], more[#more + 2] = 'secret_id', values.secret_id
  end
  if values.retention then
    more[#more + 1], more[#more + 2] = 'retention', values.retention
  end
  if values.epoch then
    more[#more + 1], more[#more + 2] = 'epoch', values.epoch
  end
  if values.superseded then
    more[#more + 1], more[#more + 2] = 'superseded', values.superseded
  end
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
    'tiers',
    values.tiers,
    'money',
    values.money,
    'currency',
    values.currency,
    'meters',
    values.meters,
    'applied',
    values.applied,
    unpack(more)
  )
end
