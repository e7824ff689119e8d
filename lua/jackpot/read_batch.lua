-- Generated from crates/core/src/jackpot/batch_record.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run
-- --test it docs::`.
--
-- The idempotency record of a batch, in the same hash as those of entries by `<batch_id>:`. An entry of the batch that
-- drew a prize has a record of its own, by `<batch_id>:<index>`. The results of the others follow from the event.
--   first count fingerprint epoch totals winners

-- Parses it into a table with its fields as text; nil for every other text.
local function read_batch_record(text)
  local first, count, fingerprint, epoch, totals, winners = string.match(text, '^(%d+) (%d+) (%S+) (%d+) (%S+) (%S+)$')
  if not first then
    return nil
  end
  return {
    first = first,
    count = count,
    fingerprint = fingerprint,
    epoch = epoch,
    totals = totals,
    winners = winners,
  }
end
