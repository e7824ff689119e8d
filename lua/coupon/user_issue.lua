-- Generated from crates/coupon/src/record.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test it
-- docs::`.
--
-- An issue that counts for a user. The hash `users` has those of a user by the user's id, oldest first.
--   request at_ms;

local function user_issue_text(request, at_ms)
  return request .. ' ' .. at_ms .. ';'
end

-- Finds each of a list.
local USER_ISSUE = '(%S+) (%d+);'
