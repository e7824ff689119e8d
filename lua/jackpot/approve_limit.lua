-- Brings the limit of a PUT that waits for an approval into force.
--
-- KEYS  1 state  2 events
-- ARGV  1..4 fence (state.lua)  5 named values (lua/subject/named.lua): version of the PUT, owner of the key that
--         approves, reason, who, request_id
-- Reply {'unknown'} | {'behind' | 'restoring' | 'stale', mark}
--       {'ok' | 'same', mark, ...} (approve_limit_reply) done | nothing waits
--       {'no-version', mark} no PUT got that version | {'superseded', mark} a later PUT asked for another limit
--       {'same-owner', mark} the owner who set the limit
-- Invariants: a PUT since the one that asked has left the limit as it is, or it would have withdrawn what waited. So
-- the version of each of them approves the same limit. Payouts that are held stay so. Runs in every status.
-- Cost: O(1).
-- needs: state subject/named limit event/approval approve_limit_reply

local state, ended = fenced_state(KEYS[1])
if not state then
  return ended
end
local wish, hold = named(ARGV[5]), known_hold(KEYS[1]) or NOT_USED
local version = must(exact(wish.version), 'JP_ARGUMENT version')
if version < 1 or version > state.last_version then
  return { 'no-version', mark(state) }
end
if hold.asked == '-' then
  return approved_reply('same', mark(state), { settlement = hold.settlement, above = hold.above })
end
if version < must(exact(hold.asked), 'JP_DAMAGED hold') then
  return { 'superseded', mark(state) }
end
if hold.owner == wish.owner then
  return { 'same-owner', mark(state) }
end
local row = hold_text(hold.asked_settlement, hold.asked_above, hold.owner, '-', '-', '-')
append_approval(KEYS[2], state, now_ms(), values_of(wish, { hold = row, meters = '', applied = '' }))
redis.call('HSET', KEYS[1], 'n', num(state.n), 'hold', row)
return approved_reply('ok', mark(state), { settlement = hold.asked_settlement, above = hold.asked_above })
