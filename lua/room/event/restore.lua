-- Generated from crates/room/src/ledger/event.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test it
-- docs::`.
--
-- Part of a script. Appends the event `restore`: Redis was rebuilt from the events before this one. It has no records.
-- `values` has a text for each field:
--   from_n: Number of the last event that Redis had; empty when it had nothing of the subject.
--   restores: How often the subject has been restored, including this time.
--   status: Status after it.
--   records: How many records the restore wrote.
--   reason: Why, in the operator's words.
--   who: Name of the operator's key, or of the part of the service.
--   request_id: `X-Request-Id` of the call; empty for none.
--   passes_until: When the last pass from before has expired, in ms.
--   order_nonce: Nonce of the order before the opening.
--   commitment: SHA-256 of the seed of that order.
--   clock: The room's time: the highest that it has shown.

local function append_restore(key, state, at, values)
  local id, n = next_event(state)
  local at_text = num(at)
  local text = '4:type7:restore'
    .. '1:n'
    .. (sizes[#n] or size(#n))
    .. n
    .. '2:at'
    .. (sizes[#at_text] or size(#at_text))
    .. at_text
    .. '7:history'
    .. (sizes[#state.history] or size(#state.history))
    .. state.history
    .. '6:from_n'
    .. (sizes[#values.from_n] or size(#values.from_n))
    .. values.from_n
    .. '8:restores'
    .. (sizes[#values.restores] or size(#values.restores))
    .. values.restores
    .. '6:status'
    .. (sizes[#values.status] or size(#values.status))
    .. values.status
    .. '7:records'
    .. (sizes[#values.records] or size(#values.records))
    .. values.records
    .. '6:reason'
    .. (sizes[#values.reason] or size(#values.reason))
    .. values.reason
    .. '3:who'
    .. (sizes[#values.who] or size(#values.who))
    .. values.who
    .. '10:request_id'
    .. (sizes[#values.request_id] or size(#values.request_id))
    .. values.request_id
    .. '12:passes_until'
    .. (sizes[#values.passes_until] or size(#values.passes_until))
    .. values.passes_until
    .. '11:order_nonce'
    .. (sizes[#values.order_nonce] or size(#values.order_nonce))
    .. values.order_nonce
    .. '10:commitment'
    .. (sizes[#values.commitment] or size(#values.commitment))
    .. values.commitment
    .. '5:clock'
    .. (sizes[#values.clock] or size(#values.clock))
    .. values.clock
  redis.call('XADD', key, id, 'e', text)
end
