-- Pauses, resumes, suspends or closes a jackpot. A pause with nothing pending puts a waiting definition in force,
-- unless the operator keeps it waiting or one of its caps is below the pool. That definition waits for the next take of
-- all.
--
-- KEYS  1 state  2 pending  3 events  4 epochs  5.. pool of each tier, in the definition's order
-- ARGV  1..4 fence (state.lua)
--       5 named values (lua/subject/status.lua): wanted: open | paused | suspended (by the service) | closed, and
--         reconciled: '1' when a reconciliation was clean; a suspended jackpot resumes only then
--         prepared cycles (cycles.lua); keep_waiting: '1' to leave a waiting definition waiting
-- Reply {'unknown'} | {'behind' | 'restoring' | 'stale', mark}
--       {'ok', mark} done | {'same', mark} it had that status | {'closed', mark} closed is final
--       {'suspended', mark} a suspended jackpot is not paused, and resumes only after a clean reconciliation
-- Invariants: open cycles with a time end without a take when entries are taken again. Pending entries are finished in
-- every status. Runs when memory is full: stopping must always work. Closing ends the open epoch and cycles, and none
-- follows, also where an earlier version of the service closed the jackpot.
-- Cost: O(tiers).
-- needs: state tiers epoch subject/status event/status

local state, ended = fenced_state(KEYS[1])
if not state then
  return ended
end
local wish = named(ARGV[5])
local freed = wish.wanted == 'closed' or (wish.wanted == 'open' and wish.reconciled == '1')
local last = wish.wanted == 'closed' and read_epoch(redis.call('HGET', KEYS[4], state.epoch) or '')
if last and last.closed ~= '-' then
  last = nil
end
local left_open = state.status == 'closed' and (last or wish.wanted == 'closed' and has_open_cycles(state))
ended = not left_open
  and kept_status(state, wish, state.status == 'closed' or (state.status == 'suspended' and not freed))
if ended then
  return ended
end

local at = now_ms()
local is_resumed = wish.wanted == 'open' and state.status ~= 'open'
local refusal = (is_resumed or state.next ~= '') and prepare(state, wish.prepared, at)
if refusal then
  return { refusal, mark(state) }
end
-- The script reads the tiers only if they may change, so a jackpot with a damaged meter can still be paused.
local tiers = { first_pool = 5 }
if wish.wanted == 'paused' and state.next ~= '' and wish.keep_waiting ~= '1' and redis.call('ZCARD', KEYS[2]) == 0 then
  tiers = read_tiers(state, state.tiers, 5)
  if caps_hold(state.next_tiers, tiers) then
    apply_next(state, tiers)
  end
end
if is_resumed and cycles_of(state) then
  tiers = read_tiers(state, state.tiers, 5)
  restart_cycles(state, tiers)
end
if wish.wanted == 'closed' then
  close_cycles(state)
end
local own = { meters = changes(state, tiers), applied = state.applied or '', cycles = cycle_changes(state) }
own.ended_epoch = last and state.epoch or nil
append_status(KEYS[3], state, at, change_status(state, wish, own))
if last then
  redis.call('HSET', KEYS[4], state.epoch, epoch_text(last.commitment, last.opened, num(at), last.nonce, last.secret))
end
write_pools(tiers)
redis.call('HSET', KEYS[1], 'status', status_text(state))
write_state(KEYS[1], state)
return { 'ok', mark(state) }
