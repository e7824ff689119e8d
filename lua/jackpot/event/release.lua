-- Generated from crates/jackpot/src/ledger/event.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test
-- it docs::`.
--
-- Part of a script. Appends the event `release`: Room that was made for a transfer ended unused: the other jackpot did
-- not give these parts, or they are in.
-- `values` has a text for each field:
--   transfer: Id of the transfer.
--   from: The jackpot that would have given.
--   digest: The digest in the name of the room.
--   parts: The parts that it was made for.
--   meters: The change of each meter.
--   applied: Version of the definition that came into force with the event.
--   cycles: The cycles that ended and began with it. Only where a cycle may have changed.

local function append_release(key, state, at, values)
  local id, n = next_event(state)
  local at_text = num(at)
  local text = '4:type7:release'
    .. '1:n'
    .. (sizes[#n] or size(#n))
    .. n
    .. '2:at'
    .. (sizes[#at_text] or size(#at_text))
    .. at_text
    .. '7:history'
    .. (sizes[#state.history] or size(#state.history))
    .. state.history
    .. '8:transfer'
    .. (sizes[#values.transfer] or size(#values.transfer))
    .. values.transfer
    .. '4:from'
    .. (sizes[#values.from] or size(#values.from))
    .. values.from
    .. '6:digest'
    .. (sizes[#values.digest] or size(#values.digest))
    .. values.digest
    .. '5:parts'
    .. (sizes[#values.parts] or size(#values.parts))
    .. values.parts
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
