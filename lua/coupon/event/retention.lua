-- Generated from crates/coupon/src/ledger/event.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test
-- it docs::`.
--
-- Part of a script. Appends the event `retention`: An instance with a longer setting raised how long records are kept
-- after the end.
-- `values` has a text for each field:
--   before: Before.
--   retention: From now on.

local function append_retention(key, state, at, values)
  local id, n = next_event(state)
  local at_text = num(at)
  local text = '4:type9:retention'
    .. '1:n'
    .. (sizes[#n] or size(#n))
    .. n
    .. '2:at'
    .. (sizes[#at_text] or size(#at_text))
    .. at_text
    .. '7:history'
    .. (sizes[#state.history] or size(#state.history))
    .. state.history
    .. '6:before'
    .. (sizes[#values.before] or size(#values.before))
    .. values.before
    .. '9:retention'
    .. (sizes[#values.retention] or size(#values.retention))
    .. values.retention
  redis.call('XADD', key, id, 'e', text)
end
