-- Generated from crates/core/src/jackpot/record.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test
-- it docs::`.
--
-- The idempotency record of an entry, in one of the hashes `seen:a` and `seen:b` by its id.
--   sequence epoch version fingerprint contributions: Drew nothing at once.
--   sequence epoch version fingerprint contributions p refusals entered_ms sent: The next attempt must be made.
--   sequence epoch version fingerprint contributions n refusals: Drew nothing in the end, or ran out of redraws.
--   sequence epoch version fingerprint contributions c refusals rank coupon_id sequence code: Won a unit of a coupon.
--   sequence epoch version fingerprint contributions w refusals rank tier amount claim_order history: Won money.
--   sequence epoch version fingerprint contributions h tier amount claim_order history cycle by trigger: Hit a pool by
--     its rule; its odds were not drawn.

-- Parses it into a table with its fields as text; nil for every other text.
local function read_pending_entry(text)
  local head, sequence, refusals, entered_ms, sent = string.match(text, '^((%d+) %d+ %d+ %S+ %S+) p (%S+) (%d+) (.+)$')
  if not head then
    return nil
  end
  return {
    head = head,
    sequence = sequence,
    refusals = refusals,
    entered_ms = entered_ms,
    sent = sent,
  }
end
