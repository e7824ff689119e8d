local function later_reply(mark_text, values)
  return {
    'later',
    mark_text,
    values.n,
  }
end
