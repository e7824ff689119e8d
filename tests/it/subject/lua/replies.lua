-- Generated from tests/it/subject/toy/scripts.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test it
-- docs::`.

-- Counted one further.
local function counted_reply(mark_text, values)
  return {
    'ok',
    mark_text,
    values.count,
  }
end

-- A toy.
local function viewed_reply(mark_text, values)
  return {
    'ok',
    mark_text,
    values.now_ms,
    values.definition,
    values.held,
  }
end
