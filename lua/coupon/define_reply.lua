-- Generated from crates/coupon/src/scripts/operate.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run
-- --test it docs::`.

-- `below`: the stock is below the number of outstanding units.
local function below_reply(mark_text, values)
  return {
    'below',
    mark_text,
    values.out,
  }
end
