-- Generated from crates/core/src/jackpot/batch_record.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run
-- --test it docs::`.
--
-- The idempotency record of a batch, in the same hash as those of entries by `<batch_id>:`. An entry of the batch that
-- drew a prize has a record of its own, by `<batch_id>:<index>`. The results of the others follow from the event.
--   first count fingerprint epoch totals winners

local function batch_record_text(first, count, fingerprint, epoch, totals, winners)
  return first .. ' ' .. count .. ' ' .. fingerprint .. ' ' .. epoch .. ' ' .. totals .. ' ' .. winners
end

--
-- What a batch added to a tier.
--   tier+amount+pool

local function total_text(tier, amount, pool)
  return tier .. '+' .. amount .. '+' .. pool
end
