-- Generated from crates/jackpot/src/ledger/event.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test
-- it docs::`.
--
-- Part of a script. Appends the event `payout`: A step of a payout that is tracked until the winner has the money.
-- `values` has a text for each field:
--   payout: Its id.
--   tier: The tier that paid it.
--   amount: Minor units.
--   step: What was done.
--   before: State before.
--   after: State after.
--   approved_by: Name of the key that approved it; empty for none, as the others.
--   approver: Owner of that key.
--   attempt: How the last attempt to settle it ended.
--   settlement: Settlement id of that attempt.
--   text: Its reference, or why it failed.
--   attempt_at: When it was reported, ms of Redis' clock.
--   asked: The owner who asked to take it back.
--   owner: Owner of the key.
--   reason: Why, in the operator's words.
--   who: Name of the operator's key, or of the part of the service.
--   request_id: `X-Request-Id` of the call; empty for none.
--   meters: The change of each meter.
--   applied: Version of the definition that came into force with the event.
--   cycles: The cycles that ended and began with it. Only where a cycle may have changed.

local function append_payout(key, state, at, values)
  local id, n = next_event(state)
  local at_text = num(at)
  local text = '4:type6:payout'
    .. '1:n'
    .. (sizes[#n] or size(#n))
    .. n
    .. '2:at'
    .. (sizes[#at_text] or size(#at_text))
    .. at_text
    .. '7:history'
    .. (sizes[#state.history] or size(#state.history))
    .. state.history
    .. '6:payout'
    .. (sizes[#values.payout] or size(#values.payout))
    .. values.payout
    .. '4:tier'
    .. (sizes[#values.tier] or size(#values.tier))
    .. values.tier
    .. '6:amount'
    .. (sizes[#values.amount] or size(#values.amount))
    .. values.amount
    .. '4:step'
    .. (sizes[#values.step] or size(#values.step))
    .. values.step
    .. '6:before'
    .. (sizes[#values.before] or size(#values.before))
    .. values.before
    .. '5:after'
    .. (sizes[#values.after] or size(#values.after))
    .. values.after
    .. '11:approved_by'
    .. (sizes[#values.approved_by] or size(#values.approved_by))
    .. values.approved_by
    .. '8:approver'
    .. (sizes[#values.approver] or size(#values.approver))
    .. values.approver
    .. '7:attempt'
    .. (sizes[#values.attempt] or size(#values.attempt))
    .. values.attempt
    .. '10:settlement'
    .. (sizes[#values.settlement] or size(#values.settlement))
    .. values.settlement
    .. '4:text'
    .. (sizes[#values.text] or size(#values.text))
    .. values.text
    .. '10:attempt_at'
    .. (sizes[#values.attempt_at] or size(#values.attempt_at))
    .. values.attempt_at
    .. '5:asked'
    .. (sizes[#values.asked] or size(#values.asked))
    .. values.asked
    .. '5:owner'
    .. (sizes[#values.owner] or size(#values.owner))
    .. values.owner
    .. '6:reason'
    .. (sizes[#values.reason] or size(#values.reason))
    .. values.reason
    .. '3:who'
    .. (sizes[#values.who] or size(#values.who))
    .. values.who
    .. '10:request_id'
    .. (sizes[#values.request_id] or size(#values.request_id))
    .. values.request_id
    .. '6:meters'
    .. (sizes[#values.meters] or size(#values.meters))
    .. values.meters
    .. '7:applied'
    .. (sizes[#values.applied] or size(#values.applied))
    .. values.applied
  if values.cycles then
    text = text .. '6:cycles' .. (sizes[#values.cycles] or size(#values.cycles)) .. values.cycles
  end
  redis.call('XADD', key, id, 'e', text)
end
