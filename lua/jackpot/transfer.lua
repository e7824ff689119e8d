-- Generated from crates/core/src/jackpot/transfer.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run
-- --test it docs::`.
--
-- What a transfer moves out of one tier into a tier of the other jackpot.
--   tier,to_tier,pool,pool_micro,reserve,reserve_micro,overflow;

local function part_text(tier, to_tier, pool, pool_micro, reserve, reserve_micro, overflow)
  return tier
    .. ','
    .. to_tier
    .. ','
    .. pool
    .. ','
    .. pool_micro
    .. ','
    .. reserve
    .. ','
    .. reserve_micro
    .. ','
    .. overflow
    .. ';'
end

-- Parses it into a table with its fields as text; nil for every other text.
local function read_part(text)
  local tier, to_tier, pool, pool_micro, reserve, reserve_micro, overflow =
    string.match(text, '^([^,]+),([^,]+),(%d+),(%d+),(%d+),(%d+),(%d+)$')
  if not tier then
    return nil
  end
  return {
    tier = tier,
    to_tier = to_tier,
    pool = pool,
    pool_micro = pool_micro,
    reserve = reserve,
    reserve_micro = reserve_micro,
    overflow = overflow,
  }
end

--
-- A transfer that was given, in place of the digest of an adjustment's record under the name `!out!<transfer_id>`.
--   digest|to|parts

local function given_text(digest, to, parts)
  return digest .. '|' .. to .. '|' .. parts
end

-- Parses it into a table with its fields as text; nil for every other text.
local function read_given(text)
  local digest, to, parts = string.match(text, '^([^|]+)|([^|]+)|([^|]+)$')
  if not digest then
    return nil
  end
  return {
    digest = digest,
    to = to,
    parts = parts,
  }
end
