-- Generated from crates/jackpot/src/ledger/event.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test
-- it docs::`.
--
-- Part of a script. Appends the event `give`: An operator transferred all money of tiers to another jackpot: it is in
-- transit until that one receives it.
-- `values` has a text for each field:
--   transfer: Its id.
--   digest: Digest of its content, by which the service knows a repeat.
--   to: The jackpot that it goes to.
--   parts: What each tier gave, and where it goes.
--   owner: Owner of the key; empty in events of an earlier version.
--   asked: The owner who asked for it, where another one approved it; empty otherwise.
--   reason: Why, in the operator's words.
--   who: Name of the operator's key, or of the part of the service.
--   request_id: `X-Request-Id` of the call; empty for none.
--   meters: The change of each meter.
--   applied: Version of the definition that came into force with the event.
--   cycles: The cycles that ended and began with it. Only where a cycle may have changed.

local function append_give(key, state, at, values)
  local id, n = next_event(state)
  local at_text = num(at)
  local text = '4:type4:give'
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
    .. '6:digest'
    .. (sizes[#values.digest] or size(#values.digest))
    .. values.digest
    .. '2:to'
    .. (sizes[#values.to] or size(#values.to))
    .. values.to
    .. '5:parts'
    .. (sizes[#values.parts] or size(#values.parts))
    .. values.parts
    .. '5:owner'
    .. (sizes[#values.owner] or size(#values.owner))
    .. values.owner
    .. '5:asked'
    .. (sizes[#values.asked] or size(#values.asked))
    .. values.asked
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
