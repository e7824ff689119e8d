-- Creates a coupon, or changes its definition.
--
-- KEYS  the six of the coupon (state.lua)
-- ARGV  1 known mark; 0 for a coupon that does not exist
--       2 definition (JSON, kept as it is), and its numbers:  3 stock  4 per_user, 1 to 100  5 window in ms or ''
--       6 starts in ms or ''  7 ends in ms or ''
--       8 wanted: '' any | 'absent' only create | 'present' only change | ',3,4,' only change from one of these
--       9 last version the caller has read, '' for none  10 nonce: one for this PUT and all its repeats
--       11 who  12 request id  13 history, 14 retention in seconds: for a coupon that this call creates; a change keeps
--       the coupon's own
-- Reply {'created' | 'changed' | 'same', mark, version}
--       {'mismatch', mark} `wanted` does not hold | {'ended', mark} | {'behind' | 'restoring' | 'stale', mark}
--       {'below', mark, issued - voided} the stock is below the number of outstanding units
-- Invariants: stock >= seq - voided always. A repeat of a PUT (same nonce) answers as the first did and changes
-- nothing, even after another PUT. A delayed PUT changes nothing if another one was acknowledged meanwhile ('stale', by
-- the last version). Runs in status open and suspended. An issue that left the window does not count again when the
-- window is made longer.
-- Cost: O(1).

local FIELDS = { 'stock', 'per_user', 'window', 'starts', 'ends' } -- ARGV[3] and on
local FIRST_FIELD = 3
local json, wanted, nonce = ARGV[2], ARGV[8], ARGV[10]
local at = now_ms()

for i, field in ipairs(FIELDS) do
  local text = ARGV[FIRST_FIELD + i - 1]
  must(exact(text) or (i > 2 and text == '') or nil, 'JP_ARGUMENT ' .. field)
end

-- Appends the event and writes the state. The definition is in force from here.
local function put(state, mode, puts)
  local version = num(state.version)
  append_event(KEYS[6], state, at, 'define', {
    'mode',
    mode,
    'version',
    version,
    'json',
    json,
    'who',
    ARGV[11],
    'request_id',
    ARGV[12],
    'nonce',
    nonce,
    'retention',
    num(state.retention),
  })
  local fields = {
    'restores',
    num(state.restores),
    'history',
    state.history,
    'status',
    state.status,
    'version',
    version,
    'json',
    json,
    'puts',
    remember_put(puts, nonce, mode, version),
    'retention',
    num(state.retention),
  }
  for i, field in ipairs(FIELDS) do
    fields[#fields + 1] = field
    fields[#fields + 1] = ARGV[FIRST_FIELD + i - 1]
  end
  redis.call('HSET', KEYS[1], unpack(fields))
  write_counts(KEYS[1], state)
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
  local retention = must(exact(ARGV[14]), 'JP_ARGUMENT retention')
  local created = { n = 0, restores = 0, history = ARGV[13], status = 'open', retention = retention }
  created.version, created.seq, created.voided, created.arrivals = 1, 0, 0, 0
  return put(created, 'created', '')
end

local kept = redis.call('HMGET', KEYS[1], 'json', 'puts')
local puts, last = kept[2] or '', num(state.version)
local mode, put_version = put_before(puts, nonce)
if mode then
  return { mode, mark(state), put_version }
end
if state.status == 'ended' then
  return { 'ended', mark(state) }
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
local out = state.seq - state.voided
if tonumber(ARGV[3]) < out then
  return { 'below', mark(state), num(out) }
end
state.version = state.version + 1
return put(state, 'changed', puts)
