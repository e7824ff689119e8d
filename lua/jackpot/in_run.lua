-- Generated from crates/core/src/jackpot/record.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test
-- it docs::`.
--
-- In place of the record of an entry that was taken in a run. It is short, because it shares the record of its call.
--   call place fingerprint

-- Parses it into a table with its fields as text; nil for every other text.
local function read_in_run(text)
  local call, place, fingerprint = string.match(text, '^(:%S+) (%d+) (%S+)$')
  if not call then
    return nil
  end
  return {
    call = call,
    place = place,
    fingerprint = fingerprint,
  }
end
