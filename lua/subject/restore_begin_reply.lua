-- Generated from crates/kernel/src/subject/restore.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run
-- --test it docs::`.

-- `ok`: the restore has begun.
local function begun_reply(mark_text, values)
  return {
    'ok',
    mark_text,
    values.at_ms,
  }
end
