-- Shared by every script that changes a jackpot: its state, and the fence.
--
-- Part of a script, after lua/subject/events.lua. Reads ARGV[1..4], the same in all scripts:
--   1 known mark  the highest mark of this jackpot that the caller has seen
--   2 epoch       the epoch in which the caller draws
--   3 commitment  of that epoch, from the caller's own master secret
--   4 version     of the definition that the caller knows, and its money digest: "3 5f0c...". It decides which pools
--                 KEYS names. The digest distinguishes two definitions with one version, before and after a loss

local STATE = {
  'n', -- number of the last event, dense from 1
  'restores', -- how often it was restored from the ledger
  'status', -- open | paused | suspended | closed; restoring: it has only n and restores (restore_begin.lua)
  'version', -- definition in force
  'tiers', -- its tiers: "name seed cap;" each, cap "-" for none
  'money', -- digest of its parts that touch money or odds
  'next', -- version of the definition that waits for the next take of all, or ''
  'next_tiers',
  'next_money',
  'last_version', -- highest version so far
  'currency',
  'seq', -- entries so far
  'order', -- paid claims so far
  'epoch', -- number of the open epoch, from 1
  'commitment', -- of its seed
  'nonce', -- the public input of its seed, 32 hexadecimal digits
  'secret', -- id of the master secret of its seed, 16 hexadecimal digits
  'history', -- 16 hexadecimal digits, made at creation and at every restore
  'gen', -- generation of idempotency records to write: a | b
  'gen_start', -- seq when it was opened: records up to here are in the older generation
  'gen_opened', -- ms
  'gen_version', -- definition in force when it was opened
  'gen_age', -- ms since then, a sum of steps (rotate.lua)
  'gen_looked', -- ms, time of the last step
  'retention', -- shortest time for which ids are remembered, seconds: the longest setting of any instance
}

local NUMBERS = {
  'n',
  'restores',
  'last_version',
  'seq',
  'order',
  'gen_start',
  'gen_opened',
  'gen_age',
  'gen_looked',
  'retention',
}
local BEFORE_RESTORE = { 'n', 'restores' }

-- Reads the state; nil when the jackpot does not exist.
local function read_state(key)
  local values = redis.call('HMGET', key, unpack(STATE))
  if not values[1] then
    return nil
  end
  local state = {}
  for i, field in ipairs(STATE) do
    state[field] = values[i] or ''
  end
  for _, field in ipairs(state.status == 'restoring' and BEFORE_RESTORE or NUMBERS) do
    state[field] = must(exact(state[field]), 'JP_DAMAGED state')
  end
  return state
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

-- What a checkpoint and a view report: the fields of the state as name, value, ..., and the sizes of the other keys.
local function told(state, pending, seen_a, seen_b, definitions, adjustments)
  local out = {}
  for _, field in ipairs(STATE) do
    out[#out + 1] = field
    out[#out + 1] = type(state[field]) == 'number' and num(state[field]) or state[field]
  end
  local hashes = { seen_a, seen_b, definitions, adjustments }
  for i, name in ipairs({ 'seen_a', 'seen_b', 'definitions', 'adjustments' }) do
    out[#out + 1] = name
    out[#out + 1] = num(redis.call('HLEN', hashes[i]))
  end
  out[#out + 1] = 'pending'
  out[#out + 1] = num(redis.call('ZCARD', pending))
  return out
end

-- Returns 'stale' when the caller must read again before it writes, else nil. The same epoch number with another
-- commitment is another epoch: of another history, or opened by another instance. When the caller reads again, it finds
-- out whether it has the secret.
local function fence(state)
  local same_epoch = state.epoch == ARGV[2] and state.commitment == ARGV[3]
  if not same_epoch or state.version .. ' ' .. state.money ~= ARGV[4] then
    return 'stale'
  end
  return nil
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

-- The value of an epoch in the hash of epochs: "commitment opened closed nonce secret", times in ms, closed "-" while
-- open.
local function epoch_text(commitment, opened, closed, nonce, secret)
  return table.concat({ commitment, opened, closed, nonce, secret }, ' ')
end

-- Checks the nonce and secret id of an epoch to open. The caller makes the nonce, because scripts have no randomness.
local function opening(nonce, secret)
  must(#nonce == 32 and not find(nonce, '[^0-9a-f]') or nil, 'JP_ARGUMENT nonce')
  must(#secret == 16 and not find(secret, '[^0-9a-f]') or nil, 'JP_ARGUMENT secret')
end
