-- Shared by a checkpoint and a view.
--
-- Part of a script, after state.lua and `checkpoint_text`.
-- needs: checkpoint_text

-- The fields that decide who may be in, and when, as text for a checkpoint.
local function decides(state, commitment)
  return checkpoint_text(
    state.status,
    num(state.version),
    num(state.capacity),
    num(state.session),
    num(state.waiting_timeout),
    state.rate and num(state.rate) or '-',
    num(state.opens),
    num(state.passes_until),
    commitment,
    state.collected_sha256 == '' and '-' or state.collected_sha256
  )
end
