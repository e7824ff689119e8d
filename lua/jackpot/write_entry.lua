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

local function entry_head(sequence, epoch, version, fingerprint, contributions)
  return sequence .. ' ' .. epoch .. ' ' .. version .. ' ' .. fingerprint .. ' ' .. contributions
end

local function pending_entry(head, refusals, entered_ms, sent)
  return head .. ' p ' .. refusals .. ' ' .. entered_ms .. ' ' .. sent
end

local function ended_entry(head, refusals)
  return head .. ' n ' .. refusals
end

local function issued_entry(head, refusals, rank, coupon_id, sequence, code)
  return head .. ' c ' .. refusals .. ' ' .. rank .. ' ' .. coupon_id .. ' ' .. sequence .. ' ' .. code
end

local function paid_entry(head, refusals, rank, tier, amount, claim_order, history)
  return head
    .. ' w '
    .. refusals
    .. ' '
    .. rank
    .. ' '
    .. tier
    .. ' '
    .. amount
    .. ' '
    .. claim_order
    .. ' '
    .. history
end

local function must_hit_entry(head, tier, amount, claim_order, history, cycle, by, trigger)
  return head
    .. ' h '
    .. tier
    .. ' '
    .. amount
    .. ' '
    .. claim_order
    .. ' '
    .. history
    .. ' '
    .. cycle
    .. ' '
    .. by
    .. ' '
    .. trigger
end
