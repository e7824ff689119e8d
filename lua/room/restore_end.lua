-- Ends a restore: writes the state, appends the event `restore`, and lets the other scripts run again.
--
-- KEYS  the eleven of the room (state.lua)
-- ARGV  1 those of every restore (lua/subject/restored.lua), and
--         lost: 1 when Redis had events that the ledger lacks, as far as the caller knows, else 0
--         next_nonce: a new nonce of the order before the opening; next_commitment: of its seed
--       2 the ledger's state: n, restores, status, version, json, order_nonce, commitment, passes_until (or the
--         caller's, if that is later), clock (the highest time of the room that the ledger and the caller have seen),
--         puts, collected_sha256 ('' for none), a new history, and the numbers of the definition: capacity, session,
--         waiting_timeout, rate and opens_at ('' for none)
-- Reply {'unknown'} | {'other', mark} another restore is running
--       {'ok', mark} done | {'same', mark} done before
-- Invariants: those of lua/subject/restored.lua. No ticket is in or waits. Nobody is admitted until every pass that
-- Redis forgot has expired; a room that has not opened has none, if no event is lost. A room that has not opened gets a
-- new nonce, because the old one's seed may have been published in the lost time. Pass numbers go on above all earlier
-- ones. Runs when memory is full.
-- Cost: O(1).
-- needs: state subject/restored event/restore

local NUMBERS = { 'n', 'restores', 'version', 'passes_until', 'capacity', 'session', 'waiting_timeout', 'clock' }
local OPTIONAL = { 'rate', 'opens_at' }

local was, wish = read_state(KEYS[1]), named(ARGV[1])
local from, ended = restored_from(was, KEYS[1], wish)
if not from then
  return ended
end

local wall = now_ms()
local state = read_restored(was, { ahead = 0 }, NUMBERS, OPTIONAL)
local at = room_ms(state, wall)
state.rate = exact(state.rate)
state.opens = exact(state.opens_at) or wall
state.opened = (wall >= state.opens or state.collected_sha256 ~= '') and 1 or 0
state.defined = state.n
local lost = wish.lost == '1' or (exact(from) or 0) > state.n
if state.opened == 1 or lost then
  state.passes_until = lost_until(at, state)
end
must(state.order_nonce and state.commitment and state.collected_sha256, 'JP_ARGUMENT state')
if state.opened == 0 then
  state.order_nonce, state.commitment, state.defined = wish.next_nonce, wish.next_commitment, state.n + 1
end

local own = {
  passes_until = num(state.passes_until),
  order_nonce = state.order_nonce,
  commitment = state.commitment,
}
append_restore(KEYS[11], state, wall, timed(state, restored_values(state, wish, from, 0, own)))
state.hold = state.passes_until
state.rate, state.seq = state.rate or '', nil
return end_restore(KEYS[1], state, fresh_fields(state.restores * (MAX_N + 1)))
