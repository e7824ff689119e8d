-- Shared by every script that changes a jackpot: its state, and the fence.
--
-- Part of a script, put in front of it when compiled in, behind lua/stream/events.lua. Reads ARGV[1..4], alike in all:
--   1 known mark  the highest mark the caller has seen of this jackpot
--   2 epoch       the epoch the caller draws in
--   3 commitment  of that epoch, from a master secret of the caller's own
--   4 version     of the definition the caller knows, and its money digest: "3 5f0c..."; it decides which pools KEYS
--                 names. The digest tells two definitions apart that got one version, before and after a loss

local STATE = {
  'n', -- number of the last event, dense from 1
  'restores', -- how often it was rebuilt from the ledger
  'status', -- open | paused | suspended | closed; restoring: n and restores are all there is (restore_begin.lua)
  'version', -- definition in force
  'tiers', -- its tiers: "name seed cap;" each, cap "-" for none
  'money', -- digest of the parts of it that touch money or odds
  'next', -- definition that waits for the next take of all, or ''
  'next_tiers',
  'next_money',
  'last_version', -- highest version ever given
  'currency',
  'seq', -- entries so far
  'order', -- paid claims so far
  'epoch', -- the open one, from 1
  'commitment', -- of its seed
  'nonce', -- its public part of the seed, 32 hexadecimal digits
  'secret', -- id of the master secret that its seed is derived from, 16 hexadecimal digits
  'history', -- 16 hexadecimal digits, made at creation and at every restore
  'gen', -- generation of idempotency records written now: a | b
  'gen_start', -- seq when it was opened: records up to here are in the older one
  'gen_opened', -- ms
  'gen_version', -- definition in force when it was opened
  'gen_age', -- ms since then, counted from look to look (rotate.lua)
  'gen_looked', -- ms, when it was last counted
  'retention', -- seconds that ids are remembered at least, by the longest setting that any instance had
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

-- The state as a table, or nil when there is no such jackpot.
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

-- The state, or nil and the reply that ends the call.
local function known_state(key)
  local state = read_state(key)
  local ended = ended_by(state)
  if ended then
    return nil, ended
  end
  return state
end

-- All that the ledger compares, and more: the state as name, value, ..., and how many there are of what it does not
-- name.
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

-- Why this caller may not write, or nil. 'stale': it must read again. The same epoch number with another commitment is
-- another epoch: of another history, or opened by whoever came first. Who reads finds out whether it has the secret.
local function fence(state)
  local same_epoch = state.epoch == ARGV[2] and state.commitment == ARGV[3]
  if not same_epoch or state.version .. ' ' .. state.money ~= ARGV[4] then
    return 'stale'
  end
  return nil
end

-- An epoch as the hash of epochs holds it: "commitment opened closed nonce secret", times in ms, closed "-" while open.
local function epoch_text(commitment, opened, closed, nonce, secret)
  return table.concat({ commitment, opened, closed, nonce, secret }, ' ')
end

-- What a caller brings to open an epoch, checked: scripts can't make randomness.
local function opening(nonce, secret)
  must(#nonce == 32 and not find(nonce, '[^0-9a-f]') or nil, 'JP_ARGUMENT nonce')
  must(#secret == 16 and not find(secret, '[^0-9a-f]') or nil, 'JP_ARGUMENT secret')
end
