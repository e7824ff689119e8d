-- Generated from crates/jackpot/src/ledger/event.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test
-- it docs::`.
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
--   ended_epoch: The same epoch, which closed at once. Only of a closed jackpot.
--   meters: The change of each meter.
--   applied: Version of the definition that came into force with the event.
--   cycles: The cycles that ended and began with it. Only where a cycle may have changed.

local function append_restore(key, state, at, values)
  local id, n = next_event(state)
  local at_text = num(at)
  local text = '4:type7:restore'
    .. '1:n'
    .. (sizes[#n] or size(#n))
    .. n
    .. '2:at'
    .. (sizes[#at_text] or size(#at_text))
    .. at_text
    .. '7:history'
    .. (sizes[#state.history] or size(#state.history))
    .. state.history
    .. '6:from_n'
    .. (sizes[#values.from_n] or size(#values.from_n))
    .. values.from_n
    .. '8:restores'
    .. (sizes[#values.restores] or size(#values.restores))
    .. values.restores
    .. '6:status'
    .. (sizes[#values.status] or size(#values.status))
    .. values.status
    .. '7:records'
    .. (sizes[#values.records] or size(#values.records))
    .. values.records
    .. '6:reason'
    .. (sizes[#values.reason] or size(#values.reason))
    .. values.reason
    .. '3:who'
    .. (sizes[#values.who] or size(#values.who))
    .. values.who
    .. '10:request_id'
    .. (sizes[#values.request_id] or size(#values.request_id))
    .. values.request_id
    .. '6:closed'
    .. (sizes[#values.closed] or size(#values.closed))
    .. values.closed
    .. '5:epoch'
    .. (sizes[#values.epoch] or size(#values.epoch))
    .. values.epoch
    .. '10:commitment'
    .. (sizes[#values.commitment] or size(#values.commitment))
    .. values.commitment
    .. '11:epoch_nonce'
    .. (sizes[#values.epoch_nonce] or size(#values.epoch_nonce))
    .. values.epoch_nonce
    .. '9:secret_id'
    .. (sizes[#values.secret_id] or size(#values.secret_id))
    .. values.secret_id
    .. '6:meters'
    .. (sizes[#values.meters] or size(#values.meters))
    .. values.meters
    .. '7:applied'
    .. (sizes[#values.applied] or size(#values.applied))
    .. values.applied
  if values.ended_epoch then
    text = text .. '11:ended_epoch' .. (sizes[#values.ended_epoch] or size(#values.ended_epoch)) .. values.ended_epoch
  end
  if values.cycles then
    text = text .. '6:cycles' .. (sizes[#values.cycles] or size(#values.cycles)) .. values.cycles
  end
  redis.call('XADD', key, id, 'e', text)
end
