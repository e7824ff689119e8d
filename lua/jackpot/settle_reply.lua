-- Generated from crates/jackpot/src/scripts/settle.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run
-- --test it docs::`.

-- `later`: the event of this number took a step of the payout, or used the settlement id.
local function later_reply(mark_text, values)
  return {
    'later',
    mark_text,
    values.n,
  }
end
