-- Redeems an issued unit: its user has used it. It is used once.
--
-- KEYS  the six of the coupon (state.lua)
-- ARGV  1 known mark  2 request id of the issue  3 named values (lua/subject/named.lua): redemption (its id), reference
--         (write_request), who, request_id, and of a coupon that was retired, else '': ledger_n, the number of the
--         event up to which the ledger was read, and record, that of the request in the ledger
-- Reply {'unknown'} | {'behind' | 'restoring', mark} | {'missing', mark} no such request
--       with what is known of it (answered_reply):
--         {'ok', mark, ...} redeemed | {'same', mark, ...} it was redeemed before by this redemption
--         {'reused', mark, ...} by this redemption id, with another reference
--         {'redeemed', mark, ...} by another redemption id
--         {'not-issued', mark, ...} in any other state
--       {'ended', mark}  its records were dropped: read it in the ledger
--       {'ledger', mark} the ledger that was read lacks events
--       {'suspended', mark}
-- Invariants: final for its request. The issue still counts for its user and its stock. A paused, closed or stopped
-- coupon redeems, because the user has the unit. Of a retired coupon, the ledger is the record: no event may follow
-- what was read there, so two calls that read the same do not both redeem.
-- Cost: O(1).
-- needs: state subject/named write_request asker record event/redeem

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local id, wish = ARGV[2], named(ARGV[3])
local redemption, reference, ledger_n = wish.redemption, wish.reference, wish.ledger_n
local text = redis.call('HGET', KEYS[2], id)
local is_kept = not text and state.status == 'ended'
if is_kept then
  if ledger_n == '' then
    return { 'ended', mark(state) }
  end
  text = wish.record
end
if not text then
  return { 'missing', mark(state) }
end
local kind = string.sub(text, 1, 2)
if kind == 'r ' then
  local before = must(read_request(text), 'JP_DAMAGED request')
  if before.redemption ~= redemption then
    return answer('redeemed', mark(state), true, text)
  end
  return answer(before.reference == reference and 'same' or 'reused', mark(state), true, text)
end
if kind ~= 'i ' then
  return answer('not-issued', mark(state), true, text)
end
if state.status == 'suspended' then
  return { state.status, mark(state) }
end
if is_kept and exact(ledger_n) ~= state.n then
  return { 'ledger', mark(state) }
end
local issue = must(read_request(text), 'JP_DAMAGED request')
local count = redeemed_count(KEYS[1])
local at = now_ms()
local record = redeemed_request(issue.sequence, issue.at_ms, issue.code, num(at), redemption, reference, issue.user)
append_redeem(KEYS[6], state, at, {
  request = id,
  user = user_of(issue.user),
  seq = issue.sequence,
  redemption = redemption,
  reference = reference,
  who = wish.who,
  request_id = wish.request_id,
})
if not is_kept then
  redis.call('HSET', KEYS[2], id, record)
end
redis.call('HSET', KEYS[1], 'n', num(state.n), 'redeemed', num(count + 1))
return answer('ok', mark(state), false, record)
