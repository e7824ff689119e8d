-- Shared by every script that reads or writes the record of a user.

-- The user of a request's word `user` or `user/metadata` (crates/coupon/src/metadata.rs). No id has a `/`.
local function user_of(word)
  local slash = find(word, '/', 1, true)
  return slash and string.sub(word, 1, slash - 1) or word
end
