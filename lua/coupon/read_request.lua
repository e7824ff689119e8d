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

-- Parses a record into a table with its `kind`, its `text`, and its fields as text; nil for no record, or one that no
-- script wrote.
local function read_request(text)
  local kind = text and string.sub(text, 1, 1)
  if kind == 'i' then
    local sequence, at_ms, code, user = string.match(text, '^i (%d+) (%d+) (%S+) (%S+)$')
    if not sequence then
      return nil
    end
    return {
      kind = kind,
      text = text,
      sequence = sequence,
      at_ms = at_ms,
      code = code,
      user = user,
    }
  end
  if kind == 'v' then
    local sequence, at_ms, code, voided_ms, user = string.match(text, '^v (%d+) (%d+) (%S+) (%d+) (%S+)$')
    if not sequence then
      return nil
    end
    return {
      kind = kind,
      text = text,
      sequence = sequence,
      at_ms = at_ms,
      code = code,
      voided_ms = voided_ms,
      user = user,
    }
  end
  if kind == 'r' then
    local sequence, at_ms, code, redeemed_ms, redemption, reference, user =
      string.match(text, '^r (%d+) (%d+) (%S+) (%d+) (%S+) (%S+) (%S+)$')
    if not sequence then
      return nil
    end
    return {
      kind = kind,
      text = text,
      sequence = sequence,
      at_ms = at_ms,
      code = code,
      redeemed_ms = redeemed_ms,
      redemption = redemption,
      reference = reference,
      user = user,
    }
  end
  if kind == 'a' then
    local at_ms, first, user = string.match(text, '^a (%d+) (%S+) (%S+)$')
    if not at_ms then
      return nil
    end
    return {
      kind = kind,
      text = text,
      at_ms = at_ms,
      first = first,
      user = user,
    }
  end
  if kind == 'o' then
    local at_ms, user = string.match(text, '^o (%d+) (%S+)$')
    if not at_ms then
      return nil
    end
    return {
      kind = kind,
      text = text,
      at_ms = at_ms,
      user = user,
    }
  end
  if kind == 'n' then
    local at_ms, user = string.match(text, '^n (%d+) (%S+)$')
    if not at_ms then
      return nil
    end
    return {
      kind = kind,
      text = text,
      at_ms = at_ms,
      user = user,
    }
  end
  if kind == 'c' then
    local at_ms, user = string.match(text, '^c (%d+) (%S+)$')
    if not at_ms then
      return nil
    end
    return {
      kind = kind,
      text = text,
      at_ms = at_ms,
      user = user,
    }
  end
  if kind == 'q' then
    local arrival, attempts, take, at_ms, user = string.match(text, '^q (%d+) (%d+) (%S+) (%d+) (%S+)$')
    if not arrival then
      return nil
    end
    return {
      kind = kind,
      text = text,
      arrival = arrival,
      attempts = attempts,
      take = take,
      at_ms = at_ms,
      user = user,
    }
  end
  if kind == 'd' then
    local arrival, attempts, at_ms, user = string.match(text, '^d (%d+) (%d+) (%d+) (%S+)$')
    if not arrival then
      return nil
    end
    return {
      kind = kind,
      text = text,
      arrival = arrival,
      attempts = attempts,
      at_ms = at_ms,
      user = user,
    }
  end
  return nil
end
