-- Creates a coupon, or changes its definition.
--
-- KEYS  the six of the coupon (state.lua)
-- ARGV  1 known mark; 0 for a coupon that does not exist  2 named values: the PUT (lua/subject/puts.lua), and
--         numbers of the definition: stock; per_user, 1 to 100; window, starts, ends in ms or ''
--         retention in s of a coupon that this call creates; a change keeps the coupon's own
-- Reply {'created' | 'changed' | 'same', mark, version}
--       {'mismatch', mark} `wanted` does not hold | {'ended', mark} | {'behind' | 'restoring' | 'stale', mark}
--       {'below', mark, ...} the stock is below the number of outstanding units (define_reply)
-- Invariants: stock >= seq - voided always. Repeats and delayed PUTs: lua/subject/puts.lua. Runs in status open and
-- suspended. An issue that left the window does not count again when the window is made longer.
-- Cost: O(1).
-- needs: subject/puts state event/define define_reply

local FIELDS = { 'stock', 'per_user', 'window', 'starts', 'ends' }
local put, at = named(ARGV[2]), now_ms()

for i, field in ipairs(FIELDS) do
  local text = put[field]
  must(exact(text) or (i > 2 and text == '') or nil, 'JP_ARGUMENT ' .. field)
end

-- Appends the event and writes the state. The definition is in force from here.
local function define(state, mode)
  local version, retention = num(state.version), num(state.retention)
  append_define(KEYS[6], state, at, put_values(put, mode, version, { retention = retention }))
  local fields = {
    'restores',
    num(state.restores),
    'history',
    state.history,
    'status',
    status_text(state),
    'version',
    version,
    'json',
    put.json,
    'puts',
    remember_put(put, mode, version),
    'retention',
    retention,
  }
  for _, field in ipairs(FIELDS) do
    fields[#fields + 1] = field
    fields[#fields + 1] = put[field]
  end
  redis.call('HSET', KEYS[1], unpack(fields))
  write_counts(KEYS[1], state)
  return put_reply(mode, mark(state), { version = version })
end

local state, ended = known_state(KEYS[1])
if not state then
  local refused = refused_creation(put, ended)
  if refused then
    return refused
  end
  local retention = must(exact(put.retention), 'JP_ARGUMENT retention')
  local created = { n = 0, restores = 0, history = put.history, status = 'open', retention = retention }
  created.version, created.seq, created.voided, created.arrivals = 1, 0, 0, 0
  created.is_stopped = emergency_order(KEYS[1]) % 2 == 1
  return define(created, 'created')
end

local kept, last = redis.call('HMGET', KEYS[1], 'json', 'puts'), num(state.version)
put.puts = kept[2] or ''
local repeated = repeated_put(state, put)
if repeated then
  return repeated
end
if state.status == 'ended' then
  return { 'ended', mark(state) }
end
ended = ended_put(state, put, last, kept[1] == put.json)
if ended then
  return ended
end
local out = state.seq - state.voided
if tonumber(put.stock) < out then
  return below_reply(mark(state), { out = num(out) })
end
state.version = state.version + 1
return define(state, 'changed')
