-- Generated from crates/coupon/src/ledger/event.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test
-- it docs::`.
--
-- Part of a script. Appends the event `retire`: The coupon is over for good, and its records were dropped.
-- `values` has a text for each field:
--   requests: How many requests had a record.
--   queued: How many of them were in the queue.
--   dead: How many of them were dead letters.

local function append_retire(key, state, at, values)
  local id, n = next_event(state)
  local at_text = num(at)
  local text = '4:type6:retire'
    .. '1:n'
    .. (sizes[#n] or size(#n))
    .. n
    .. '2:at'
    .. (sizes[#at_text] or size(#at_text))
    .. at_text
    .. '7:history'
    .. (sizes[#state.history] or size(#state.history))
    .. state.history
    .. '8:requests'
    .. (sizes[#values.requests] or size(#values.requests))
    .. values.requests
    .. '6:queued'
    .. (sizes[#values.queued] or size(#values.queued))
    .. values.queued
    .. '4:dead'
    .. (sizes[#values.dead] or size(#values.dead))
    .. values.dead
  redis.call('XADD', key, id, 'e', text)
end
