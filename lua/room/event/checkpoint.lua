-- Generated from crates/room/src/ledger/event.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test it
-- docs::`.
--
-- Part of a script. Appends the event `checkpoint`: What Redis held right before the event. The ledger compares it with
-- its books.
-- `values` has a text for each field:
--   state: All that decides.
--   clock: The room's time: the highest that it has shown.

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
    .. '5:clock'
    .. (sizes[#values.clock] or size(#values.clock))
    .. values.clock
  redis.call('XADD', key, id, 'e', text)
end
