-- Shared by the scripts by which a subject obeys a decision about the emergency stop (jackpot, coupon, room).
--
-- Part of a script, after the state's part. Such a script has these keys and arguments:
-- KEYS  1 state  2 events
-- ARGV  1 known mark  2 order of the decision: odd for a stop, even for a start; a later decision has a higher one
--       3 reason, without a line feed  4 who  5 request id
-- Replies: {'ok', mark} it obeys, and an event says so | {'same', mark} it obeyed before, or takes nothing for good
--          {'held', mark} there is no subject of this name, it is being restored, or it lost events: nothing can be
--            appended. It obeys from its creation or restore on, or, if it lost events, from now on
--          {'newer', mark} it has obeyed a later decision: nothing was done
-- The state's field `emergency` is "order reason" of the last decision. It outlives a restore (restore_begin.lua).
-- A subject that lost events gets no event: its number could be one that the ledger has for another event.
-- Runs when memory is full: stopping must always work.

local function read_decision()
  local order = must(exact(ARGV[2]), 'JP_ARGUMENT order')
  return {
    order = order,
    stops = order % 2 == 1,
    text = ARGV[2] .. ' ' .. ARGV[3],
    reason = ARGV[3],
    who = ARGV[4],
    request_id = ARGV[5],
  }
end

-- Returns the reply that ends the call, or nil: then an event must be appended. `final`: a status in which the subject
-- takes nothing any more.
local function ended_decision(state, wish, final)
  local before, ended = emergency_order(KEYS[1]), ended_by(state)
  local at = ended and ended[2] or '0'
  if before > wish.order then
    return { 'newer', ended and at or mark(state) }
  end
  if ended then
    redis.call('HSET', KEYS[1], 'emergency', wish.text)
    if ended[1] == 'behind' then
      state.is_stopped = wish.stops
      redis.call('HSET', KEYS[1], 'status', status_text(state))
    end
    return { 'held', at }
  end
  if state.status == final then
    return { 'same', mark(state) }
  end
  local has_obeyed = state.is_stopped == wish.stops and (before == wish.order or not wish.stops)
  if has_obeyed then
    if before < wish.order then
      redis.call('HSET', KEYS[1], 'emergency', wish.text)
    end
    return { 'same', mark(state) }
  end
  return nil
end

-- The values of the event `emergency`: `own`, and those of every capability.
local function decision_values(wish, own)
  own.stopped, own.decision = wish.stops and '1' or '0', num(wish.order)
  own.reason, own.who, own.request_id = wish.reason, wish.who, wish.request_id
  return own
end

-- Writes what was decided, after the event. `more`: further fields of the state.
local function obey(state, wish, more)
  state.is_stopped = wish.stops
  local fields = { 'n', num(state.n), 'status', status_text(state), 'emergency', wish.text }
  for _, value in ipairs(more or {}) do
    fields[#fields + 1] = value
  end
  redis.call('HSET', KEYS[1], unpack(fields))
  return { 'ok', mark(state) }
end
