-- Generated from crates/jackpot/src/scripts/enter.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run
-- --test it docs::`.

-- What a call took; the code says why it took no more. What there is to say of some entries follows. An entry of which
-- nothing is said was taken now, without a prize.
local function entered_reply(code, mark_text, values)
  return {
    code,
    mark_text,
    values.first,
    values.runs,
    values.terms,
    values.digest,
    values.meters,
    values.cycles,
  }
end

-- An entry of the call.
local function append_said(reply, values)
  local length = #reply
  reply[length + 1] = values.place
  reply[length + 2] = values.text
end
