-- Generated from crates/coupon/src/ledger/event.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test
-- it docs::`.
--
-- Part of a script. Appends the event `issue`: Requests were decided as they came, or joined the queue.
-- `values` has a text for each field:
--   block: One request a line.
--   users: How many users got their first record.

local function append_issue(key, state, at, values)
  local id, n = next_event(state)
  local at_text = num(at)
  local text = '4:type5:issue'
    .. '1:n'
    .. (sizes[#n] or size(#n))
    .. n
    .. '2:at'
    .. (sizes[#at_text] or size(#at_text))
    .. at_text
    .. '7:history'
    .. (sizes[#state.history] or size(#state.history))
    .. state.history
    .. '5:block'
    .. (sizes[#values.block] or size(#values.block))
    .. values.block
    .. '5:users'
    .. (sizes[#values.users] or size(#values.users))
    .. values.users
  redis.call('XADD', key, id, 'e', text)
end
