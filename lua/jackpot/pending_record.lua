-- Shared by the scripts that finish pending entries.
--
-- Part of a script, after `read_pending`, find_record.lua and tiers.lua.
-- needs: tiers refusal write_entry

local function has_refused(pending, rank)
  return string.find(',' .. pending.refusals, ',' .. rank .. '%a') ~= nil
end

-- The record with one more refusal: the rank and the letter of the reason.
local function refused_entry(pending, rank, letter)
  local refusals = add_refusal(pending.refusals, rank, letter)
  return pending_entry(pending.head, refusals, pending.entered_ms, pending.sent)
end

-- Puts the waiting definition of a paused jackpot in force, if this call ends its last pending entry and the caps hold
-- the pools. Call it before the writes.
local function apply_when_settled(state, tiers, pending_key)
  local settled = state.status == 'paused' and state.next ~= '' and redis.call('ZCARD', pending_key) == 1
  if settled and caps_hold(state.next_tiers, tiers) then
    apply_next(state, tiers)
  end
end
