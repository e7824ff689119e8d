-- Shared by the scripts that tell and compare packed terms by their digest.

local MAX_DIGESTS = 512
local digests, count_digests = {}, 0

-- SHA-1 of packed terms, in hexadecimal. Each text is hashed once.
local function digest_of(terms)
  local digest = digests[terms]
  if not digest then
    digest = redis.sha1hex(terms)
    if count_digests == MAX_DIGESTS then
      digests, count_digests = {}, 0
    end
    digests[terms], count_digests = digest, count_digests + 1
  end
  return digest
end
