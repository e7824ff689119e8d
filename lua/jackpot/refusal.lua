-- Shared by the scripts that record how a rank refused an entry.

-- A list of refusals with one more: the rank and the letter of the reason.
local function add_refusal(refusals, rank, letter)
  return (refusals == '-' and '' or refusals .. ',') .. rank .. letter
end
