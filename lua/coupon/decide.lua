-- Shared by issue.lua and serve.lua: the decision on one request, in memory.
-- needs: write_request record lines

-- Decides a request at the instant `at`, in this order: closed, window of time, user, stock. `stamp` is `at` as text.
-- `held` is the user's record, false for none. Returns three values:
--   the request's record; nil when the user's record cannot be read: then nothing is decided
--   the request's line in the event
--   the user's record if it changes: the script issued a unit, or the clock was set back
local function decide(state, at, stamp, request, user, code, held)
  if state.status == 'closed' then
    return closed_request(stamp, user), closed_line(line_head(request, user))
  end
  if (state.starts and at < state.starts) or (state.ends and at >= state.ends) then
    return not_open_request(stamp, user), not_open_line(line_head(request, user))
  end
  local count, first, kept, moved = 0, nil, '', false
  if held then
    count, first, kept, moved = count_issues(held, state.window and at - state.window or -1, state.window and at or MAX)
    if not count then
      return nil
    end
  end
  if count >= state.per_user then
    local line = already_issued_line(line_head(request, user), first)
    return already_issued_request(stamp, first, user), line, moved and kept or nil
  end
  if state.seq - state.voided >= state.stock then
    return out_of_stock_request(stamp, user), out_of_stock_line(line_head(request, user))
  end
  state.seq = state.seq + 1
  local seq = num(state.seq)
  local record = issued_request(seq, stamp, code, user)
  return record, issued_line(line_head(request, user), seq, code), kept .. user_issue_text(request, stamp)
end
