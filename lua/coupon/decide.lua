-- Shared by issue.lua and serve.lua: the decision on one request, in memory.

-- Decides a request at this instant: window of time, user, stock. `stamp`: the instant as text; `held`: the user's
-- record, false for none. Returns the request's record, what the event says of it behind the user, and, when a unit was
-- issued, the user's record. nil: the user's record cannot be read, so nothing is decided.
local function decide(state, at, stamp, request, user, code, held)
  if (state.starts and at < state.starts) or (state.ends and at >= state.ends) then
    return 'n ' .. stamp .. ' ' .. user, ' n'
  end
  local count, first, kept = 0, nil, ''
  if held then
    count, first, kept = count_issues(held, state.window and at - state.window or -1)
    if not count then
      return nil
    end
  end
  if count >= state.per_user then
    return 'a ' .. stamp .. ' ' .. first .. ' ' .. user, ' a ' .. first
  end
  if state.seq - state.voided >= state.stock then
    return 'o ' .. stamp .. ' ' .. user, ' o'
  end
  state.seq = state.seq + 1
  local seq = num(state.seq)
  local record = 'i ' .. seq .. ' ' .. stamp .. ' ' .. code .. ' ' .. user
  return record, ' i ' .. seq .. ' ' .. code, kept .. request .. ' ' .. stamp .. ';'
end
