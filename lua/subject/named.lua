-- Shared by the scripts of operators: what one of them wants, as values by their names in one argument.
--
-- Part of a script, after event_fields.lua. In Rust: `subject::Named`.
-- needs: subject/event_fields

-- The values of this text. One that the caller did not name ends the script where it is read.
local function named(text)
  return setmetatable(event_fields({ 'e', text }), {
    __index = function(_, name)
      return must(nil, 'JP_ARGUMENT ' .. name)
    end,
  })
end

-- The values of an event: `own`, and those of the wish that it does not have. A name that both the wish and the event
-- have means the same in both.
local function values_of(wish, own)
  for name, value in pairs(wish) do
    own[name] = own[name] or value
  end
  return own
end
