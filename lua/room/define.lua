-- Creates a room, or changes its definition.
--
-- KEYS  the eleven of the room (state.lua)
-- ARGV  1 known mark; 0 for a room that does not exist  2 named values: the PUT (lua/subject/puts.lua), and
--         numbers of the definition: capacity; session and waiting_timeout in ms; rate: admissions in any 60 s or '';
--         opens_at in ms or ''
--         commitment of the seed with the PUT's nonce
-- Reply {'created' | 'changed' | 'same', mark, version}
--       {'mismatch', mark} `wanted` does not hold | {'behind' | 'restoring' | 'stale', mark}
--       {'opened', mark} the room has opened: opens_at can stay or be removed, not set again
-- Invariants: a PUT that creates the room, or sets a new opens_at before it opens, makes its nonce the nonce of the
-- order. reorder.lua then gives earlier tickets their new order. A room opens once: when its opens_at comes, or with a
-- PUT without one. Collected tickets keep their order. No PUT ends a session. Repeats and delayed PUTs:
-- lua/subject/puts.lua. Runs in status open and suspended.
-- Cost: O(1).
-- needs: subject/puts state event/define

local NUMBERS = { 'capacity', 'session', 'waiting_timeout', 'rate', 'opens_at' }
local put, wall = named(ARGV[2]), now_ms()

for i, field in ipairs(NUMBERS) do
  must(exact(put[field]) or (i > 3 and put[field] == '') or nil, 'JP_ARGUMENT ' .. field)
end
local opens_at = exact(put.opens_at)
redis.call('LLEN', KEYS[9]) -- checks the key's type before the first write
local collected = redis.call('ZCARD', KEYS[10])

-- Appends the event and writes these fields of the state. The definition is in force from here.
local function define(state, mode, fields)
  local version = num(state.version)
  local own = {
    opened = state.was_open and '1' or '0',
    order_nonce = state.order_nonce,
    commitment = state.commitment,
  }
  append_define(KEYS[11], state, wall, timed(state, put_values(put, mode, version, own)))
  fields.n, fields.version, fields.opens = num(state.n), version, num(state.opens)
  fields.json, fields.puts = put.json, remember_put(put, mode, version)
  fields.passes_until = num(state.passes_until)
  fields.clock, fields.ahead = num(state.clock), num(state.ahead)
  fields.order_nonce, fields.commitment = state.order_nonce, state.commitment
  if not state.was_open then
    fields.defined = fields.n -- this event opens the room unless another one comes first
  end
  fields.opened = has_opened(state, wall) and '1' or '0'
  for _, field in ipairs(NUMBERS) do
    fields[field] = put[field]
  end
  redis.call('HSET', KEYS[1], unpack(list_of(fields)))
  if put.rate == '' then
    redis.call('UNLINK', KEYS[9]) -- a rate counts from the PUT that sets it
  end
  return put_reply(mode, mark(state), { version = version })
end

local state, ended = known_state(KEYS[1])
if not state then
  local refused = refused_creation(put, ended)
  if refused then
    return refused
  end
  local fields = fresh_fields(0)
  local status = status_text({ status = 'open', is_stopped = emergency_order(KEYS[1]) % 2 == 1 })
  fields.restores, fields.status, fields.history = '0', status, put.history
  local created = { n = 0, restores = 0, version = 1, passes_until = 0, opened = 0, opens = opens_at or wall }
  created.clock, created.ahead, created.order_nonce, created.commitment = wall, 0, put.nonce, put.commitment
  created.history = put.history
  return define(created, 'created', fields)
end

local kept = redis.call('HMGET', KEYS[1], 'json', 'puts', 'opens_at', 'order_nonce', 'commitment')
put.puts = kept[2] or ''
local repeated = repeated_put(state, put)
if repeated then
  return repeated
end
ended = ended_put(state, put, num(state.version), kept[1] == put.json)
if ended then
  return ended
end
local at = room_ms(state, wall)
state.was_open = has_opened(state, wall)
local is_new = opens_at and put.opens_at ~= kept[3]
if state.was_open and is_new then
  return { 'opened', mark(state) }
end
local fields = {}
state.order_nonce = must(kept[4] or nil, 'JP_DAMAGED state')
state.commitment = must(kept[5] or nil, 'JP_DAMAGED state')
if is_new then
  state.order_nonce, state.commitment = put.nonce, put.commitment
  fields.to_order, fields.ordered = num(collected), '0'
end
if not state.was_open then
  state.opens = math.max(opens_at or wall, wall) -- not before now: the list is kept for a retention from here
else
  state.passes_until = math.max(state.passes_until, whole_second(at + state.session)) -- of earlier passes
end
state.version = state.version + 1
return define(state, 'changed', fields)
