-- Voids an issued unit: it returns to the stock, and a new request of its user may be issued another unit.
--
-- KEYS  the six of the coupon (state.lua)
-- ARGV  1 known mark  2 request id of the issue  3 who  4 request id of the operator's request
-- Reply {'unknown'} | {'behind' | 'restoring', mark} | {'missing', mark} no such request
--       with what is known of it (answered_reply):
--         {'ok', mark, ...} voided | {'same', mark, ...} it was voided before
--         {'redeemed', mark, ...} its user has used it
--         {'not-issued', mark, ...} in any other state
--       {'suspended' | 'ended', mark}: a paused or closed coupon takes units back
-- Invariants: final for its request. Its sequence and its code are never used again. Runs when memory is full.
-- Cost: O(issues that count for the user).
-- needs: state write_request asker record event/void

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local id = ARGV[2]
local text = redis.call('HGET', KEYS[2], id)
if not text then
  return { state.status == 'ended' and 'ended' or 'missing', mark(state) }
end
local kind = string.sub(text, 1, 2)
if kind == 'v ' then
  return answer('same', mark(state), true, text)
end
if kind == 'r ' then
  return answer('redeemed', mark(state), true, text)
end
if kind ~= 'i ' then
  return answer('not-issued', mark(state), true, text)
end
if state.status == 'suspended' or state.status == 'ended' then
  return { state.status, mark(state) }
end
local issue = must(read_request(text), 'JP_DAMAGED request')

-- The user's record without this issue. The issue may have left the window before.
local user = user_of(issue.user)
local held, kept = redis.call('HGET', KEYS[3], user) or '', {}
must(count_issues(held, -1, MAX), 'JP_DAMAGED user')
for request, counted_at in string.gmatch(held, USER_ISSUE) do
  if request ~= id then
    kept[#kept + 1] = user_issue_text(request, counted_at)
  end
end

local at = now_ms()
local voided = voided_request(issue.sequence, issue.at_ms, issue.code, num(at), issue.user)
state.voided = state.voided + 1
append_void(KEYS[6], state, at, {
  request = id,
  user = user,
  seq = issue.sequence,
  users = held ~= '' and #kept == 0 and '-1' or '0',
  who = ARGV[3],
  request_id = ARGV[4],
})
redis.call('HSET', KEYS[2], id, voided)
if #kept > 0 then
  redis.call('HSET', KEYS[3], user, table.concat(kept))
else
  redis.call('HDEL', KEYS[3], user)
end
write_counts(KEYS[1], state)
return answer('ok', mark(state), false, voided)
