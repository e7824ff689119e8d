-- Shared by the scripts that append a checkpoint of a state with many fields (jackpot, coupon).
--
-- Part of a script. A checkpoint is an event with what Redis holds at this instant, in the field `state`. The ledger
-- compares it with the result of the events before it.

-- Fields as name, value, ..., each as a line "name value".
local function lines_of(fields)
  local lines = {}
  for i = 1, #fields, 2 do
    lines[#lines + 1] = fields[i] .. ' ' .. fields[i + 1]
  end
  return table.concat(lines, '\n')
end
