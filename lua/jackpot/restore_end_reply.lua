-- Generated from crates/kernel/src/subject/restore.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run
-- --test it docs::`.

-- `early`: the number of the new epoch is a second that has not passed. Nothing was written.
local function begin_later_reply(mark_text, values)
  return {
    'early',
    mark_text,
    values.wait_ms,
  }
end
