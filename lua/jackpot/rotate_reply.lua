-- Generated from crates/jackpot/src/scripts/rotate.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run
-- --test it docs::`.

-- `ok`: the next epoch is open.
local function opened_reply(mark_text, values)
  return {
    'ok',
    mark_text,
    values.epoch,
  }
end

-- `raised`: the jackpot's retention was shorter than the caller's. Now it is the caller's; nothing else was done.
local function raised_reply(mark_text, values)
  return {
    'raised',
    mark_text,
    values.retention_s,
  }
end

-- `early`: the newer generation has not reached the jackpot's retention.
local function early_reply(mark_text, values)
  return {
    'early',
    mark_text,
    values.left_ms,
    values.retention_s,
  }
end
