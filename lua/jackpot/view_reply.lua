-- Generated from crates/jackpot/src/scripts/read.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test
-- it docs::`.

-- A jackpot. The meters of each tier follow, then each value of its state.
local function viewed_reply(mark_text, values)
  return {
    'ok',
    mark_text,
    values.now_ms,
    values.definition,
    values.waiting or '',
    values.tiers,
  }
end

-- `stale`: another definition is in force, which has other tiers.
local function other_version_reply(mark_text, values)
  return {
    'stale',
    mark_text,
    values.version,
    values.tiers,
  }
end

-- The meters of a tier.
local function append_tier_meters(reply, values)
  local length = #reply
  reply[length + 1] = values.name
  reply[length + 2] = values.pool
  reply[length + 3] = values.reserve
  reply[length + 4] = values.overflow
  reply[length + 5] = values.pool_micro
  reply[length + 6] = values.reserve_micro
  reply[length + 7] = values.contributed
  reply[length + 8] = values.contributed_micro
  reply[length + 9] = values.funded
  reply[length + 10] = values.paid
  reply[length + 11] = values.wins
  reply[length + 12] = values.pool_written
  reply[length + 13] = values.funded_micro
  reply[length + 14] = values.reversed
  reply[length + 15] = values.reversed_micro
  reply[length + 16] = values.transferred_in
  reply[length + 17] = values.transferred_in_micro
  reply[length + 18] = values.transferred_out
  reply[length + 19] = values.transferred_out_micro
  reply[length + 20] = values.expected
  reply[length + 21] = values.voided
end

-- A value of the state, or a count of another key.
local function append_held(reply, values)
  local length = #reply
  reply[length + 1] = values.name
  reply[length + 2] = values.value
end
