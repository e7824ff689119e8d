-- Shared by the scripts that tell and compare packed terms by their digest.

-- SHA-1 of packed terms, in hexadecimal. Terms rarely change.
local digest_of = memo(512, redis.sha1hex)
