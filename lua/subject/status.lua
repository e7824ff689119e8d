-- Shared by the scripts that set a status (jackpot, coupon, room).
--
-- Part of a script, after the state's part. The named values of such a script: wanted (status), reason, who,
-- request_id.
-- Replies: {'ok', mark} done | {'same', mark} it had that status | {its status, mark} that status does not change
-- needs: subject/named

-- Returns the reply that ends the call, or nil. `stays`: the status does not change as wanted.
local function kept_status(state, wish, stays)
  if state.status == wish.wanted then
    return { 'same', mark(state) }
  end
  return stays and { state.status, mark(state) } or nil
end

-- Changes the status. Returns the values of the event `status`: `own`, and those of every capability.
local function change_status(state, wish, own)
  own.before, own.after, own.reason = state.status, wish.wanted, wish.reason
  own.who, own.request_id = wish.who, wish.request_id
  state.status = wish.wanted
  return own
end

-- Only the service calls the script, to stop a subject whose books do not agree, and to open it again.
local function must_be_open_or_suspended(wish)
  must(wish.wanted == 'open' or wish.wanted == 'suspended' or nil, 'JP_ARGUMENT status')
end
