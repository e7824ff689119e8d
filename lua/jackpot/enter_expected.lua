-- Takes entries that drew nothing, if the jackpot's state is the one that the caller expects: the one that its last
-- call left. The caller has done the work of `enter` for that state, and brings its writes. So one call of one entry
-- takes Redis half the time of `enter`. In any other state the script does nothing, and the caller calls `enter`.
--
-- KEYS  1 state  2 seen, of the generation that is written  3 seen, of the other  4 events  5.. pool of each tier, in
--       the definition's order
-- ARGV  1 packed, one value after the other:
--         expected: n, digest of the terms, meters
--         event: its id, its text before the time, its text after the time
--         after it: n, meters
--         from when on a tier may be due by its must-hit rule, ms; '' for never. Redis' log of slow calls shows the
--           first 128 bytes of an argument, and this comes after them
--         then for each tier: its pool as expected, what is added to it
--         then for each record: its id, its text. A call of several entries may have one for all (write_call)
-- Reply 1  taken, all of them
--       0  another state, one of the ids is known, or a tier may be due: nothing was written
-- Invariants: terms have the epoch, the definition and the history; with n, meters, pools and status they are all that
-- `enter` reads. With n, so are the cycles: each change of them has an event. So what is written is what `enter` would
-- write (tests/it/jackpot/expected.rs compares them). The ids are looked for in both generations, as by `enter`.
-- Cost: as `enter`, without its arithmetic and its texts.
-- needs: digest

local N, DIGEST, METERS, EVENT_ID, BEFORE_TIME, AFTER_TIME, N_AFTER, METERS_AFTER, DUE, POOLS =
  1, 2, 3, 4, 5, 6, 7, 8, 9, 10

local sent = { cmsgpack.unpack(ARGV[1]) }
local tiers = #KEYS - 4
local first = POOLS + 2 * tiers
must(#sent > first and (#sent - first) % 2 == 1 or nil, 'JP_ARGUMENT entries')
for i = 1, #sent do
  must(type(sent[i]) == 'string' or nil, 'JP_ARGUMENT entries') -- HSET would fail after the first write
end

local state = redis.call('HMGET', KEYS[1], 'n', 'status', 'terms', 'meters')
if state[1] ~= sent[N] or state[4] ~= sent[METERS] or state[2] ~= 'open' or digest_of(state[3]) ~= sent[DIGEST] then
  return 0
end
local pools = redis.call('MGET', unpack(KEYS, 5))
for t = 1, tiers do
  if pools[t] ~= sent[POOLS + 2 * t - 2] then
    return 0
  end
  -- INCRBY would fail after the first write, or write more than a meter may hold.
  local pool, added = exact(pools[t]), exact(sent[POOLS + 2 * t - 1])
  must(pool and added and added >= 0 and pool + added <= MAX or nil, 'JP_ARGUMENT amount')
end

if #sent == first + 1 then
  if redis.call('HGET', KEYS[2], sent[first]) or redis.call('HGET', KEYS[3], sent[first]) then
    return 0
  end
else
  local ids = {}
  for i = first, #sent, 2 do
    ids[#ids + 1] = sent[i]
  end
  for generation = 2, 3 do
    local records = redis.call('HMGET', KEYS[generation], unpack(ids))
    for i = 1, #ids do
      if records[i] then
        return 0
      end
    end
  end
end

local time = redis.call('TIME')
local at = time[1] .. string.sub('00000' .. time[2], -6, -4) -- ms
if sent[DUE] ~= '' and tonumber(at) >= must(exact(sent[DUE]), 'JP_ARGUMENT time') then
  return 0
end
redis.call('XADD', KEYS[4], sent[EVENT_ID], 'e', sent[BEFORE_TIME] .. #at .. ':' .. at .. sent[AFTER_TIME])
for t = 1, tiers do
  local added = sent[POOLS + 2 * t - 1]
  if added ~= '0' then
    redis.call('INCRBY', KEYS[4 + t], added)
  end
end
redis.call('HSET', KEYS[2], unpack(sent, first))
redis.call('HSET', KEYS[1], 'n', sent[N_AFTER], 'meters', sent[METERS_AFTER])
return 1
