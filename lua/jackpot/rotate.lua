-- Closes the epoch and opens the next. Kind epoch: for an operator, at any time; keeps all records. Kind generation: by
-- retention; also drops the older generation of idempotency records. An id used again after that is a new entry and
-- needs a new draw.
--
-- KEYS  1 state  2 definitions  3 epochs  4 seen:a  5 seen:b  6 pending  7 events
--       8.. pool of each tier, in the definition's order (with new cycles)
-- ARGV  1..4 fence (state.lua)  5 named values (lua/subject/named.lua): kind: epoch | generation, reason, who,
--         request_id, and
--         commitment, epoch_nonce, secret_id: of the next epoch
--         retention: the caller's setting, s (generation); prepared cycles with a new nonce, '' to keep the open cycles
-- Reply {'unknown'} | {'behind' | 'restoring' | 'stale', mark}
--       {'ok' | 'raised' | 'early', mark, ...} (rotate_reply)
--       {'closed', mark} a closed jackpot opens no epoch for an operator
--       {'pending', mark} the older generation holds entries without an outcome
--       {'idle', mark} both generations are empty: nothing to drop
-- Invariants: a record stays for at least one retention. The jackpot's retention is the longest setting of any caller.
-- An epoch never opens twice; in a closed jackpot it ends at once. Runs when memory is full.
-- The age of a generation is a sum of steps: each call of kind generation, of any instance, adds the time since the
-- last such call, from 0 to 60 s. So a clock that jumps ahead drops nothing early. A clock that is set back delays the
-- rotation. These calls have no event, so a restore begins the age at 0.
-- Cost: O(definitions kept), at most 1,000 of them dropped; Redis frees the records in the background (UNLINK).
-- needs: state subject/named tiers epoch opening event/retention event/rotate rotate_reply

local state, ended = fenced_state(KEYS[1])
if not state then
  return ended
end
local MAX_PRUNED = 1000 -- definitions dropped by one call, within the limit of unpack; the next call drops more
local MAX_STEP = 60000 -- most ms counted between two calls
local wish, at = named(ARGV[5]), now_ms()
local kind = wish.kind
local older = state.gen == 'a' and KEYS[5] or KEYS[4]

if kind == 'epoch' and state.status == 'closed' then
  return { 'closed', mark(state) }
end

if kind == 'generation' then
  local wanted, kept = must(exact(wish.retention), 'JP_ARGUMENT retention'), state.retention
  if wanted > kept then
    append_retention(KEYS[7], state, at, { before = num(kept), retention = num(wanted), meters = '', applied = '' })
    state.retention = wanted
    redis.call('HSET', KEYS[1], 'n', num(state.n), 'terms', write_terms(state))
    return raised_reply(mark(state), { retention_s = num(kept) })
  end
  state.gen_age = state.gen_age + math.min(math.max(at - state.gen_looked, 0), MAX_STEP)
  state.gen_looked = at
  -- A rotation resets the age, so only a call that rotates nothing writes it.
  local function keep_age()
    redis.call('HSET', KEYS[1], 'terms', write_terms(state))
  end
  local wait = kept * 1000 - state.gen_age
  if wait > 0 then
    keep_age()
    return early_reply(mark(state), { left_ms = num(wait), retention_s = num(kept) })
  end
  if redis.call('HLEN', KEYS[4]) == 0 and redis.call('HLEN', KEYS[5]) == 0 then
    keep_age()
    return { 'idle', mark(state) }
  end
  if redis.call('ZCOUNT', KEYS[6], '-inf', num(state.gen_start)) > 0 then
    keep_age()
    return { 'pending', mark(state) }
  end
end

local cycles
if wish.prepared ~= '' and cycles_of(state) then
  local lacking = prepare(state, wish.prepared, at, true)
  if lacking then
    return { lacking, mark(state) }
  end
  restart_cycles(state, read_tiers(state, state.tiers, 8), true)
  cycles = cycle_changes(state)
end

local closed, commitment = state.epoch, state.commitment
local was_open = must(read_epoch(redis.call('HGET', KEYS[3], closed) or ''), 'JP_DAMAGED epoch')
opening(wish.epoch_nonce, wish.secret_id)
local closed_at = was_open.closed == '-' and num(at) or was_open.closed
local closed_text = epoch_text(commitment, was_open.opened, closed_at, state.nonce, state.secret)
local kept_from = tonumber(state.gen_version) -- the remaining generation began under this definition
state.epoch = num(tonumber(closed) + 1)
state.commitment, state.nonce, state.secret = wish.commitment, wish.epoch_nonce, wish.secret_id
if kind == 'generation' then
  state.gen = state.gen == 'a' and 'b' or 'a'
  state.gen_start, state.gen_opened, state.gen_version = state.seq, at, state.version
  state.gen_age, state.gen_looked = 0, at
end
local ends = state.status == 'closed'
local unused = {}
if kind == 'generation' then
  for _, version in ipairs(redis.call('HKEYS', KEYS[2])) do
    if tonumber(version) < kept_from and #unused < MAX_PRUNED then
      unused[#unused + 1] = version
    end
  end
end

local own = {
  closed = closed,
  closed_commitment = commitment,
  epoch = state.epoch,
  dropped = kind == 'generation' and state.gen or '',
  ended_epoch = ends and state.epoch or nil,
  pruned = table.concat(unused, ','),
  meters = '',
  applied = '',
  cycles = cycles,
}
append_rotate(KEYS[7], state, at, values_of(wish, own))
redis.call(
  'HSET',
  KEYS[3],
  closed,
  closed_text,
  state.epoch,
  epoch_text(state.commitment, num(at), ends and num(at) or '-', state.nonce, state.secret)
)
if kind == 'generation' then
  redis.call('UNLINK', older)
end
if #unused > 0 then
  redis.call('HDEL', KEYS[2], unpack(unused))
end
redis.call('HSET', KEYS[1], 'n', num(state.n), 'terms', write_terms(state))
if cycles then
  redis.call('HSET', KEYS[1], 'cycles', state.cycles_text)
end
return opened_reply(mark(state), { epoch = state.epoch })
