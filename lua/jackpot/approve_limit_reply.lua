local function approved_reply(code, mark_text, values)
  return {
    code,
    mark_text,
    values.settlement,
    values.above,
  }
end
