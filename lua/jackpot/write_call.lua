-- Generated from crates/core/src/jackpot/record.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test
-- it docs::`.
--
-- The record that the entries of a call share, if they were taken in runs.
--   first|epoch|version|skip|stakes|amounts|runs

local function call_record_text(first, epoch, version, skip, stakes, amounts, runs)
  return first .. '|' .. epoch .. '|' .. version .. '|' .. skip .. '|' .. stakes .. '|' .. amounts .. '|' .. runs
end
