-- Generated from crates/kernel/src/subject/operate.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run
-- --test it docs::`.

-- The effect of a PUT: the subject was created, the definition is in force, waits, or was there before.
local function put_reply(code, mark_text, values)
  return {
    code,
    mark_text,
    values.version,
  }
end
