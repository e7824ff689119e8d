-- Generated from crates/core/src/jackpot/leaving.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test
-- it docs::`.
--
-- Money that waits for a second owner, in place of the digest of an adjustment's record under the name
-- `!held!<adjustment_id>` or `!held-out!<transfer_id>`.
--   digest|owner|amount|to|what

local function held_text(digest, owner, amount, to, what)
  return digest .. '|' .. owner .. '|' .. amount .. '|' .. to .. '|' .. what
end

-- Parses it into a table with its fields as text; nil for every other text.
local function read_held(text)
  local digest, owner, amount, to, what = string.match(text, '^([^|]+)|([^|]+)|(%d+)|([^|]+)|([^|]+)$')
  if not digest then
    return nil
  end
  return {
    digest = digest,
    owner = owner,
    amount = amount,
    to = to,
    what = what,
  }
end

--
-- What an owner took out without an approval, in the field `took` of the state.
--   owner at_ms amount;

local function took_text(owner, at_ms, amount)
  return owner .. ' ' .. at_ms .. ' ' .. amount .. ';'
end

-- Parses it into a table with its fields as text; nil for every other text.
local function read_took(text)
  local owner, at_ms, amount = string.match(text, '^(%S+) (%d+) (%d+)$')
  if not owner then
    return nil
  end
  return {
    owner = owner,
    at_ms = at_ms,
    amount = amount,
  }
end
