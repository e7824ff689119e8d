-- Ends a restore: writes the state, appends the event `restore`, and lets the other scripts run again.
--
-- KEYS  the six of the coupon (state.lua)
-- ARGV  1 token of the restore  2 who  3 request id  4 reason
--       5..8 how many requests, users, queued requests and dead letters there must be
--       9.. all fields of the state (state.lua), `json` and `puts`, as name, value, ...; n, restores: the ledger's;
--         history: a new one
-- Reply {'unknown'} | {'other', mark} another restore is running
--       {'incomplete', mark} Redis lost records since they were written: begin again
--       {'ok', mark} done | {'same', mark} done before
-- Invariants: those of lua/subject/restored.lua. No consumer has the lease and no request is taken: both belonged to
-- the lost Redis. Runs when memory is full, because the large keys are already there.
-- Cost: O(1).
-- needs: state subject/restored event/restore

local NUMBERS = { 'n', 'restores', 'version', 'stock', 'per_user', 'seq', 'voided', 'arrivals', 'retention' }
local OPTIONAL = { 'window', 'starts', 'ends' }
local FIRST_COUNT, FIRST_FIELD = 5, 9

local was = read_state(KEYS[1])
local from, ended = restored_from(was, KEYS[1])
if not from then
  return ended
end
local counts = {
  redis.call('HLEN', KEYS[2]),
  redis.call('HLEN', KEYS[3]),
  redis.call('ZCARD', KEYS[4]),
  redis.call('ZCARD', KEYS[5]),
}
for i, count in ipairs(counts) do
  if count ~= tonumber(ARGV[FIRST_COUNT + i - 1]) then
    return { 'incomplete', mark(was) }
  end
end

local state = read_restored(was, FIRST_FIELD, {}, NUMBERS, OPTIONAL)
append_restore(KEYS[6], state, now_ms(), restored_values(state, from, counts[1], { users = num(counts[2]) }))
return end_restore(KEYS[1], state, {})
