-- Generated from tests/it/subject/toy/ledger.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test it
-- docs::`.
--
-- Part of a script. Appends the event `count`: The toy counted one further.
-- `values` has a text for each field:
--   count: How far it has counted.

local function append_count(key, state, at, values)
  local id, n = next_event(state)
  local at_text = num(at)
  local text = '4:type5:count'
    .. '1:n'
    .. (sizes[#n] or size(#n))
    .. n
    .. '2:at'
    .. (sizes[#at_text] or size(#at_text))
    .. at_text
    .. '7:history'
    .. (sizes[#state.history] or size(#state.history))
    .. state.history
    .. '5:count'
    .. (sizes[#values.count] or size(#values.count))
    .. values.count
  redis.call('XADD', key, id, 'e', text)
end
