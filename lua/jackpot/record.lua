-- Shared by the scripts that read or write the idempotency record of an entry.
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
