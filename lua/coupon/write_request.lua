-- Generated from crates/coupon/src/record.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test it
-- docs::`.
--
-- A request, in the hash `requests` by its id. Times are in ms of Redis' clock.
--   i sequence at_ms code user: A unit was issued.
--   v sequence at_ms code voided_ms user: Issued, and voided.
--   r sequence at_ms code redeemed_ms redemption reference user: Issued, and used by its user.
--   a at_ms first user: Already issued: the user had reached the limit.
--   o at_ms user: Out of stock.
--   n at_ms user: Not open: the coupon had not started, or was over.
--   c at_ms user: Closed: the coupon was closed while the request was in the queue.
--   q arrival attempts take at_ms user: In the queue.
--   d arrival attempts at_ms user: Dead letter: taken too often without being served.

local function issued_request(sequence, at_ms, code, user)
  return 'i ' .. sequence .. ' ' .. at_ms .. ' ' .. code .. ' ' .. user
end

local function voided_request(sequence, at_ms, code, voided_ms, user)
  return 'v ' .. sequence .. ' ' .. at_ms .. ' ' .. code .. ' ' .. voided_ms .. ' ' .. user
end

local function redeemed_request(sequence, at_ms, code, redeemed_ms, redemption, reference, user)
  return 'r '
    .. sequence
    .. ' '
    .. at_ms
    .. ' '
    .. code
    .. ' '
    .. redeemed_ms
    .. ' '
    .. redemption
    .. ' '
    .. reference
    .. ' '
    .. user
end

local function already_issued_request(at_ms, first, user)
  return 'a ' .. at_ms .. ' ' .. first .. ' ' .. user
end

local function out_of_stock_request(at_ms, user)
  return 'o ' .. at_ms .. ' ' .. user
end

local function not_open_request(at_ms, user)
  return 'n ' .. at_ms .. ' ' .. user
end

local function closed_request(at_ms, user)
  return 'c ' .. at_ms .. ' ' .. user
end

local function queued_request(arrival, attempts, take, at_ms, user)
  return 'q ' .. arrival .. ' ' .. attempts .. ' ' .. take .. ' ' .. at_ms .. ' ' .. user
end

local function dead_request(arrival, attempts, at_ms, user)
  return 'd ' .. arrival .. ' ' .. attempts .. ' ' .. at_ms .. ' ' .. user
end
