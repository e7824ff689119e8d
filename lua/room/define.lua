-- Creates a room, or changes its definition.
--
-- KEYS  the eleven of the room (state.lua)
-- ARGV  1 known mark; 0 for a room that does not exist
--       2 definition (JSON, kept as it is), and its numbers:  3 capacity  4 session in ms  5 waiting timeout in ms
--       6 admissions in any 60 s or ''  7 opens_at in ms or ''
--       8 wanted: '' any | 'absent' only create | 'present' only change | ',3,4,' only change from one of these
--       9 last version the caller has read, '' for none  10 nonce: one for this PUT and all its repeats
--       11 who  12 request id  13 commitment of the seed with this nonce  14 history of a room that this call creates
-- Reply {'created' | 'changed' | 'same', mark, version}
--       {'mismatch', mark} `wanted` does not hold | {'behind' | 'restoring' | 'stale', mark}
--       {'opened', mark} the room has opened: opens_at can stay or be removed, not set again
-- Invariants: a PUT that creates the room, or sets a new opens_at before it opens, makes its nonce the nonce of the
-- order. reorder.lua then gives earlier tickets their new order. A room opens once: when its opens_at comes, or with a
-- PUT without one. Collected tickets keep their order. No PUT ends a session. A repeat of a PUT (same nonce) answers as
-- the first did and changes nothing, even after another PUT. A delayed PUT changes nothing if another one was
-- acknowledged meanwhile ('stale', by the last version). Runs in status open and suspended.
-- Cost: O(1).

local NUMBERS = { capacity = 3, session = 4, waiting_timeout = 5, rate = 6, opens_at = 7 } -- in ARGV
local OPTIONAL = { rate = true, opens_at = true }
local json, wanted, nonce, commitment = ARGV[2], ARGV[8], ARGV[10], ARGV[13]
local wall = now_ms()

for field, i in pairs(NUMBERS) do
  must(exact(ARGV[i]) or (OPTIONAL[field] and ARGV[i] == '') or nil, 'JP_ARGUMENT ' .. field)
end
local opens_at = exact(ARGV[NUMBERS.opens_at])
redis.call('LLEN', KEYS[9]) -- checks the key's type before the first write
local collected = redis.call('ZCARD', KEYS[10])

-- Appends the event and writes these fields of the state. The definition is in force from here.
local function put(state, mode, puts, fields)
  local version = num(state.version)
  append(state, wall, 'define', {
    'mode',
    mode,
    'opened',
    state.was_open and '1' or '0',
    'version',
    version,
    'json',
    json,
    'order_nonce',
    state.order_nonce,
    'commitment',
    state.commitment,
    'who',
    ARGV[11],
    'request_id',
    ARGV[12],
    'nonce',
    nonce,
  })
  fields.n, fields.version, fields.opens = num(state.n), version, num(state.opens)
  fields.json, fields.puts = json, remember_put(puts, nonce, mode, version)
  fields.passes_until = num(state.passes_until)
  fields.clock, fields.ahead = num(state.clock), num(state.ahead)
  fields.order_nonce, fields.commitment = state.order_nonce, state.commitment
  if not state.was_open then
    fields.defined = fields.n -- this event opens the room unless another one comes first
  end
  fields.opened = has_opened(state, wall) and '1' or '0'
  for field, i in pairs(NUMBERS) do
    fields[field] = ARGV[i]
  end
  redis.call('HSET', KEYS[1], unpack(list_of(fields)))
  if ARGV[NUMBERS.rate] == '' then
    redis.call('UNLINK', KEYS[9]) -- a rate counts from the PUT that sets it
  end
  return { mode, mark(state), version }
end

local state, ended = known_state(KEYS[1])
if not state then
  if ended[1] ~= 'unknown' then
    return ended
  end
  if tonumber(ARGV[1]) > 0 then
    return { 'behind', '0' }
  end
  if wanted ~= '' and wanted ~= 'absent' then
    return { 'mismatch', '0' }
  end
  local fields = fresh_fields(0)
  fields.restores, fields.status, fields.history = '0', 'open', ARGV[14]
  local created = { n = 0, restores = 0, version = 1, passes_until = 0, opened = 0, opens = opens_at or wall }
  created.clock, created.ahead, created.order_nonce, created.commitment = wall, 0, nonce, commitment
  created.history = ARGV[14]
  return put(created, 'created', '', fields)
end

local kept = redis.call('HMGET', KEYS[1], 'json', 'puts', 'opens_at', 'order_nonce', 'commitment')
local puts, last = kept[2] or '', num(state.version)
local mode, put_version = put_before(puts, nonce)
if mode then
  return { mode, mark(state), put_version }
end
if kept[1] == json and wanted ~= 'absent' then
  -- Also with an unexpected version: the requested state is already there (RFC 9110, 13.1.1).
  return { 'same', mark(state), last }
end
if last ~= ARGV[9] then
  return { 'stale', mark(state) }
end
if not may_change(wanted, last) then
  return { 'mismatch', mark(state) }
end
local at = room_ms(state, wall)
state.was_open = has_opened(state, wall)
local is_new = opens_at and ARGV[NUMBERS.opens_at] ~= kept[3]
if state.was_open and is_new then
  return { 'opened', mark(state) }
end
local fields = {}
state.order_nonce = must(kept[4] or nil, 'JP_DAMAGED state')
state.commitment = must(kept[5] or nil, 'JP_DAMAGED state')
if is_new then
  state.order_nonce, state.commitment = nonce, commitment
  fields.to_order, fields.ordered = num(collected), '0'
end
if not state.was_open then
  state.opens = math.max(opens_at or wall, wall) -- not before now: the list is kept for a retention from here
else
  state.passes_until = math.max(state.passes_until, whole_second(at + state.session)) -- of earlier passes
end
state.version = state.version + 1
return put(state, 'changed', puts, fields)
