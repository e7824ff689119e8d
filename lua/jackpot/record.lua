-- Shared by the scripts that end what an entry began: the idempotency record of an entry.
--
--   seq epoch.version fingerprint pool+amount,...                        drew nothing (one pool+amount a tier)
--   ... p refusals entered_ms player stake client_seed                  pending: the next attempt is to be made
--   ... n refusals                                                       ended with no prize
--   ... w refusals rank tier amount order                                paid
--
-- refusals: "-" or rank and letter, "1r,3r" (r retry). client_seed: "*" for null.

-- The record of an entry and the key that holds it, or nil.
local function find_record(state, seen_a, seen_b, entry_id)
  local keys = state.gen == 'a' and { seen_a, seen_b } or { seen_b, seen_a }
  for _, key in ipairs(keys) do
    local text = redis.call('HGET', key, entry_id)
    if text then
      return text, key
    end
  end
  return nil
end

-- The parts of a pending record, or nil when the entry has its outcome.
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

-- A paused jackpot with nothing pending takes its waiting definition at once; asked before the writes of the call
-- that ends the last pending entry.
local function apply_when_settled(state, tiers, pending_key)
  if state.status == 'paused' and state.next ~= '' and redis.call('ZCARD', pending_key) == 1 then
    apply_next(state, tiers)
  end
end
