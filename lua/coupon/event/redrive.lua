-- Generated from crates/coupon/src/ledger/event.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test
-- it docs::`.
--
-- Part of a script. Appends the event `redrive`: A dead letter went back into the queue.
-- `values` has a text for each field:
--   request: Id of the request.
--   arrival: Its place in the queue.
--   who: Name of the operator's key, or of the part of the service.
--   request_id: `X-Request-Id` of the call; empty for none.

local function append_redrive(key, state, at, values)
  local id, n = next_event(state)
  local at_text = num(at)
  local text = '4:type7:redrive'
    .. '1:n'
    .. (sizes[#n] or size(#n))
    .. n
    .. '2:at'
    .. (sizes[#at_text] or size(#at_text))
    .. at_text
    .. '7:history'
    .. (sizes[#state.history] or size(#state.history))
    .. state.history
    .. '7:request'
    .. (sizes[#values.request] or size(#values.request))
    .. values.request
    .. '7:arrival'
    .. (sizes[#values.arrival] or size(#values.arrival))
    .. values.arrival
    .. '3:who'
    .. (sizes[#values.who] or size(#values.who))
    .. values.who
    .. '10:request_id'
    .. (sizes[#values.request_id] or size(#values.request_id))
    .. values.request_id
  redis.call('XADD', key, id, 'e', text)
end
