-- Generated from crates/jackpot/src/ledger/event.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test
-- it docs::`.
--
-- Part of a script. Appends the event `finish`: A pending entry ended with no prize.
-- `values` has a text for each field:
--   entry: Id of the entry.
--   seq: Its sequence.
--   attempt: The attempt that ended it, from 0.
--   meters: The change of each meter.
--   applied: Version of the definition that came into force with the event.
--   cycles: The cycles that ended and began with it. Only where a cycle may have changed.

local function append_finish(key, state, at, values)
  local id, n = next_event(state)
  local at_text = num(at)
  local text = '4:type6:finish'
    .. '1:n'
    .. (sizes[#n] or size(#n))
    .. n
    .. '2:at'
    .. (sizes[#at_text] or size(#at_text))
    .. at_text
    .. '7:history'
    .. (sizes[#state.history] or size(#state.history))
    .. state.history
    .. '5:entry'
    .. (sizes[#values.entry] or size(#values.entry))
    .. values.entry
    .. '3:seq'
    .. (sizes[#values.seq] or size(#values.seq))
    .. values.seq
    .. '7:attempt'
    .. (sizes[#values.attempt] or size(#values.attempt))
    .. values.attempt
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
