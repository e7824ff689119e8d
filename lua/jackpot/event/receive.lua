-- Generated from crates/jackpot/src/ledger/event.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test
-- it docs::`.
--
-- Part of a script. Appends the event `receive`: The money of a transfer came in.
-- `values` has a text for each field:
--   transfer: Its id.
--   from: The jackpot that gave it.
--   parts: What each tier gave, and where it went.
--   room: The digest in the name of the room that it took; empty where there was none, and in events of an earlier
--     version.
--   meters: The change of each meter.
--   applied: Version of the definition that came into force with the event.
--   cycles: The cycles that ended and began with it. Only where a cycle may have changed.

local function append_receive(key, state, at, values)
  local id, n = next_event(state)
  local at_text = num(at)
  local text = '4:type7:receive'
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
    .. '5:parts'
    .. (sizes[#values.parts] or size(#values.parts))
    .. values.parts
    .. '4:room'
    .. (sizes[#values.room] or size(#values.room))
    .. values.room
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
