-- Generated from crates/jackpot/src/ledger/event.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test
-- it docs::`.
--
-- Part of a script. Appends the event `checkpoint`: What Redis held right before the event. The ledger compares it with
-- its books ([ledger](../explanation/ledger.md#what-is-compared)).
-- `values` has a text for each field:
--   state: The state and the numbers of records, by their names in `lua/jackpot/state.lua`.
--   tiers: Every meter of the tiers in force.
--   meters: The change of each meter.
--   applied: Version of the definition that came into force with the event.
--   cycles: The cycles that ended and began with it. Only where a cycle may have changed.

local function append_checkpoint(key, state, at, values)
  local id, n = next_event(state)
  local at_text = num(at)
  local text = '4:type10:checkpoint'
    .. '1:n'
    .. (sizes[#n] or size(#n))
    .. n
    .. '2:at'
    .. (sizes[#at_text] or size(#at_text))
    .. at_text
    .. '7:history'
    .. (sizes[#state.history] or size(#state.history))
    .. state.history
    .. '5:state'
    .. (sizes[#values.state] or size(#values.state))
    .. values.state
    .. '5:tiers'
    .. (sizes[#values.tiers] or size(#values.tiers))
    .. values.tiers
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
