-- Generated from crates/room/src/ledger/event.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test it
-- docs::`.
--
-- Part of a script. Appends the event `define`: The room was created, or its definition changed.
-- `values` has a text for each field:
--   mode: What the PUT did: it created the subject, its definition is in force, or waits for the next take of all.
--   version: Version of the definition.
--   json: The definition, as the operator sent it.
--   nonce: One for the PUT and all its repeats.
--   who: Name of the operator's key, or of the part of the service.
--   request_id: `X-Request-Id` of the call; empty for none.
--   opened: Whether the room had opened before.
--   order_nonce: Nonce of the order before the opening.
--   commitment: SHA-256 of the seed of that order.
--   clock: The room's time: the highest that it has shown.

local function append_define(key, state, at, values)
  local id, n = next_event(state)
  local at_text = num(at)
  local text = '4:type6:define'
    .. '1:n'
    .. (sizes[#n] or size(#n))
    .. n
    .. '2:at'
    .. (sizes[#at_text] or size(#at_text))
    .. at_text
    .. '7:history'
    .. (sizes[#state.history] or size(#state.history))
    .. state.history
    .. '4:mode'
    .. (sizes[#values.mode] or size(#values.mode))
    .. values.mode
    .. '7:version'
    .. (sizes[#values.version] or size(#values.version))
    .. values.version
    .. '4:json'
    .. (sizes[#values.json] or size(#values.json))
    .. values.json
    .. '5:nonce'
    .. (sizes[#values.nonce] or size(#values.nonce))
    .. values.nonce
    .. '3:who'
    .. (sizes[#values.who] or size(#values.who))
    .. values.who
    .. '10:request_id'
    .. (sizes[#values.request_id] or size(#values.request_id))
    .. values.request_id
    .. '6:opened'
    .. (sizes[#values.opened] or size(#values.opened))
    .. values.opened
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
