-- Part of the script `enter`, after `amount_row`: what one entry of a run adds, when the run is taken one by one.
-- needs: amount_row

-- The row of one entry of a run, the i-th of its call, from the texts `stakes` and `amounts` of the call. `stakes`
-- names the row of each entry as `amounts` does.
local function row_of_entry(segment, stakes, amounts, i)
  local by_stake = segment.by_stake
  if not by_stake then
    by_stake = { stakes = {} }
    for stake in string.gmatch(stakes, '[^,]+') do
      by_stake.stakes[#by_stake.stakes + 1] = stake
    end
    for text in string.gmatch(amounts, '[^;]+') do
      local of_stake, row = must(read_amount_row(text), 'JP_ARGUMENT amounts'), {}
      for amount in string.gmatch(of_stake.amounts, '%d+') do
        row[#row + 1] = must(exact(amount), 'JP_ARGUMENT amount')
      end
      by_stake[of_stake.stake], by_stake.only = row, row
    end
    segment.by_stake = by_stake
  end
  return must(by_stake[by_stake.stakes[i] or 'only'], 'JP_ARGUMENT amounts')
end
