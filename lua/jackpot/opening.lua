-- Shared by the scripts that open an epoch.

-- Checks the nonce and secret id of an epoch to open. The caller makes the nonce, because scripts have no randomness.
local function opening(nonce, secret)
  must(#nonce == 32 and not find(nonce, '[^0-9a-f]') or nil, 'JP_ARGUMENT nonce')
  must(#secret == 16 and not find(secret, '[^0-9a-f]') or nil, 'JP_ARGUMENT secret')
end
