-- Generated from crates/room/src/ledger/event.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test it
-- docs::`.
--
-- Part of a script. Appends the event `emergency`: The room obeys the emergency stop, or its end.
-- `values` has a text for each field:
--   stopped: Whether it takes nothing new from here on; else it takes requests again.
--   decision: Order of the decision. A later one has a higher order; that of a stop is odd.
--   reason: Why, in the operator's words.
--   who: Name of the operator's key, or of the part of the service.
--   request_id: `X-Request-Id` of the call; empty for none.
--   clock: The room's time: the highest that it has shown.

local function append_emergency(key, state, at, values)
  local id, n = next_event(state)
  local at_text = num(at)
  local text = '4:type9:emergency'
    .. '1:n'
    .. (sizes[#n] or size(#n))
    .. n
    .. '2:at'
    .. (sizes[#at_text] or size(#at_text))
    .. at_text
    .. '7:history'
    .. (sizes[#state.history] or size(#state.history))
    .. state.history
    .. '7:stopped'
    .. (sizes[#values.stopped] or size(#values.stopped))
    .. values.stopped
    .. '8:decision'
    .. (sizes[#values.decision] or size(#values.decision))
    .. values.decision
    .. '6:reason'
    .. (sizes[#values.reason] or size(#values.reason))
    .. values.reason
    .. '3:who'
    .. (sizes[#values.who] or size(#values.who))
    .. values.who
    .. '10:request_id'
    .. (sizes[#values.request_id] or size(#values.request_id))
    .. values.request_id
    .. '5:clock'
    .. (sizes[#values.clock] or size(#values.clock))
    .. values.clock
  redis.call('XADD', key, id, 'e', text)
end
