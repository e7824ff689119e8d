-- Ends a restore: writes the state, appends the event `restore`, and lets the other scripts run again.
--
-- KEYS  the six of the coupon (state.lua)
-- ARGV  1 those of every restore (lua/subject/restored.lua), and how many requests, users, queue (requests in it) and
--         dead (letters) there must be
--       2 all fields of the state (state.lua), `json` and `puts`; n, restores: the ledger's; history: a new one
-- Reply {'unknown'} | {'other', mark} another restore is running
--       {'incomplete', mark} Redis lost records since they were written: begin again
--       {'ok', mark} done | {'same', mark} done before
-- Invariants: those of lua/subject/restored.lua. No consumer has the lease and no request is taken: both belonged to
-- the lost Redis. Runs when memory is full, because the large keys are already there.
-- Cost: O(1).
-- needs: state subject/restored event/restore

local NUMBERS = { 'n', 'restores', 'version', 'stock', 'per_user', 'seq', 'voided', 'arrivals', 'retention' }
local OPTIONAL = { 'window', 'starts', 'ends' }

local was, wish = read_state(KEYS[1]), named(ARGV[1])
local from, ended = restored_from(was, KEYS[1], wish)
if not from then
  return ended
end
local counts = {
  requests = redis.call('HLEN', KEYS[2]),
  users = redis.call('HLEN', KEYS[3]),
  queue = redis.call('ZCARD', KEYS[4]),
  dead = redis.call('ZCARD', KEYS[5]),
}
for part, count in pairs(counts) do
  if count ~= tonumber(wish[part]) then
    return { 'incomplete', mark(was) }
  end
end

local state = read_restored(was, {}, NUMBERS, OPTIONAL)
append_restore(
  KEYS[6],
  state,
  now_ms(),
  restored_values(state, wish, from, counts.requests, { users = num(counts.users) })
)
return end_restore(KEYS[1], state, {})
