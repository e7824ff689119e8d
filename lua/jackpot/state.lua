-- Shared by every script that changes a jackpot: its state, and the fence.
--
-- Part of a script, after what `values` makes. Reads ARGV[1..4], the same in all scripts:
--   1 known mark  the highest mark of this jackpot that the caller has seen
--   2 epoch       the epoch in which the caller draws
--   3 commitment  of that epoch, from the caller's own master secret
--   4 version     of the definition that the caller knows, and its money digest: "3 5f0c...". It decides which pools
--                 KEYS names. The digest distinguishes two definitions with one version, before and after a loss
--
-- The hash of the state has these fields:
--   n         number of the last event, dense from 1
--   restores  how often it was restored from the ledger
--   status    open | paused | suspended | closed; restoring: it has only n and restores (restore_begin.lua). While the
--             emergency stop holds the jackpot, STOPPED is before it (lua/subject/events.lua)
--   emergency the last decision about the emergency stop (lua/subject/emergency.lua)
--   puts      lua/subject/puts.lua
--   terms     under what entries are taken, packed (values): rarely written
--   meters    what entries change, packed (values): written by each of them
--   moved     what tiers have outside the packed meters (`moved`)
--   early     how many early cancels are remembered (cancel.lua); missing while there was none
--   hold      under what payouts are tracked (limit.lua); missing while the jackpot does not use it
--   voided    what payouts were taken back (voided_rows.lua); missing while none was
--   took      what owners took out alone in the last 24 hours (two_owners.lua); missing while none did
--   cycles    cycles of must-hit rules (cycles.lua); missing while no tier has had one
-- In memory they are one table, `state`: n, restores, status, the values of terms, seq, order, and `meters`, the list
-- of the packed meters.
-- needs: values

local function state_texts(key)
  return redis.call('HMGET', key, 'n', 'restores', 'status', 'terms', 'meters', 'cycles')
end

-- The state of these texts; nil when the jackpot does not exist.
local function state_of(values)
  if not values[1] then
    return nil
  end
  local n, restores = must(exact(values[1]), 'JP_DAMAGED state'), must(exact(values[2]), 'JP_DAMAGED state')
  if values[3] == 'restoring' then
    return { n = n, restores = restores, status = 'restoring' }
  end
  local state, meters = read_terms(values[4]), read_meters(values[5])
  state.n, state.restores = n, restores
  state.status, state.is_stopped = status_of(must(values[3] or nil, 'JP_DAMAGED state'))
  state.meters, state.seq, state.order = meters, meters[3], meters[4]
  state.cycles_text = values[6] or ''
  return state
end

-- Reads the state; nil when the jackpot does not exist.
local function read_state(key)
  return state_of(state_texts(key))
end

-- Reads the state; or nil and the reply that ends the call.
local function known_state(key)
  local state = read_state(key)
  local ended = ended_by(state)
  if ended then
    return nil, ended
  end
  return state
end

-- Why the jackpot takes no entries, or nil.
local function refused_by(state)
  if state.is_stopped and state.status ~= 'closed' then
    return 'stopped'
  end
  return state.status ~= 'open' and state.status or nil
end

-- Returns 'stale' when the caller must read again before it writes, else nil. The same epoch number with another
-- commitment is another epoch: of another history, or opened by another instance. When the caller reads again, it finds
-- out whether it has the secret.
local function fence(state)
  local same_epoch = state.epoch == ARGV[2] and state.commitment == ARGV[3]
  if same_epoch and (state.stamp or state.version .. ' ' .. state.money) == ARGV[4] then
    return nil
  end
  return 'stale'
end

-- Reads the state; or nil and the reply that ends the call, 'stale' too.
local function fenced_state(key)
  local state, ended = known_state(key)
  local refusal = state and fence(state)
  if refusal then
    return nil, { refusal, mark(state) }
  end
  return state, ended
end
