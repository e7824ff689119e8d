local function append_payout() end
