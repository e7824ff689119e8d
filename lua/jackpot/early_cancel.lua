-- Generated from crates/core/src/jackpot/reversal.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run
-- --test it docs::`.
--
-- A reversal that came before its entry. It refuses an entry of that id. Redis keeps a list of them under the id of the
-- entry, after a `!`, where the look-up of the id finds it. For an entry of a batch a `!` stands under the name of the
-- batch's record too.
--   reversal_id,by,at_ms

local function early_cancel_text(reversal_id, by, at_ms)
  return reversal_id .. ',' .. by .. ',' .. at_ms
end

-- Parses it into a table with its fields as text; nil for every other text.
local function read_early_cancel(text)
  local reversal_id, by, at_ms = string.match(text, '^([^,]+),([^,]+),(%d+)$')
  if not reversal_id then
    return nil
  end
  return {
    reversal_id = reversal_id,
    by = by,
    at_ms = at_ms,
  }
end

--
-- What a reversal id was used for, beside the records of entries under the name `~<reversal id>`.
--   entry_id,reason

local function reversal_use_text(entry_id, reason)
  return entry_id .. ',' .. reason
end

--
-- A record that an early cancel wrote.
--   name is_new text;

local function early_row_text(name, is_new, text)
  return name .. ' ' .. is_new .. ' ' .. text .. ';'
end
