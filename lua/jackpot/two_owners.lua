-- Shared by the scripts that take money out for an operator: whether it needs a second owner.
--
-- Part of a script, after limit.lua and `leaving`. What an owner took out without an approval counts for 24 hours, by
-- Redis' clock, in the field `took` of the state. `took_after` in crates/core does the same.
-- needs: limit leaving adjustment

local DAY_MS = 86400000
local MAX_TOOK = 1000 -- rows, because each taking reads all of them; with a limit, more of them need a second owner

-- The rows that count at this time.
local function took_rows(key, at)
  local rows = {}
  for text in string.gmatch(redis.call('HGET', key, 'took') or '', '[^;]+') do
    local row = must(read_took(text), 'JP_DAMAGED took')
    row.amount = must(exact(row.amount), 'JP_DAMAGED took')
    if must(exact(row.at_ms), 'JP_DAMAGED took') > at - DAY_MS then
      rows[#rows + 1] = row
    end
  end
  return rows
end

-- Whether this owner needs a second one to take this amount.
local function needs_two(key, rows, owner, amount)
  local hold = known_hold(key)
  if not hold or hold.above == '-' then
    return false
  end
  local all = amount
  for _, row in ipairs(rows) do
    all = all + (row.owner == owner and row.amount or 0)
  end
  return all >= must(exact(hold.above), 'JP_DAMAGED hold') or #rows >= MAX_TOOK
end

-- Writes the rows after the owner took this amount.
local function write_took(key, rows, owner, at, amount)
  if amount == 0 then
    return
  end
  if #rows >= MAX_TOOK then
    table.remove(rows, 1)
  end
  local texts = {}
  for i, row in ipairs(rows) do
    texts[i] = took_text(row.owner, row.at_ms, num(row.amount))
  end
  texts[#texts + 1] = took_text(owner, num(at), num(amount))
  redis.call('HSET', key, 'took', table.concat(texts))
end

-- What is known of a request that takes money out, by the names of its three records: `done`, `held` and `withdrawn` as
-- texts or nil, and `waiting`, the record of `held`.
local function known_leaving(key, done, held, withdrawn)
  local kept = redis.call('HMGET', key, done, held, withdrawn)
  local known = { done = kept[1] or nil, held = kept[2] or nil, withdrawn = kept[3] or nil }
  if known.held then
    known.record = must(read_adjustment(known.held), 'JP_DAMAGED adjustment')
    known.waiting = must(read_held(known.record.digest), 'JP_DAMAGED adjustment')
  end
  return known
end
