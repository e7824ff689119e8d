-- Generated from crates/jackpot/src/ledger/event.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test
-- it docs::`.
--
-- Part of a script. Appends the event `cancel`: A game cancelled a round whose entry is not there: an entry of that id
-- that comes later is refused.
-- `values` has a text for each field:
--   reversal: Its id.
--   entry: Id of the entry.
--   by: Name of the key whose sources it counts for; `-` for all.
--   records: The records that it wrote.
--   reason: Why, in the operator's words.
--   who: Name of the operator's key, or of the part of the service.
--   request_id: `X-Request-Id` of the call; empty for none.
--   meters: The change of each meter.
--   applied: Version of the definition that came into force with the event.
--   cycles: The cycles that ended and began with it. Only where a cycle may have changed.

local function append_cancel(key, state, at, values)
  local id, n = next_event(state)
  local at_text = num(at)
  local text = '4:type6:cancel'
    .. '1:n'
    .. (sizes[#n] or size(#n))
    .. n
    .. '2:at'
    .. (sizes[#at_text] or size(#at_text))
    .. at_text
    .. '7:history'
    .. (sizes[#state.history] or size(#state.history))
    .. state.history
    .. '8:reversal'
    .. (sizes[#values.reversal] or size(#values.reversal))
    .. values.reversal
    .. '5:entry'
    .. (sizes[#values.entry] or size(#values.entry))
    .. values.entry
    .. '2:by'
    .. (sizes[#values.by] or size(#values.by))
    .. values.by
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
    .. '6:meters'
    .. (sizes[#values.meters] or size(#values.meters))
    .. values.meters
    .. '7:applied'
    .. (sizes[#values.applied] or size(#values.applied))
    .. values.applied
  if values.cycles then
    text = text .. '6:cycles' .. (sizes[#values.cycles] or size(#values.cycles)) .. values.cycles
  end
  redis.call('XADD', key, id, 'e', text)
end
