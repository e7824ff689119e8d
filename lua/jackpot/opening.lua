-- Shared by the scripts that open an epoch.

-- The value of an epoch in the hash of epochs: "commitment opened closed nonce secret", times in ms, closed "-" while
-- open.
local function epoch_text(commitment, opened, closed, nonce, secret)
  return table.concat({ commitment, opened, closed, nonce, secret }, ' ')
end

-- Checks the nonce and secret id of an epoch to open. The caller makes the nonce, because scripts have no randomness.
local function opening(nonce, secret)
  must(#nonce == 32 and not find(nonce, '[^0-9a-f]') or nil, 'JP_ARGUMENT nonce')
  must(#secret == 16 and not find(secret, '[^0-9a-f]') or nil, 'JP_ARGUMENT secret')
end
