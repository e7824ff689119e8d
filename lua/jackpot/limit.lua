-- Shared by the scripts that put a definition and approve its limit: under what payouts are tracked.
--
-- Part of a script, after `hold`. The terms are in the field `hold` of the state, from the first PUT on that tracks
-- payouts or has a limit. They do not wait for a take of all, because they hold no money. A PUT that raises or removes
-- the limit, or stops tracking with one, waits for an approval. `Hold::put` in crates/core does the same.
-- needs: hold

local NOT_USED = {
  settlement = 'none',
  above = '-',
  owner = '-',
  asked = '-',
  asked_settlement = '-',
  asked_above = '-',
}

-- The terms in force, with the terms that wait; nil while the jackpot tracks no payouts and has no limit.
local function known_hold(key)
  local text = redis.call('HGET', key, 'hold')
  return text and must(read_hold(text), 'JP_DAMAGED hold') or nil
end

local function hold_row(hold)
  return hold_text(hold.settlement, hold.above, hold.owner, hold.asked, hold.asked_settlement, hold.asked_above)
end

-- The terms after a PUT that wants these.
local function put_hold(was, settlement, above, owner, version)
  local before = was or NOT_USED
  local waits = before.asked ~= '-'
  local target = waits and before.asked_settlement or before.settlement
  local target_above = waits and before.asked_above or before.above
  if settlement == target and above == target_above then
    return was
  end
  local set_by = was and above == target_above and was.owner or owner
  local stops = settlement == 'none' and before.settlement == 'tracked'
  local limit = before.above ~= '-' and must(exact(before.above), 'JP_DAMAGED hold')
  local raises = limit and (stops or above == '-' or must(exact(above), 'JP_ARGUMENT limit') > limit)
  return {
    settlement = raises and stops and before.settlement or settlement,
    above = raises and before.above or above,
    owner = set_by,
    asked = raises and version or '-',
    asked_settlement = raises and settlement or '-',
    asked_above = raises and above or '-',
  }
end
