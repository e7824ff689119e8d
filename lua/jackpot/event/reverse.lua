-- Generated from crates/jackpot/src/ledger/event.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test
-- it docs::`.
--
-- Part of a script. Appends the event `reverse`: A game cancelled the round of an entry, and its tiers gave its
-- contribution back.
-- `values` has a text for each field:
--   reversal: Its id.
--   entry: Id of the entry.
--   seq: Its sequence.
--   stake: Its stake, minor units.
--   source: Its source; empty for none. The source's own contribution is what goes back, if it has one.
--   version: Version of the definition that it entered under.
--   reversed: What each tier gave back.
--   used: The record of its id. Only where the generation had none.
--   reason: Why, in the operator's words.
--   who: Name of the operator's key, or of the part of the service.
--   request_id: `X-Request-Id` of the call; empty for none.
--   meters: The change of each meter.
--   applied: Version of the definition that came into force with the event.
--   cycles: The cycles that ended and began with it. Only where a cycle may have changed.

local function append_reverse(key, state, at, values)
  local id, n = next_event(state)
  local at_text = num(at)
  local text = '4:type7:reverse'
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
    .. '3:seq'
    .. (sizes[#values.seq] or size(#values.seq))
    .. values.seq
    .. '5:stake'
    .. (sizes[#values.stake] or size(#values.stake))
    .. values.stake
    .. '6:source'
    .. (sizes[#values.source] or size(#values.source))
    .. values.source
    .. '7:version'
    .. (sizes[#values.version] or size(#values.version))
    .. values.version
    .. '8:reversed'
    .. (sizes[#values.reversed] or size(#values.reversed))
    .. values.reversed
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
  if values.used then
    text = text .. '4:used' .. (sizes[#values.used] or size(#values.used)) .. values.used
  end
  if values.cycles then
    text = text .. '6:cycles' .. (sizes[#values.cycles] or size(#values.cycles)) .. values.cycles
  end
  redis.call('XADD', key, id, 'e', text)
end
