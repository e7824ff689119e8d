-- Remembers a reversal whose entry is not there: an entry of that id that comes later is refused.
--
-- KEYS  1 state  2 seen:a  3 seen:b  4 events
-- ARGV  1..4 fence (state.lua)  5 named values (lua/subject/named.lua): entry (its id), reversal (its id), reason, who,
--         request_id, reason_digest, and
--         by: name of the key: it refuses entries of the sources that this key may send; '-' for all sources
--         most: how many of one key are remembered in a generation
-- Reply {'unknown'} | {'behind' | 'restoring' | 'stale', mark}
--       {'ok' | 'same', mark}  remembered now, or before; 'same' also where no entry of this id can come
--       {'found', mark}        the entry is there by now: reverse it
--       {'reused', mark}       the id is that of another entry's reversal, or came with another reason
--       {'too-many', mark}     the key has as many in this generation as it may
-- Invariants: its records live as long as those of entries, in the same generations. The field `early` of the state
-- counts them for each key, from the beginning of the newer generation on: "gen_opened name count;name count;...". A
-- restore begins that count at 0. Runs in every status.
-- Cost: O(keys that cancelled early in this generation).
-- needs: state subject/named find_record read_batch early_cancel event/cancel

local MAX_INDEX = 10000 -- entries of a batch

local state, ended = known_state(KEYS[1])
if not state then
  return ended
end
local refusal = fence(state)
if refusal then
  return { refusal, mark(state) }
end
local wish = named(ARGV[5])
local entry_id, reversal_id, by = wish.entry, wish.reversal, wish.by
local seen_now, seen_before = KEYS[2], KEYS[3]
if state.gen == 'b' then
  seen_now, seen_before = KEYS[3], KEYS[2]
end
local batch_id, index = string.match(entry_id, '^([^:]+):([1-9]%d*)$')
if find_record(state, KEYS[2], KEYS[3], entry_id) then
  return { 'found', mark(state) }
end
local of_batch = batch_id and find_record(state, KEYS[2], KEYS[3], batch_id .. ':')
if of_batch and tonumber(index) <= tonumber(must(read_batch_record(of_batch), 'JP_DAMAGED batch').count) then
  return { 'found', mark(state) }
end
local is_derived = string.find(entry_id, ':', 1, true)
local can_come = state.status ~= 'closed' and not of_batch
if not can_come or (is_derived and not (batch_id and tonumber(index) <= MAX_INDEX)) then
  return { 'same', mark(state) }
end

local names = { entry_id, '~' .. reversal_id, batch_id and batch_id .. ':' }
local newer = redis.call('HMGET', seen_now, unpack(names))
local older = redis.call('HMGET', seen_before, unpack(names))
local before = newer[1] or older[1] or ''
for one in string.gmatch(before, '[^!+]+') do
  local cancel = must(read_early_cancel(one), 'JP_DAMAGED cancel')
  if cancel.by == '-' or cancel.by == by then
    return { 'same', mark(state) }
  end
end
local use = reversal_use_text(entry_id, wish.reason_digest)
local used = newer[2] or older[2]
if used and used ~= use then
  return { 'reused', mark(state) }
end
local opened, counts = string.match(redis.call('HGET', KEYS[1], 'early') or '', '^(%d+) (.*)$')
local others, own = '', 0
for name, count in string.gmatch(opened == num(state.gen_opened) and counts or '', '(%S+) (%d+);') do
  if name == wish.who then
    own = tonumber(count)
  else
    others = others .. name .. ' ' .. count .. ';'
  end
end
if own >= must(exact(wish.most), 'JP_ARGUMENT most') then
  return { 'too-many', mark(state) }
end

local at = now_ms()
local cancel = early_cancel_text(reversal_id, by, num(at))
local values = { (before == '' and '!' or before .. '+') .. cancel, use, batch_id and '!' }
local rows, pairs_of = {}, {}
for i, name in ipairs(names) do
  if i == 1 or not newer[i] then
    rows[#rows + 1] = early_row_text(name, newer[i] and '0' or '1', values[i])
    pairs_of[#pairs_of + 1] = name
    pairs_of[#pairs_of + 1] = values[i]
  end
end
append_cancel(KEYS[4], state, at, values_of(wish, { records = table.concat(rows), meters = '', applied = '' }))
redis.call('HSET', seen_now, unpack(pairs_of))
local early = num(state.gen_opened) .. ' ' .. others .. wish.who .. ' ' .. num(own + 1) .. ';'
redis.call('HSET', KEYS[1], 'n', num(state.n), 'early', early)
return { 'ok', mark(state) }
