-- Shared by the scripts that end a restore (jackpot, coupon, room).
--
-- Part of a script, after the state's part. Such a script has two arguments of named values (lua/subject/named.lua):
--   1 what is wanted: token of the restore, who, request_id, reason  2 the ledger's state, by the names of its fields
-- Replies: {'unknown'} | {'other', mark} another restore is running
--          {'ok', mark} done | {'same', mark} done before
-- Invariants: the event `restore` has the ledger's number and one more restore than any instance has seen. The status
-- is written with the rest of the state, so no script sees a part.
-- needs: subject/named

local MAX_RESTORES = 8191 -- 2^13 - 1, so that a mark stays below 2^53

-- Returns the number of Redis' last event before the restore, '' for none; or nil and the reply that ends the call.
-- `was`: the state in Redis.
local function restored_from(was, key, wish)
  if not was then
    return nil, { 'unknown' }
  end
  local own = redis.call('HMGET', key, 'restore_token', 'restore_from')
  if own[1] ~= wish.token then
    return nil, { 'other', mark(was) }
  end
  if was.status ~= 'restoring' then
    return nil, { 'same', mark(was) }
  end
  return own[2]
end

-- Reads the ledger's state into `state`, and counts this restore. `numbers` are parsed; `optional` are numbers or '',
-- and stay texts.
local function read_restored(was, state, numbers, optional)
  for field, value in pairs(named(ARGV[2])) do
    state[field] = value
  end
  for _, field in ipairs(optional) do
    must(state[field] == '' or exact(state[field]) or nil, 'JP_ARGUMENT state')
  end
  for _, field in ipairs(numbers) do
    state[field] = must(exact(state[field]), 'JP_ARGUMENT state')
  end
  state.restores = math.max(state.restores, was.restores) + 1
  must(state.restores <= MAX_RESTORES or nil, 'JP_RESTORES no number is left')
  return state
end

-- The values of the event `restore`: `own`, and those of every capability. `records`: how many were written.
local function restored_values(state, wish, from, records, own)
  own.from_n, own.restores, own.records, own.status = from, num(state.restores), num(records), state.status
  own.reason, own.who, own.request_id = wish.reason, wish.who, wish.request_id
  return own
end

-- Writes the state over `fresh`, the fields of a subject without any request yet, and lets the other scripts run again.
-- The emergency stop holds it if that was the last decision.
local function end_restore(key, state, fresh)
  state.status = status_text({ status = state.status, is_stopped = emergency_order(key) % 2 == 1 })
  local list = {}
  for _, values in ipairs({ fresh, state }) do
    for field, value in pairs(values) do
      list[#list + 1] = field
      list[#list + 1] = type(value) == 'number' and num(value) or value
    end
  end
  redis.call('HDEL', key, 'restore_from')
  redis.call('HSET', key, unpack(list))
  return { 'ok', mark(state) }
end
