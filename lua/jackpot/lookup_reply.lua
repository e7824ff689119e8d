-- Generated from crates/jackpot/src/scripts/lookup.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run
-- --test it docs::`.

-- `ok`: an entry. The fields of its event follow (`Call::FIELDS`), all nil when the stream has been trimmed past it.
local function found_reply(mark_text, values)
  return {
    'ok',
    mark_text,
    values.record or '',
    values.sequence,
    values.reversal or '',
    values.at_ms or '',
  }
end
