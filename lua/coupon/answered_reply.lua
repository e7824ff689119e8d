-- Generated from crates/coupon/src/scripts/answers.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run
-- --test it docs::`.

-- What came of requests. The record of each follows, in order, empty for none, then the details of some.
local function append_answered(reply, values)
  local length = #reply
  reply[length + 1] = values.known
end

-- A detail of one of the records.
local function append_detail(reply, values)
  local length = #reply
  reply[length + 1] = values.place
  reply[length + 2] = values.text
end
