-- Generated from crates/jackpot/src/ledger/event.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test
-- it docs::`.
--
-- One claim of an entry.
--   sequence,attempt,rank,paid,tier,amount,claim_order,pool_before;: The pool paid money.
--   sequence,attempt,rank,retry,tier,pool_before;: The pool held too little.
--   sequence,attempt,rank,later;: The prize is not money: a later call decides.
--   sequence,attempt,rank,issued,coupon_id,sequence,code;: The coupon gave a unit.
--   sequence,attempt,rank,refused,coupon_id,reason;: The coupon gave none.
--   sequence,attempt,rank,none;: The attempt drew nothing, or was the last one: the entry ended without a prize. Only
--     in a batch.

local function claim_head(sequence, attempt, rank)
  return sequence .. ',' .. attempt .. ',' .. rank
end

local function paid_claim(head, tier, amount, claim_order, pool_before)
  return head .. ',paid,' .. tier .. ',' .. amount .. ',' .. claim_order .. ',' .. pool_before .. ';'
end

local function retry_claim(head, tier, pool_before)
  return head .. ',retry,' .. tier .. ',' .. pool_before .. ';'
end

local function later_claim(head)
  return head .. ',later;'
end

local function issued_claim(head, coupon_id, sequence, code)
  return head .. ',issued,' .. coupon_id .. ',' .. sequence .. ',' .. code .. ';'
end

local function refused_claim(head, coupon_id, reason)
  return head .. ',refused,' .. coupon_id .. ',' .. reason .. ';'
end

local function ended_claim(head)
  return head .. ',none;'
end
