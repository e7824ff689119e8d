-- Generated from crates/coupon/src/ledger/event.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test
-- it docs::`.
--
-- Part of a script. Appends the event `redeem`: An issued unit was used by its user.
-- `values` has a text for each field:
--   request: Id of the request.
--   user: Its user.
--   seq: Number of the issue.
--   redemption: The caller's id of the redemption.
--   reference: The caller's text about it.
--   who: Name of the operator's key, or of the part of the service.
--   request_id: `X-Request-Id` of the call; empty for none.

local function append_redeem(key, state, at, values)
  local id, n = next_event(state)
  local at_text = num(at)
  local text = '4:type6:redeem'
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
    .. '4:user'
    .. (sizes[#values.user] or size(#values.user))
    .. values.user
    .. '3:seq'
    .. (sizes[#values.seq] or size(#values.seq))
    .. values.seq
    .. '10:redemption'
    .. (sizes[#values.redemption] or size(#values.redemption))
    .. values.redemption
    .. '9:reference'
    .. (sizes[#values.reference] or size(#values.reference))
    .. values.reference
    .. '3:who'
    .. (sizes[#values.who] or size(#values.who))
    .. values.who
    .. '10:request_id'
    .. (sizes[#values.request_id] or size(#values.request_id))
    .. values.request_id
  redis.call('XADD', key, id, 'e', text)
end
