-- Shared by the scripts that finish pending entries.
--
-- Part of a script, after find_record.lua and tiers.lua.

-- The parts of a pending record; nil when the entry has its outcome.
local function parse_pending(text)
  local head, refusals, tail = string.match(text, '^(%S+ %S+ %S+ %S+) p (%S+) (.+)$')
  if not head then
    return nil
  end
  return { head = head, seq = string.match(head, '^%d+'), refusals = refusals, tail = tail }
end

local function has_refused(pending, rank)
  return string.find(',' .. pending.refusals, ',' .. rank .. '%a') ~= nil
end

local function add_refusal(pending, rank, letter)
  local list = pending.refusals == '-' and '' or pending.refusals .. ','
  return list .. rank .. letter
end

-- Puts the waiting definition of a paused jackpot in force, if this call ends its last pending entry and the caps hold
-- the pools. Call it before the writes.
local function apply_when_settled(state, tiers, pending_key)
  local settled = state.status == 'paused' and state.next ~= '' and redis.call('ZCARD', pending_key) == 1
  if settled and caps_hold(state.next_tiers, tiers) then
    apply_next(state, tiers)
  end
end
