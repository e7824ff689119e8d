-- Generated from crates/room/src/ledger/event.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test it
-- docs::`.
--
-- Part of a script. Appends the event `opened`: The list of the users who joined before the opening was published.
-- `values` has a text for each field:
--   joined: Number of users.
--   sha256: SHA-256 of their tickets in the order in which they joined, each followed by a line feed; hexadecimal.
--   clock: The room's time: the highest that it has shown.

local function append_opened(key, state, at, values)
  local id, n = next_event(state)
  local at_text = num(at)
  local text = '4:type6:opened'
    .. '1:n'
    .. (sizes[#n] or size(#n))
    .. n
    .. '2:at'
    .. (sizes[#at_text] or size(#at_text))
    .. at_text
    .. '7:history'
    .. (sizes[#state.history] or size(#state.history))
    .. state.history
    .. '6:joined'
    .. (sizes[#values.joined] or size(#values.joined))
    .. values.joined
    .. '6:sha256'
    .. (sizes[#values.sha256] or size(#values.sha256))
    .. values.sha256
    .. '5:clock'
    .. (sizes[#values.clock] or size(#values.clock))
    .. values.clock
  redis.call('XADD', key, id, 'e', text)
end
