-- Generated from crates/core/src/jackpot/adjustment_record.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest
-- run --test it docs::`.
--
-- An adjustment that was made, in the hash `adjustments` by its id.
--   digest at_ms

local function adjustment_text(digest, at_ms)
  return digest .. ' ' .. at_ms
end

-- Parses it into a table with its fields as text; nil for every other text.
local function read_adjustment(text)
  local digest, at_ms = string.match(text, '^(%S+) (%d+)$')
  if not digest then
    return nil
  end
  return {
    digest = digest,
    at_ms = at_ms,
  }
end
