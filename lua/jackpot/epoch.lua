-- Generated from crates/core/src/jackpot/epoch.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test
-- it docs::`.
--
-- An epoch, in the hash `epochs` by its number. Times are in ms of Redis' clock.
--   commitment opened closed nonce secret

local function epoch_text(commitment, opened, closed, nonce, secret)
  return commitment .. ' ' .. opened .. ' ' .. closed .. ' ' .. nonce .. ' ' .. secret
end

-- Parses it into a table with its fields as text; nil for every other text.
local function read_epoch(text)
  local commitment, opened, closed, nonce, secret = string.match(text, '^(%S+) (%d+) (%S+) (%S+) (%S+)$')
  if not commitment then
    return nil
  end
  return {
    commitment = commitment,
    opened = opened,
    closed = closed,
    nonce = nonce,
    secret = secret,
  }
end
