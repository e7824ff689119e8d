-- States that calls of a function left behind. The next call of the same jackpot need not read them again.
--
-- Part of a script, after tiers.lua. A kept state counts only while Redis holds the very texts that it wrote, pools
-- included. So it does not matter who else writes: another function, another instance, a restore, a failover.
-- needs: state tiers

local MAX_STATES = 512 -- some 4 KB each
local kept, count_kept = {}, 0

-- What each entry reads of the terms: a look-up through the kept terms takes twice as long.
local OFTEN = { 'epoch', 'commitment', 'version', 'money', 'history', 'gen', 'tiers', 'next' }

-- Reads the state; or nil and the reply that ends the call.
local function kept_state(key)
  local values = state_texts(key)
  local state = kept[key]
  if
    state
    and state.is_kept
    and state.n_text == values[1]
    and state.meters_text == values[5]
    and state.terms_text == values[4]
    and state.status == values[3]
    and state.restores_text == values[2]
    and state.cycles_text == (values[6] or '')
  then
    state.is_kept = false -- a call that fails half-way leaves no state
  else
    state = state_of(values)
  end
  local ended = ended_by(state)
  if ended then
    return nil, ended
  end
  state.restores_text, state.terms_text = values[2], values[4]
  return state
end

-- Reads the tiers of the definition in force.
local function kept_tiers(state, first_pool)
  local tiers = state.kept_tiers
  if tiers then
    local pools, is_same = redis.call('MGET', unpack(KEYS, first_pool, first_pool + #tiers - 1)), true
    for t = 1, #tiers do
      is_same = is_same and pools[t] == tiers[t].pool_text
    end
    if is_same then
      return tiers
    end
  end
  state.kept_tiers = read_tiers(state, state.tiers, first_pool)
  return state.kept_tiers
end

-- Keeps a state that was written, with its tiers. `meters`: their text.
local function keep_state(key, state, meters)
  state.cycle_changes, state.cycles_changed, state.cycles_ended = nil, nil, nil
  if state.applied then
    return -- its terms have another text
  end
  if kept[key] ~= state then
    if not kept[key] then
      if count_kept == MAX_STATES then
        kept, count_kept = {}, 0
      end
      count_kept = count_kept + 1
    end
    for _, name in ipairs(OFTEN) do
      state[name] = state[name]
    end
    state.stamp = state.version .. ' ' .. state.money
    kept[key] = state
  end
  for t = 1, #state.kept_tiers do
    pool_text(state.kept_tiers[t])
  end
  state.n_text, state.meters_text, state.is_kept = n_text(state.n), meters, true
end
