-- Shared by the scripts that take entries and end what they began: the idempotency record of an entry.
--
--   seq epoch.version fingerprint pool+amount,...                        drew nothing (one pool+amount a tier)
--   ... p refusals entered_ms player stake client_seed                  pending: the next attempt is to be made
--   ... n refusals                                                       ended with no prize
--   ... w refusals rank tier amount order history                        paid, in this history
--   ... c refusals rank coupon sequence code                             a unit of a coupon
--
-- refusals: "-" or rank and letter, "1r,3o" (r retry; of a coupon: o out of stock, a
-- already issued, n not open). client_seed: "*" for null.
--
-- An entry that was taken in a run of others that drew nothing has, in place of the first form,
--   :call place fingerprint                                              its place among those of the call, from 1
-- and the call has, in the field ":call" of the same hash, which no client can send as an id, what they share:
--   first|epoch.version|skipped|rows of the entries|amounts|runs
-- first: sequence of the first that was taken. skipped: places that were not taken, ascending, with commas. Rows and
-- amounts as enter.lua gets them, runs as in run.lua. Scripts reply with both parts, one space between them.

-- A record as replies have it: with that of its call, if it was taken in a run. Whose call is lost is unreadable.
local function whole_record(text, key)
  local call = string.match(text, '^:%S+')
  return call and text .. ' ' .. (redis.call('HGET', key, call) or '') or text
end

-- The sequence of a record that whole_record gave; nil for one that is damaged.
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

-- A paused jackpot with nothing pending takes its waiting definition at once, if its caps hold the pools; asked before
-- the writes of the call that ends the last pending entry.
local function apply_when_settled(state, tiers, pending_key)
  local settled = state.status == 'paused' and state.next ~= '' and redis.call('ZCARD', pending_key) == 1
  if settled and caps_hold(state.next_tiers, tiers) then
    apply_next(state, tiers)
  end
end
