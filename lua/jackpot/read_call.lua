-- Generated from crates/core/src/jackpot/record.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test
-- it docs::`.
--
-- The record that the entries of a call share, if they were taken in runs.
--   first|epoch|version|skip|stakes|amounts|runs

-- Parses it into a table with its fields as text; nil for every other text.
local function read_call_record(text)
  local first, epoch, version, skip, stakes, amounts, runs =
    string.match(text, '^(%d+)|(%d+)|(%d+)|([^|]+)|([^|]+)|([^|]+)|([^|]+)$')
  if not first then
    return nil
  end
  return {
    first = first,
    epoch = epoch,
    version = version,
    skip = skip,
    stakes = stakes,
    amounts = amounts,
    runs = runs,
  }
end
