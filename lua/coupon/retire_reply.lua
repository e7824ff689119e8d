-- Generated from crates/coupon/src/scripts/retire.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run
-- --test it docs::`.

-- `raised`: the coupon's retention was shorter than the caller's. Now it is the caller's; nothing else was done.
local function raised_reply(mark_text, values)
  return {
    'raised',
    mark_text,
    values.retention_s,
  }
end

-- `not-over`: the retention after the coupon's end has not passed.
local function not_over_reply(mark_text, values)
  return {
    'not-over',
    mark_text,
    values.left_ms or '',
    values.retention_s,
  }
end

-- `line`: requests are still in the queue. `serve` must answer them first.
local function queued_reply(mark_text, values)
  return {
    'line',
    mark_text,
    values.queued,
  }
end
