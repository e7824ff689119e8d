-- Generated from crates/coupon/src/ledger/event.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test
-- it docs::`.
--
-- A request in an event: what came of it.
--   request user i sequence code: The request got a unit.
--   request user a first: The user already had the most units per user.
--   request user o: No unit was left.
--   request user n: The coupon had not started, or was over.
--   request user c: The coupon was closed. Only in a `serve` event.
--   request user q arrival: The request joined the queue. Only in an `issue` event.
--   request user d attempts: The queue took the request too often without serving it. Only in a `serve` event.

local function line_head(request, user)
  return request .. ' ' .. user
end

local function issued_line(head, sequence, code)
  return head .. ' i ' .. sequence .. ' ' .. code
end

local function already_issued_line(head, first)
  return head .. ' a ' .. first
end

local function out_of_stock_line(head)
  return head .. ' o'
end

local function not_open_line(head)
  return head .. ' n'
end

local function closed_line(head)
  return head .. ' c'
end

local function queued_line(head, arrival)
  return head .. ' q ' .. arrival
end

local function dead_line(head, attempts)
  return head .. ' d ' .. attempts
end
