-- Shared by the scripts that may end or begin a cycle of a tier with a must-hit rule.
--
-- Part of a script, before tiers.lua. The field `cycles` of the state is there once a tier has had a rule:
--   "rules of the definition in force|rules of the waiting one|newest cycle of each tier"
--   (crates/core/src/jackpot/cycle.rs declares the rows)
-- In memory: state.cycles, false for none, with `rules` and `next` by tier, and `rows`, a list, also by tier in `by`.
--
-- No trigger is in Redis before its cycle has ended. A caller brings what the call may need (`prepared`): groups of
-- consecutive cycles of a tier under one nonce, "tier nonce secret first low high after length day deadlines items" a
-- line; an item is "commitment:amount:time,", with words of the hash for amounts of a waiting rule and times of day. A
-- cycle is found by its number, its nonce and the rule that was pinned.

local LEAST_OF_DAY = 60 -- seconds from the begin of a cycle to its deadline of the day, at least
local TWO_32 = 4294967296

local function optional(text)
  return text ~= '-' and must(exact(text), 'JP_DAMAGED cycles') or nil
end

local function dash(value)
  return value and num(value) or '-'
end

local function read_rules(text)
  local rules = {}
  for tier, min, low, high, after, within, day in string.gmatch(text, '(%S+) (%d+) (%S+) (%S+) (%S+) (%S+) (%S+);') do
    rules[tier] = {
      min = math.max(optional(min), 1),
      low = optional(low),
      high = optional(high),
      after = optional(after),
      within = optional(within),
      day = day ~= '-' and day or nil,
    }
  end
  return rules
end

