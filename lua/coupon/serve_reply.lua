-- Generated from crates/coupon/src/scripts/serve.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test
-- it docs::`.

-- `ok`: a step of the queue. Each taken request follows, then the answers to the served requests.
local function stepped_reply(mark_text, values)
  return {
    'ok',
    mark_text,
    values.waiting,
    values.taken,
  }
end

-- A request for the next call to serve.
local function append_taken(reply, values)
  local length = #reply
  reply[length + 1] = values.request_id
  reply[length + 2] = values.user
  reply[length + 3] = values.attempts
end

-- `held`: another consumer has the lease. Nothing was done.
local function leased_reply(mark_text, values)
  return {
    'held',
    mark_text,
    values.free_in_ms,
  }
end
