-- Shared by every script of a toy: its state. A toy is a counter with a limit.
--
-- Part of a script, after lua/subject/events.lua. All scripts get the two keys of the toy: 1 state  2 events

local STATE = { 'n', 'restores', 'version', 'limit', 'seq', 'history', 'status' } -- `seq`: how far it has counted
local TEXTS = 2 -- the last fields are texts
-- The hash also has: `json`, the definition as operators read it; `puts` (lua/subject/puts.lua);
-- `emergency` (lua/subject/emergency.lua).

local function read_state(key)
  local values = redis.call('HMGET', key, unpack(STATE))
  if not values[1] then
    return nil
  end
  local status, is_stopped = status_of(values[#STATE])
  local state = { status = status, is_stopped = is_stopped, history = values[#STATE - 1] }
  for i = 1, status == 'restoring' and 2 or #STATE - TEXTS do
    state[STATE[i]] = must(exact(values[i]), 'JP_DAMAGED state')
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

-- What a checkpoint and a view report.
local function held(state)
  return table.concat({ state.status, num(state.version), num(state.limit), num(state.seq) }, ' ')
end
