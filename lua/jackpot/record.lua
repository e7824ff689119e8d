-- Shared by the scripts that take entries and finish them: the idempotency record of an entry.
--
--   seq epoch.version fingerprint pool+amount,...                        drew nothing (one pool+amount for each tier)
--   ... p refusals entered_ms player stake client_seed                  pending: the next attempt must be made
--   ... n refusals                                                       ended with no prize
--   ... w refusals rank tier amount order history                        paid, in this history
--   ... c refusals rank coupon sequence code                             won a unit of a coupon
--
-- refusals: "-", or rank and letter of each, "1r,3o". Letters: r retry; of a coupon o out of stock, a already issued,
-- n not open. client_seed: "*" for null.
--
-- An entry that was taken in a run has this form in place of the first:
--   :call place fingerprint                                              its place in the call, from 1
-- The call's record is the field ":call" of the same hash, which no client can send as an id:
--   first|epoch.version|skipped|stakes|amounts|runs
-- first: sequence of the first entry taken. skipped: places that were not taken, ascending, with commas. stakes and
-- amounts: ARGV[8] and ARGV[9] of enter.lua. runs: as in entering.lua. Replies have both parts, with one space between
-- them.

-- A record as replies have it: with the record of its call, if it was taken in a run. Without the call's record it is
-- unreadable.
local function whole_record(text, key)
  local call = string.match(text, '^:%S+')
  return call and text .. ' ' .. (redis.call('HGET', key, call) or '') or text
end

-- The sequence of a record from whole_record; nil for a damaged record.
local function sequence_of(text)
  local place, first, skipped = string.match(text, '^:%S+ (%d+) %S+ (%d+)|[^|]+|([%d,]*)|')
  if not place then
    return string.match(text, '^%d+')
  end
  local before = 0
  for skip in string.gmatch(skipped, '%d+') do
    before = before + (tonumber(skip) < tonumber(place) and 1 or 0)
  end
  return num(tonumber(first) + tonumber(place) - 1 - before)
end

-- The record of an entry and the key that holds it, or nil.
local function find_record(state, seen_a, seen_b, entry_id)
  local keys = state.gen == 'a' and { seen_a, seen_b } or { seen_b, seen_a }
  for _, key in ipairs(keys) do
    local text = redis.call('HGET', key, entry_id)
    if text then
      return whole_record(text, key), key
    end
  end
  return nil
end

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
