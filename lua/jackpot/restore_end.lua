-- Ends a restore: writes money and state, appends the event `restore`, and lets the other scripts run again.
--
-- KEYS  1 state  2 events  3 definitions  4 epochs  5 seen:a  6 seen:b  7 adjustments  8 pending
--       9.. pools
-- ARGV  1 those of every restore (lua/subject/restored.lua), and
--         next_history; of the epoch to open: next_epoch, next_commitment, next_nonce, next_secret
--         prepared cycles with a new nonce (cycles.lua), '' for none
--         definitions, epochs, seen_a, seen_b, adjustments, pending: how many members KEYS[3] to KEYS[8] must have
--         meters: of each tier its name and values, as a row of the packed meters (values): "name value ...;"
--       2 the state: n, restores, status, puts, moved, seq, order and the terms except gen_age and gen_looked, with
--         tiers as text (tier_rows.lua), cycles_text (the field cycles), and voided and what used.lua has, where they
--         are used; all as the ledger has it, its open epoch and cycles too
-- Reply {'unknown'} | {'other', mark} another restore is running
--       {'incomplete', mark} Redis lost records since they were written: begin again
--       {'early', mark, ...} (restore_end_reply) nothing was written
--       {'ok', mark} done | {'same', mark} done before
-- Invariants: no epoch is ever open again, because its seed may be public. The script closes all open epochs and opens
-- another one. Its number is at least EPOCH_GAP above all others, or the second of Redis' clock in which the restore
-- began. That second has passed when play goes on, so a second restore of the same ledger gets another number. The
-- others are those of lua/subject/restored.lua. The age of the newer generation begins at 0, its smallest possible
-- value. Open cycles end without a take, and new ones begin as epochs do, under a new nonce. In a closed jackpot the
-- new epoch ends at once, and no cycle begins. Runs when memory is full, because the large keys are already there.
-- Cost: O(tiers + epochs).
-- needs: state tier_rows moved cycles epoch opening used voided subject/restored event/restore restore_end_reply

local EPOCH_GAP = 1000 -- more epochs than Redis can have opened and lost since the ledger's last event
local FIRST_POOL = 9
local FIRST_COUNTED = 3
local COUNTED = { 'definitions', 'epochs', 'seen_a', 'seen_b', 'adjustments', 'pending' } -- KEYS[3] to KEYS[8]
local NUMBERS = { 'n', 'restores', 'seq', 'order', 'last_version', 'gen_start', 'gen_opened', 'retention' }

local was, wish = read_state(KEYS[1]), named(ARGV[1])
local from, ended = restored_from(was, KEYS[1], wish)
if not from then
  return ended
end
local records = 0
for i, part in ipairs(COUNTED) do
  local count = redis.call(part == 'pending' and 'ZCARD' or 'HLEN', KEYS[FIRST_COUNTED + i - 1])
  if count ~= tonumber(wish[part]) then
    return { 'incomplete', mark(was) }
  end
  records = records + count
end

local at = now_ms()
local state = { gen_age = 0, gen_looked = at }
read_restored(was, state, NUMBERS, {})
state.tiers, state.next_tiers = tier_rows(state.tiers), tier_rows(state.next_tiers)

local epoch, last, closing = must(exact(wish.next_epoch), 'JP_ARGUMENT epoch'), 0, {}
opening(wish.next_nonce, wish.next_secret)
local epochs = redis.call('HGETALL', KEYS[4])
for i = 1, #epochs, 2 do
  last = math.max(last, must(exact(epochs[i]), 'JP_DAMAGED epoch'))
  local was_open = must(read_epoch(epochs[i + 1]), 'JP_DAMAGED epoch')
  if was_open.closed == '-' then
    closing[#closing + 1] = epochs[i]
    closing[#closing + 1] = epoch_text(was_open.commitment, was_open.opened, num(at), was_open.nonce, was_open.secret)
  end
end
must(epoch >= last + EPOCH_GAP or nil, 'JP_ARGUMENT epoch')
local tiers, limits, meters = {}, {}, new_meters()
for _, row in ipairs(state.tiers) do
  limits[row[1]] = row[3] or nil
end
for row in string.gmatch(wish.meters, '[^;]+') do
  local first = #meters + 1
  for value in string.gmatch(row, '%S+') do
    meters[#meters + 1] = #meters < first and value or must(exact(value), 'JP_ARGUMENT meter')
  end
  must(#meters - first + 1 == METERS_WIDTH or nil, 'JP_ARGUMENT meters')
  tiers[#tiers + 1] = { name = meters[first], pool = meters[first + 1], limit = limits[meters[first]] }
end
must(#tiers == #KEYS - FIRST_POOL + 1 or nil, 'JP_ARGUMENT meters')
must(prepare(state, wish.prepared, at, true) == nil or nil, 'JP_ARGUMENT cycles')
local second, latest = math.floor(at / 1000), renewed_second(state, EPOCH_GAP)
if epoch == second or epoch > last + EPOCH_GAP then
  latest = math.max(latest, epoch)
end
if latest >= second then
  return begin_later_reply(mark(was), { wait_ms = num((latest + 1) * 1000 - at) })
end
local closed = state.epoch
state.epoch, state.commitment, state.nonce, state.secret =
  num(epoch), wish.next_commitment, wish.next_nonce, wish.next_secret
state.history = wish.next_history

renew_cycles(state, tiers)
local cycles = cycle_changes(state)
local own = {
  closed = closed,
  epoch = state.epoch,
  commitment = state.commitment,
  epoch_nonce = state.nonce,
  secret_id = state.secret,
  ended_epoch = state.status == 'closed' and state.epoch or nil,
  meters = '',
  applied = '',
  cycles = cycles,
}
-- Packed and read again before the first write: a value that is missing or no number ends the script here.
local packed = { terms = write_terms(state), meters = write_meters(state, meters) }
read_terms(packed.terms)
if state.cycles_text ~= '' then
  packed.cycles = state.cycles_text
end

local head = {}
local function keep_rows(name, read)
  for row in string.gmatch(state[name] or '', '[^;]+') do
    must(read(row), 'JP_ARGUMENT ' .. name)
  end
  head[name] = state[name]
end
keep_rows('moved', read_moved)
keep_rows('voided', read_voided)
for _, field in ipairs(USED) do
  keep_rows(field[1], field[2])
end

append_restore(KEYS[2], state, at, restored_values(state, wish, from, records, own))
for t, tier in ipairs(tiers) do
  redis.call('SET', KEYS[FIRST_POOL + t - 1], num(tier.pool))
end
closing[#closing + 1] = state.epoch
local ended_at = own.ended_epoch and num(at) or '-'
closing[#closing + 1] = epoch_text(state.commitment, num(at), ended_at, state.nonce, state.secret)
redis.call('HSET', KEYS[4], unpack(closing))
head.n, head.restores, head.status, head.puts = state.n, state.restores, state.status, state.puts
return end_restore(KEYS[1], head, packed)
