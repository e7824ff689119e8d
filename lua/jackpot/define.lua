-- Creates a jackpot, or changes its definition. A change applies at once if it touches neither money nor odds of a live
-- pool. Otherwise it waits for the next take of all. While paused with nothing pending it applies at once, unless a cap
-- is below the pool.
--
-- KEYS  1 state  2 definitions  3 epochs  4 pending  5 events  6.. pool of each tier of the NEW definition
-- ARGV  1..4 fence (state.lua); for a jackpot that does not exist: 0, 1, commitment of epoch 1, ''
--       5 named values (lua/subject/named.lua): the PUT (puts.lua), and
--         tiers of the definition: "name seed cap;" each; money: digest of what touches money or odds; currency
--         of a jackpot that this call creates: status: open | paused; epoch_nonce, secret_id of epoch 1; retention, s
--         rules: must-hit rules of its tiers (cycles.lua), '' for none; prepared cycles
--         settlement: none | tracked; above: approval_above, '-' for none; owner of the key
-- Reply {'created' | 'changed' | 'waits' | 'same', mark, last version}
--       {'mismatch', mark} `wanted` does not hold | {'closed', mark}
--       {'behind' | 'restoring' | 'stale', mark}
--       {'status', mark} a new jackpot must be open or paused
--       {'tier-removed' | 'currency', mark, ...} (define_reply)
-- The settlement and its limit do not wait for a take of all (limit.lua).
-- Invariants: `definitions` holds every version under which a remembered entry was drawn. The last PUT is the target:
-- it replaces a waiting definition. Repeats and delayed PUTs: lua/subject/puts.lua.
-- Cost: O(tiers).
-- needs: state subject/puts tier_rows tiers epoch opening limit event/define define_reply

local FIRST_POOL = 6
local put = named(ARGV[5])
local money, currency, rows = put.money, put.currency, tier_rows(put.tiers)
local at = now_ms()

-- The names of the tiers, as a set.
local function names_of(tier_list)
  local names = {}
  for _, row in ipairs(tier_list) do
    names[row[1]] = true
  end
  return names
end

-- Makes the pools of new tiers. Their meters are in the list that write_state writes.
local function make_pools(tiers, fresh)
  for t, tier in ipairs(tiers) do
    if fresh[tier.name] then
      redis.call('SETNX', KEYS[FIRST_POOL + t - 1], '0')
    end
  end
end

local function create()
  opening(put.epoch_nonce, put.secret_id)
  local state = {
    n = 0,
    restores = 0,
    status = put.status,
    version = '1',
    tiers = rows,
    money = money,
    next = '',
    next_tiers = {},
    next_money = '',
    last_version = 1,
    currency = currency,
    seq = 0,
    order = 0,
    epoch = '1',
    commitment = ARGV[3],
    nonce = put.epoch_nonce,
    secret = put.secret_id,
    history = put.history,
    gen = 'a',
    gen_start = 0,
    gen_opened = at,
    gen_version = '1',
    gen_age = 0,
    gen_looked = at,
    retention = must(exact(put.retention), 'JP_ARGUMENT retention'),
    meters = new_meters(),
    applied = '1',
    is_stopped = emergency_order(KEYS[1]) % 2 == 1,
  }
  local fresh = names_of(rows)
  local tiers = read_tiers(state, rows, FIRST_POOL, fresh)
  put_rules(state, put.rules)
  must(prepare(state, put.prepared, at) == nil or nil, 'JP_ARGUMENT cycles')
  apply_cycles(state, tiers)
  local hold = put_hold(nil, put.settlement, put.above, put.owner, '1')
  local own = {
    tiers = put.tiers,
    money = money,
    currency = currency,
    hold = hold and hold_row(hold),
    status = state.status,
    epoch = '1',
    commitment = ARGV[3],
    epoch_nonce = state.nonce,
    secret_id = state.secret,
    retention = num(state.retention),
    meters = '',
    applied = '1',
    cycles = cycle_changes(state),
  }
  append_define(KEYS[5], state, at, put_values(put, 'created', '1', own))
  make_pools(tiers, fresh)
  if hold then
    redis.call('HSET', KEYS[1], 'hold', own.hold)
  end
  local puts = remember_put(put, 'created', '1')
  redis.call('HSET', KEYS[1], 'restores', num(state.restores), 'status', status_text(state), 'puts', puts)
  write_state(KEYS[1], state)
  redis.call('HSET', KEYS[2], '1', put.json)
  redis.call('HSET', KEYS[3], '1', epoch_text(ARGV[3], num(at), '-', state.nonce, state.secret))
  return put_reply('created', mark(state), { version = '1' })
end

local state, ended = known_state(KEYS[1])
if not state then
  local refused = refused_creation(put, ended)
  if refused then
    return refused
  end
  if put.status ~= 'open' and put.status ~= 'paused' then
    return { 'status', '0' }
  end
  return create()
end

put.puts = redis.call('HGET', KEYS[1], 'puts') or ''
local repeated = repeated_put(state, put)
if repeated then
  return repeated
end
local target = state.next ~= '' and state.next or state.version
local is_same = redis.call('HGET', KEYS[2], target) == put.json and state.status ~= 'closed'
ended = ended_put(state, put, num(state.last_version), is_same, fence(state) ~= nil)
if ended then
  return ended
end
if state.status == 'closed' then
  return { 'closed', mark(state) }
end

local fresh = names_of(rows)
for _, row in ipairs(state.tiers) do
  local name = row[1]
  if not fresh[name] then
    return removed_reply(mark(state), { tier = name })
  end
  fresh[name] = nil
end
local tiers = read_tiers(state, rows, FIRST_POOL, fresh)
local live, touched = redis.call('ZCARD', KEYS[4]) > 0, state.seq > 0
for _, tier in ipairs(tiers) do
  local held = tier.pool + tier.reserve + tier.overflow + tier.pool_micro + tier.reserve_micro
  live = live or (held > 0 and state.status ~= 'paused')
  touched = touched or held > 0 or tier.funded ~= 0
end
if touched and currency ~= state.currency then
  return kept_reply(mark(state), { currency = state.currency })
end

local superseded = state.next
state.last_version = state.last_version + 1
local version = num(state.last_version)
state.next, state.next_tiers, state.next_money = version, rows, money
state.currency = currency
put_rules(state, put.rules)
local lacking = prepare(state, put.prepared, at)
if lacking then
  return { lacking, mark(state) }
end
local hold = put_hold(known_hold(KEYS[1]), put.settlement, put.above, put.owner, version)
local must_wait = live or not caps_hold(rows, tiers)
local mode = (must_wait and money ~= state.money) and 'waits' or 'changed'
if mode == 'changed' then
  apply_next(state, tiers)
end
local own = {
  tiers = put.tiers,
  money = money,
  currency = currency,
  hold = hold and hold_row(hold),
  superseded = superseded,
  meters = changes(state, tiers),
  applied = state.applied or '',
  cycles = cycle_changes(state),
}
append_define(KEYS[5], state, at, put_values(put, mode, version, own))
if hold then
  redis.call('HSET', KEYS[1], 'hold', own.hold)
end
make_pools(tiers, fresh)
write_pools(tiers)
redis.call('HSET', KEYS[2], version, put.json)
if superseded ~= '' then
  redis.call('HDEL', KEYS[2], superseded)
end
redis.call('HSET', KEYS[1], 'puts', remember_put(put, mode, version))
write_state(KEYS[1], state, true)
return put_reply(mode, mark(state), { version = version })
