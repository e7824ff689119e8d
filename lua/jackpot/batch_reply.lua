-- Generated from crates/jackpot/src/scripts/enter_batch.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run
-- --test it docs::`.

-- `ok`: a taken batch. The record of each winner follows, in the order of their indexes.
local function taken_reply(mark_text, values)
  return {
    'ok',
    mark_text,
    values.replayed and 1 or 0,
    values.record,
  }
end

-- An entry of the batch that drew a prize.
local function append_winner(reply, values)
  local length = #reply
  reply[length + 1] = values.record
end

-- `split`: an entry took all and put the waiting definition in force. Nothing was written. Draw the entries after it
-- under that definition, and send them as the second segment.
local function split_reply(mark_text, values)
  return {
    'split',
    mark_text,
    values.index,
  }
end

-- `cancelled`: reversals of some of its entries came before it. Nothing was written.
local function cancelled_reply(mark_text, values)
  return {
    'cancelled',
    mark_text,
    values.cancels,
  }
end
