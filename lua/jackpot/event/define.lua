-- Generated from crates/jackpot/src/ledger/event.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test
-- it docs::`.
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
--   hold: Under what payouts are tracked after it. Only where payouts are or were tracked, or have a limit.
--   meters: The change of each meter.
--   applied: Version of the definition that came into force with the event.
--   cycles: The cycles that ended and began with it. Only where a cycle may have changed.

local function append_define(key, state, at, values)
  local id, n = next_event(state)
  local at_text = num(at)
  local text = '4:type6:define'
    .. '1:n'
    .. (sizes[#n] or size(#n))
    .. n
    .. '2:at'
    .. (sizes[#at_text] or size(#at_text))
    .. at_text
    .. '7:history'
    .. (sizes[#state.history] or size(#state.history))
    .. state.history
    .. '4:mode'
    .. (sizes[#values.mode] or size(#values.mode))
    .. values.mode
    .. '7:version'
    .. (sizes[#values.version] or size(#values.version))
    .. values.version
    .. '4:json'
    .. (sizes[#values.json] or size(#values.json))
    .. values.json
    .. '5:nonce'
    .. (sizes[#values.nonce] or size(#values.nonce))
    .. values.nonce
    .. '3:who'
    .. (sizes[#values.who] or size(#values.who))
    .. values.who
    .. '10:request_id'
    .. (sizes[#values.request_id] or size(#values.request_id))
    .. values.request_id
    .. '5:tiers'
    .. (sizes[#values.tiers] or size(#values.tiers))
    .. values.tiers
    .. '5:money'
    .. (sizes[#values.money] or size(#values.money))
    .. values.money
    .. '8:currency'
    .. (sizes[#values.currency] or size(#values.currency))
    .. values.currency
    .. '6:meters'
    .. (sizes[#values.meters] or size(#values.meters))
    .. values.meters
    .. '7:applied'
    .. (sizes[#values.applied] or size(#values.applied))
    .. values.applied
  if values.status then
    text = text .. '6:status' .. (sizes[#values.status] or size(#values.status)) .. values.status
  end
  if values.commitment then
    text = text .. '10:commitment' .. (sizes[#values.commitment] or size(#values.commitment)) .. values.commitment
  end
  if values.epoch_nonce then
    text = text .. '11:epoch_nonce' .. (sizes[#values.epoch_nonce] or size(#values.epoch_nonce)) .. values.epoch_nonce
  end
  if values.secret_id then
    text = text .. '9:secret_id' .. (sizes[#values.secret_id] or size(#values.secret_id)) .. values.secret_id
  end
  if values.retention then
    text = text .. '9:retention' .. (sizes[#values.retention] or size(#values.retention)) .. values.retention
  end
  if values.epoch then
    text = text .. '5:epoch' .. (sizes[#values.epoch] or size(#values.epoch)) .. values.epoch
  end
  if values.superseded then
    text = text .. '10:superseded' .. (sizes[#values.superseded] or size(#values.superseded)) .. values.superseded
  end
  if values.hold then
    text = text .. '4:hold' .. (sizes[#values.hold] or size(#values.hold)) .. values.hold
  end
  if values.cycles then
    text = text .. '6:cycles' .. (sizes[#values.cycles] or size(#values.cycles)) .. values.cycles
  end
  redis.call('XADD', key, id, 'e', text)
end