-- What the state holds of cycles; nil for a jackpot without any rule.
local function cycles_of(state)
  if state.cycles ~= nil then
    return state.cycles or nil
  end
  state.cycles = false
  if state.cycles_text and state.cycles_text ~= '' then
    local rules, waiting, rows = string.match(state.cycles_text, '^([^|]*)|([^|]*)|(.*)$')
    must(rules, 'JP_DAMAGED cycles')
    local cycles = { rules_text = rules, next_text = waiting, rows = {}, by = {} }
    cycles.rules, cycles.next = read_rules(rules), read_rules(waiting)
    for tier, cycle, nonce, secret, commitment, began, min, low, high, after, deadline, reversed, pins in
      string.gmatch(rows, '(%S+) (%d+) (%x+) (%x+) (%S+) (%d+) (%d+) (%S+) (%S+) (%S+) (%S+) (%d+)([^;]*);')
    do
      local cap, version, sequence = string.match(pins, '^ (%S+) (%d+) (%d+)$')
      local row = {
        tier = tier,
        cycle = optional(cycle),
        nonce = nonce,
        secret = secret,
        commitment = commitment ~= '-' and commitment or nil,
        began = optional(began),
        min = optional(min),
        low = optional(low),
        high = optional(high),
        after = optional(after),
        deadline = optional(deadline),
        reversed = optional(reversed),
        -- missing in a cycle that an earlier version of the service began
        cap = version and optional(cap),
        version = version and optional(version),
        sequence = version and optional(sequence),
      }
      cycles.rows[#cycles.rows + 1], cycles.by[tier] = row, row
    end
    state.cycles = cycles
  end
  return state.cycles or nil
end

local function row_text(row)
  local pins = row.version and ' ' .. dash(row.cap) .. ' ' .. num(row.version) .. ' ' .. num(row.sequence) or ''
  return row.tier
    .. ' '
    .. num(row.cycle)
    .. ' '
    .. row.nonce
    .. ' '
    .. row.secret
    .. ' '
    .. (row.commitment or '-')
    .. ' '
    .. num(row.began)
    .. ' '
    .. num(row.min)
    .. ' '
    .. dash(row.low)
    .. ' '
    .. dash(row.high)
    .. ' '
    .. dash(row.after)
    .. ' '
    .. dash(row.deadline)
    .. ' '
    .. num(row.reversed)
    .. pins
    .. ';'
end

-- The open cycle of a tier, nil for none.
local function open_cycle(state, name)
  local cycles = cycles_of(state)
  local row = cycles and cycles.by[name]
  return row and row.commitment and row or nil
end

-- The open cycle whose cap and `min_payout` count in place of the definition's, nil for none.
local function pinning(state, name)
  local row = open_cycle(state, name)
  return row and row.version and row or nil
end

-- Reads what the caller brought.
local function read_prepared(text)
  local groups = {}
  for line in string.gmatch(text or '', '\n([^\n]+)') do
    local tier, nonce, secret, first, low, high, after, length, day, deadlines, items =
      string.match(line, '^(%S+) (%x+) (%x+) (%d+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S*)$')
    must(tier, 'JP_ARGUMENT cycles')
    groups[#groups + 1] = {
      tier = tier,
      nonce = nonce,
      secret = secret,
      first = must(exact(first), 'JP_ARGUMENT cycles'),
      low = optional(low),
      high = optional(high),
      after = optional(after),
      length = length,
      day = day ~= '-' and day or nil,
      deadlines = deadlines,
      items = items,
    }
  end
  return groups
end

-- The prepared cycle with this number of a group, nil for none.
local function item_of(group, cycle)
  if type(group.items) == 'string' then
    local items = {}
    for commitment, amount, time in string.gmatch(group.items, '(%x+):([^:,]+):([^:,]+),') do
      items[#items + 1] = { commitment = commitment, amount = amount, time = time }
    end
    group.items = items
  end
  return group.items[cycle - group.first + 1]
end

-- (held * 2 + bit) % n, exact for n below 2^53.
local function doubled(held, bit, n)
  local rest = n - held
  held = held >= rest and held - rest or held + held
  held = held + bit
  return held == n and 0 or held
end

-- u(kind, n) of the first words of its blocks, each "upper half.lower half"; n below 2^53.
local function index_of_words(words, n)
  local rejected = 1 % n
  for _ = 1, 64 do
    rejected = doubled(rejected, 0, n)
  end
  for high, low in string.gmatch(words, '(%d+)%.(%d+)') do
    local upper, lower = tonumber(high), tonumber(low)
    -- How far the word is from 2^64: exact where it may be within `rejected`, which is 2^64 mod n.
    if (TWO_32 - 1 - upper) * TWO_32 + (TWO_32 - lower) > rejected then
      local held = 0
      for _, half in ipairs({ upper, lower }) do
        local divisor = TWO_32 / 2
        for _ = 1, 32 do
          local bit = half >= divisor and 1 or 0
          half, divisor = half - bit * divisor, divisor / 2
          held = doubled(held, bit, n)
        end
      end
      return held
    end
  end
  return must(nil, 'JP_ARGUMENT cycles')
end

-- The trigger by amount of a cycle: a waiting rule is brought as words, because the cycle may begin above its `low`.
local function amount_of(group, item, row)
  if not row.low then
    return nil
  elseif group.low == row.low and not string.find(item.amount, '.', 1, true) then
    return must(exact(item.amount), 'JP_ARGUMENT cycles')
  end
  return row.low + 1 + index_of_words(item.amount, row.high - row.low)
end

-- The triggers of an open cycle, as { amount, at }; nil when the caller did not bring them.
local function triggers_of(groups, row)
  local begin = math.floor(row.began / 1000)
  local length = row.deadline and row.deadline - begin - row.after
  for _, group in ipairs(groups) do
    local is_same = group.tier == row.tier and group.nonce == row.nonce
    is_same = is_same and group.high == row.high and group.after == row.after
    local item = is_same and row.cycle >= group.first and item_of(group, row.cycle)
    local is_low = item and (group.low == row.low or group.low and string.find(item.amount, '.', 1, true))
    local fits_length = length and (group.length == 'w' or group.length == num(length)) or not length
    if item and is_low and fits_length and item.commitment == row.commitment then
      local time
      if length then
        time = group.length == 'w' and index_of_words(item.time, length) or tonumber(item.time)
      end
      return {
        amount = amount_of(group, item, row),
        at = time and begin + row.after + 1 + time or nil,
      }
    end
  end
  return nil
end

-- Whether the triggers of a group are those of a rule.
local function is_under(group, rule)
  local is_same = group.low == rule.low and group.high == rule.high
  is_same = is_same and group.after == rule.after and group.day == rule.day
  return is_same and (rule.day and group.length == 'w' or group.deadlines == '-' and not rule.day)
end

-- The prepared next cycle of a tier under a rule: its group and item; nil for none. Without a rule, a group under any:
-- the commitment is the same.
local function following(state, name, rule, renews)
  local row = state.cycles.by[name]
  for _, group in ipairs(state.prepared) do
    local is_same = group.tier == name and (not rule or is_under(group, rule))
    local next_nonce = not row or renews and group.nonce ~= row.nonce
    next_nonce = next_nonce or not renews and (group.nonce == row.nonce or group.secret ~= row.secret)
    local cycle = renews and group.first or row and row.cycle + 1 or 0
    if is_same and next_nonce and cycle >= group.first and (not row or cycle > row.cycle) then
      local item = item_of(group, cycle)
      if item then
        return group, item, cycle
      end
    end
  end
  return nil
end

local function deadline_of(group, rule, begin)
  if rule.within then
    return begin + rule.within
  end
  for deadline in string.gmatch(rule.day and group.deadlines or '', '%d+') do
    if tonumber(deadline) >= begin + LEAST_OF_DAY then
      return tonumber(deadline)
    end
  end
  return nil
end

-- Whether the caller brought the next cycle of each tier with a rule, so that nothing which this call decides can lack
-- one. Call it before each change that may end a cycle.
local function are_ready(state, at, renews)
  local cycles = cycles_of(state)
  if not cycles then
    return true
  end
  for _, rules in ipairs({ cycles.rules, cycles.next }) do
    for name, rule in pairs(rules) do
      local group = following(state, name, rule, renews)
      local has_time = rule.within or rule.day
      if not group or (has_time and not deadline_of(group, rule, math.floor(at / 1000))) then
        return false
      end
    end
  end
  for _, row in ipairs(cycles.rows) do
    if row.commitment and not cycles.rules[row.tier] and not following(state, row.tier, nil, renews) then
      return false
    end
  end
  return true
end

-- Reads what the caller brought, for a script that may end or begin cycles at this time. Returns 'stale' when it
-- brought too little: it reads again, and brings what follows the cycles that it finds.
local function prepare(state, text, at, renews)
  state.at = at
  if cycles_of(state) then
    state.prepared = read_prepared(text)
    if not are_ready(state, at, renews) then
      return 'stale'
    end
  end
  return nil
end

-- Makes the rules of a definition the waiting ones, by its PUT.
local function put_rules(state, text)
  if not cycles_of(state) then
    if text == '' then
      return
    end
    state.cycles = { rules_text = '', next_text = '', rules = {}, next = {}, rows = {}, by = {} }
  end
  state.cycles.next, state.cycles.next_text = read_rules(text), text
  state.cycles_changed = true
end

local function note(state, text)
  state.cycle_changes = state.cycle_changes or {} -- a list: a batch may end 1,000 cycles
  state.cycle_changes[#state.cycle_changes + 1] = text
end

-- Ends the open cycle of a tier, if there is one. The cap of the definition in force counts from here on.
local function end_cycle(state, tier, by)
  local row = open_cycle(state, tier.name)
  if row then
    note(state, 'e ' .. tier.name .. ' ' .. num(row.cycle) .. ' ' .. by .. ';')
    row.commitment = nil
    tier.cap = tier.limit
    state.cycles_ended = (state.cycles_ended or 0) + 1
  end
end

-- Seconds from the begin of a cycle in which nothing is due, and its deadline; nil for none. `was`: the cycle that
-- ended without a take. The new one keeps its deadline, or has one LEAST_OF_DAY seconds ahead if that is later: so no
-- pause moves a drop to another day.
local function window_of(group, rule, was, begin)
  if was and was.deadline and (not rule or rule.within or rule.day) then
    local deadline = math.max(was.deadline, begin + LEAST_OF_DAY)
    local from = math.max(math.floor(was.began / 1000) + was.after, begin)
    return math.min(from, deadline - LEAST_OF_DAY) - begin, deadline
  end
  return rule and rule.after, rule and deadline_of(group, rule, begin)
end

-- Begins the next cycle of a tier under the rule in force. `are_ready` was true. `was`: the cycle that ended without a
-- take, nil after one. Where its rule was taken away meanwhile, the new one goes on under what it had pinned. A closed
-- jackpot begins none, because no entry can end it.
local function begin_cycle(state, tier, renews, was)
  if state.status == 'closed' then
    return
  end
  local cycles, rule = state.cycles, state.cycles.rules[tier.name]
  local group, item, cycle = following(state, tier.name, rule, renews)
  must(group, 'JP_ARGUMENT cycles')
  local row = cycles.by[tier.name]
  if not row then
    row = { tier = tier.name }
    cycles.rows[#cycles.rows + 1], cycles.by[tier.name] = row, row
  end
  local pinned = rule or was or {}
  row.cycle, row.nonce, row.secret, row.commitment = cycle, group.nonce, group.secret, item.commitment
  row.began, row.sequence, row.reversed = state.at, state.seq, 0
  row.min, row.high = pinned.min or 1, pinned.high
  row.low = pinned.low and math.max(pinned.low, math.min(tier.pool, pinned.high - 1))
  row.after, row.deadline = window_of(group, rule, was, math.floor(state.at / 1000))
  row.cap, row.version = tier.limit, tonumber(state.version)
  if pinned == was and was.version then
    row.cap, row.version = was.cap, was.version
  end
  tier.cap = row.cap
  note(state, 'b ' .. row_text(row))
end

-- Puts the rules of the waiting definition in force. Its cycles begin in tiers that have none. An open cycle goes on,
-- even where its rule was taken away: else a rule that is taken away and put back would draw a trigger anew. `except`:
-- the tier whose take of all this is.
local function apply_cycles(state, tiers, except)
  local cycles = cycles_of(state)
  if not cycles then
    return
  end
  cycles.rules, cycles.rules_text, cycles.next, cycles.next_text = cycles.next, cycles.next_text, {}, ''
  state.cycles_changed = true
  for t = 1, #tiers do
    local tier = tiers[t]
    if tier ~= except and cycles.rules[tier.name] and not open_cycle(state, tier.name) then
      begin_cycle(state, tier)
    end
  end
end

-- Ends the open cycle of a tier without a take, and begins the next.
local function restart_cycle(state, tier, renews)
  local was = {}
  for name, value in pairs(state.cycles.by[tier.name]) do
    was[name] = value
  end
  end_cycle(state, tier, 'restart')
  begin_cycle(state, tier, renews, was)
end

local function has_open_cycles(state)
  local cycles = cycles_of(state)
  for _, row in ipairs(cycles and cycles.rows or {}) do
    if row.commitment then
      return true
    end
  end
  return false
end

-- The jackpot closes: its open cycles end.
local function close_cycles(state)
  local cycles = cycles_of(state)
  for _, row in ipairs(cycles and cycles.rows or {}) do
    end_cycle(state, { name = row.tier }, 'close')
  end
end

-- Ends open cycles without a take and begins new ones: those with a time, or all with a new nonce (`renews`).
local function restart_cycles(state, tiers, renews)
  for t = 1, cycles_of(state) and #tiers or 0 do
    local row = open_cycle(state, tiers[t].name)
    if row and (renews or row.deadline) then
      restart_cycle(state, tiers[t], renews)
    end
  end
end

-- The latest second that numbers one of the new cycles of a restore, 0 for none; others are `gap` above the last.
local function renewed_second(state, gap)
  local latest = 0
  for _, group in ipairs(cycles_of(state) and state.prepared or {}) do
    local row = state.cycles.by[group.tier]
    if not row or group.first > row.cycle + gap then
      latest = math.max(latest, group.first)
    end
  end
  return latest
end

-- For a restore: all cycles end, and those that begin have numbers and nonces that nobody has seen. In a tier that has
-- no open cycle and no rule now, one begins and ends, so that the cycles of a later rule follow it.
local function renew_cycles(state, tiers)
  local cycles = cycles_of(state)
  for t = 1, cycles and #tiers or 0 do
    local tier = tiers[t]
    if open_cycle(state, tier.name) then
      restart_cycle(state, tier, true)
    elseif cycles.rules[tier.name] or cycles.by[tier.name] then
      begin_cycle(state, tier, true)
      if not cycles.rules[tier.name] then
        end_cycle(state, tier, 'restart')
      end
    end
  end
end

-- The most that a pool may hold of money that is no contribution, while a cycle by amount is open: the pool and what
-- was reversed out of it are compared with the trigger together, so together they stay at most `low`. No bound without
-- one.
local function guarded_to(state, name)
  local row = open_cycle(state, name)
  return row and row.low and math.max(row.low - (row.version and row.reversed or 0), 0) or math.huge
end

-- All money of a tier has left the jackpot: its open cycle ends without a take, and the next begins with an empty pool.
local function leave_cycle(state, tier)
  if open_cycle(state, tier.name) then
    restart_cycle(state, tier)
  end
end

-- Counts what a reversal took out of the pool: the open cycle's trigger by amount is not put off by it.
local function count_reversed(state, name, amount)
  local row = amount > 0 and open_cycle(state, name)
  if row then
    row.reversed = row.reversed + amount
    state.cycles_changed = true
  end
end

-- The changes of cycles for the event, nil for none. Call it once, before the writes.
local function cycle_changes(state)
  local cycles = cycles_of(state)
  if not cycles or not (state.cycle_changes or state.cycles_changed) then
    return nil
  end
  local rows = {}
  for i, row in ipairs(cycles.rows) do
    rows[i] = row_text(row)
  end
  state.cycles_text = cycles.rules_text .. '|' .. cycles.next_text .. '|' .. table.concat(rows)
  state.cycles_changed = true
  return table.concat(state.cycle_changes or {})
end
