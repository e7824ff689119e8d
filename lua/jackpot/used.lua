-- Shared by the scripts that show or write the whole state: its fields that only some jackpots have. Each is rows of
-- one kind, and is missing while the jackpot does not use it. `voided` is not among them: the meters of tiers show it.
-- needs: hold leaving

-- Each with what reads a row of it.
local USED = { { 'hold', read_hold }, { 'took', read_took } }
