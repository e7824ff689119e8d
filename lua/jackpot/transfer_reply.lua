-- Generated from crates/jackpot/src/scripts/transfer.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run
-- --test it docs::`.

-- The money of a transfer is given, by this call (`ok`) or an earlier one (`same`), or waits (`held`, `waits`), or was
-- withdrawn.
local function given_reply(code, mark_text, values)
  return {
    code,
    mark_text,
    values.parts,
  }
end

-- `holds`: the tiers hold other parts than the target expects.
local function holds_reply(mark_text, values)
  return {
    'holds',
    mark_text,
    values.parts,
    values.waits and 1 or 0,
    values.limit,
    values.at_ms,
  }
end
