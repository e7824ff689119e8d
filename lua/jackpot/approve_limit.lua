-- Brings the limit of a PUT that waits for an approval into force.
--
-- KEYS  1 state  2 events
-- ARGV  1..4 fence (state.lua)  5 version of the PUT  6 owner of the key that approves  7 reason  8 who  9 request id
-- Reply {'unknown'} | {'behind' | 'restoring' | 'stale', mark}
--       {'ok' | 'same', mark, ...} (approve_limit_reply) done | nothing waits
--       {'no-version', mark} no PUT got that version | {'superseded', mark} a later PUT asked for another limit
--       {'same-owner', mark} the owner who set the limit
-- Invariants: a PUT since the one that asked has left the limit as it is, or it would have withdrawn what waited. So
-- the version of each of them approves the same limit. Payouts that are held stay so. Runs in every status.
-- Cost: O(1).
-- needs: state limit event/approval approve_limit_reply

local state, ended = fenced_state(KEYS[1])
if not state then
  return ended
end
local version, hold = must(exact(ARGV[5]), 'JP_ARGUMENT version'), known_hold(KEYS[1]) or NOT_USED
if version < 1 or version > state.last_version then
  return { 'no-version', mark(state) }
end
if hold.asked == '-' then
  return approved_reply('same', mark(state), { settlement = hold.settlement, above = hold.above })
end
if version < must(exact(hold.asked), 'JP_DAMAGED hold') then
  return { 'superseded', mark(state) }
end
if hold.owner == ARGV[6] then
  return { 'same-owner', mark(state) }
end
local row = hold_text(hold.asked_settlement, hold.asked_above, hold.owner, '-', '-', '-')
append_approval(KEYS[2], state, now_ms(), {
  version = ARGV[5],
  hold = row,
  owner = ARGV[6],
  reason = ARGV[7],
  who = ARGV[8],
  request_id = ARGV[9],
  meters = '',
  applied = '',
})
redis.call('HSET', KEYS[1], 'n', num(state.n), 'hold', row)
return approved_reply('ok', mark(state), { settlement = hold.asked_settlement, above = hold.asked_above })
