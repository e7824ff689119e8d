# The texts of all pages in English. `ko.ftl` has the same names with the same values; a test compares them.

## Every page of the console
console = Jackpot console
skip = Skip to the content
nav = Sections
nav-play = Play
nav-overview = Overview
nav-jackpots = Jackpots
trail = Pages above this one
signed-in-as = Signed in as
sign-out = Sign out
next-page = Next page
filter = Filter
filter-none = No filter
n-events = { $count ->
    [one] { $count } event
   *[other] { $count } events
}
n-entries = { $count ->
    [one] { $count } entry
   *[other] { $count } entries
}

## Signing in
sign-in = Sign in
sign-in-key = API key
sign-in-key-hint = A key with the role read or operate.
sign-in-wrong-key = No such key. Check that it is whole, and that it was not revoked.
sign-in-play-key = A play key belongs to a game. Use a key with the role read or operate.
sign-in-where = Make a key on the machine of the service:

## Failures
failure-no-page = There is no such page
failure-no-page-text = The address is wrong, or what it named was removed.
failure-form = This form is too old, or came from another site
failure-form-text = Nothing was changed. Go back, load the page again and send it once more.
failure-too-large = This form is too large
failure-too-large-text = Nothing was changed. Use the API for so much data.
failure-too-many = Too many tries
failure-too-many-text = { $seconds ->
    [one] Wrong keys came too often from your address. Try again in { $seconds } second.
   *[other] Wrong keys came too often from your address. Try again in { $seconds } seconds.
}
failure-request = The page can't be shown
failure-request-text = The service could not make it. Its log has the id of the request.
failure-sign-out = You are still signed in
failure-sign-out-text = The database can't be reached, so the other instances would not know. Try again in a moment, or close this browser.
failure-request-id = Request
failure-back = To the overview

## Forms
form-refused = Nothing was changed. Correct this:
action-effect = What this does
action-final = This can't be taken back.
action-reason = Reason
action-reason-hint = Kept in the audit trail, 1 to 500 characters.
action-cancel = Cancel
action-changes = Changes
action-what = Value
action-before = Now
action-after = After it
action-preview = Show what will change

## Words
status = Status
status-open = open
status-paused = paused
status-suspended = suspended
status-closed = closed
tier = Tier
pool = Pool
reserve = Reserve
overflow = Overflow
contributed = Contributed
funded = Funded
paid = Paid
wins = Wins
amount = Amount
jackpot = Jackpot
jackpots = Jackpots
meters = Meters

## Overview
overview = Overview
overview-ready = Ready
overview-not-ready = Not ready
overview-instance = This instance
overview-ledger = Ledger
overview-ledger-up = Reachable
overview-ledger-down = Away
overview-lag = Not in the ledger yet

## Jackpots
jackpots-none = There is no jackpot yet.
jackpot-version = Definition { $version }
pause = Pause
pause-title = Pause { $name }
pause-effect = The jackpot takes no new entry. Entries that were drawn are finished, and repeats are answered. Its pools stay as they are.
done-pause = The jackpot is paused.
resume = Resume
resume-title = Resume { $name }
resume-effect = The jackpot takes entries again.
done-resume = The jackpot is open.
close = Close
close-title = Close { $name }
close-effect = The jackpot never takes an entry again. Its pools stay, and its ledger can be read.
done-close = The jackpot is closed.

## Adjustments
adjust = Adjust
adjust-title = Adjust { $name }
adjust-about = Puts money in, takes it out, or moves it between the pool, the reserve and the overflow of a tier. No meter goes below zero.
adjust-from = From
adjust-to = To
side-outside = Outside
side-pool = Pool
side-reserve = Reserve
side-overflow = Overflow
adjust-amount-hint = In the unit of the currency, such as { $example }.
adjust-no-tier = Choose a tier of this jackpot.
adjust-no-side = Choose one of the sides.
adjust-same-side = Choose two different sides.
adjust-no-amount = Write an amount above 0 with at most { $digits } digits after the point.
adjust-effect-fund = { $amount } comes in from outside.
adjust-effect-withdraw = { $amount } goes out.
adjust-effect-move = { $amount } moves inside the jackpot.
adjust-moves-on = The jackpot goes on meanwhile: the values below are those of this moment.
adjust-do = Adjust
done-adjust = The adjustment is made.

## Sections and lists
nav-money = Money
nav-service = Service
nav-payouts = Payouts
nav-entries = Entries
nav-ledger = Ledger
nav-audit = Audit
nav-keys = Keys
nav-instances = Instances
nav-commands = Commands
filter-refused = These filters can't be used:
pages = Pages of this list
first-page = First page
list-no-fit = Nothing fits these filters. Remove some of them.
list-looked = Nothing among the rows looked at so far fits. The next page looks further.
list-more = And { $count } more.
download-csv = All as CSV
download-ndjson = All as NDJSON
as-json = As JSON
jackpot-id = Jackpot's id
coupon-id = Coupon's id
room-id = Room's id
player-id = Player's id
entry-id = Entry's id
from-utc = From, in UTC
to-utc = Before, in UTC
key-yes = Yes
key-no = No
n-agree = { $count } further values agree
failure-bound = This page is about the whole service
failure-bound-text = Your key is bound to some jackpots, coupons or rooms. Sign in with a key that is not.

## Payouts and receipts
payouts = Payouts
payout = Payout
payouts-none = There is no payout yet. One appears here within a second of a win.
paid-at = Paid
min-amount = At least, minor units
payout-player = Player
receipt = Receipt
receipt-title = Payout { $order } of { $jackpot }
minor-units = ({ $count } minor units)
claim-order = Order of the claim
pool-before = Pool before it
pool-after = Pool after it
currency = Currency
payout-id = Payout's id
event-id = Event's id
history = History
signature = Signature
signature-valid = The signature is valid.
signature-by-current = It was made with the key that signs now.
signature-by-earlier = It was made with an earlier key.
signature-wrong = The signature is not valid.
signature-unknown = The public keys could not be read, so the signature was not checked.
signature-key = Key
signature-keys = all public keys
signature-text = The signed text
signature-text-hint = The document without its signature, in the form of RFC 8785. The signature is Ed25519 over these bytes.

## Entries
entries = Entries
entry = Entry
entries-ask = Type a player's id to see the player's entries, newest first.
entries-none = This player has no entry here. Entries are listed for as long as the service indexes them.
entry-find = An entry by its id
entry-show = Show the entry
entry-title = Entry { $id }
sequence = Number
entered-at = Entered
stake-minor = Stake, minor units
outcome = Outcome
outcome-pending = not final yet
rank-n = rank { $rank }
rank = Rank
prize = Prize
won-none = nothing
won-pool = the pool
won-fixed = a fixed amount
won-coupon = a coupon
entry-coupon = Coupon
coupon-issue = Issue
entry-code = Code
code-hidden = Hidden from this key
contributions = Contributions
pool-then = Pool right after it
draw = Draw
draw-hint = Once the epoch is closed, its seed is published and anyone can repeat the draw.
attempt = Attempt
result = Result
drawn-paid = paid
drawn-issued = issued
drawn-none = nothing drawn
drawn-retry = pool below its minimum, drawn again
drawn-out-of-stock = coupon out of stock, drawn again
drawn-already-issued = player has the coupon already, drawn again
drawn-not-open = coupon not open, drawn again
epoch = Epoch
commitment = Commitment
draw-version = Drawn under

## Ledger
ledger = Ledger
ledger-pages = Pages of this ledger
ledger-find = Part of an id
ledger-id = Ledger's id
store-id = Store's id
reconciliation = Reconciliation
reconciliation-about = Redis beside the ledger, at the same event. What disagrees comes first. Lag alone is no mismatch.
reconciliation-none = Nothing was compared yet. Define a jackpot: it is compared within half a minute.
subject = What
kind-jackpot = Jackpot
kind-coupon = Coupon
kind-room = Room
verdict = Verdict
verdict-clean = agrees
verdict-mismatch = mismatch
verdict-stopped = ledger stopped
verdict-none = not compared yet
event = Event
at-event = at event { $event }
checked-at = Compared
lag = Lag
see-also = See also
tier-terms = Money of tier { $tier }
term = Term
term-opening = Opening
term-contributions = Contributions
term-contributions_micro = Contributions, millionths
term-funding = Funding
term-transfers_in = Transfers in
term-pool = Pool
term-reserve = Reserve
term-overflow = Overflow
term-remainder_micro = Remainder, millionths
term-paid = Paid
term-transfers_out = Transfers out
term-skipped = Skipped events
term-skipped_micro = Skipped events, millionths
differs = differs
identity-holds = The identity holds on both sides: what came in is what is there and what went out.
identity-broken = The identity does not hold: what came in is not what is there and what went out.
rest-of-state = Rest of the state
name = Name
refused-lost = Redis lost events
refused-ledger-stopped = The ledger can't go on
refused-suspended = Suspended
refused-backlog = Too many events wait for the ledger
refused-suspended-text = Redis and the ledger do not agree.
answer = What to do
answer-about = It takes nothing until both sides agree. Nobody is paid from a wrong pool.
answer-nothing = Nothing is to be done.
answer-soon = It is compared within half a minute.
answer-look = Look at what differs
answer-look-text = The tables above show each value of Redis beside the ledger's. Usually Redis is wrong: the ledger is the record.
answer-cause = Find the cause
answer-cause-text = Did somebody write to Redis by hand, put an old file of Redis back, or connect another Redis? Without the cause it happens again.
answer-cause-audit = What operators did
answer-stuck = Look at the event that can't be applied
answer-stuck-text = This names the event, why it can't be applied, and what skipping it would do. When the cause is gone, the ledger goes on by itself.
answer-skip-text = When the event itself is at fault, skip it: put its number for N.
answer-restore = Rebuild it in Redis from the ledger
answer-restore-text = When Redis is wrong, run this where the service runs, as its user and with its environment.
answer-resume = Resume
answer-resume-text = Resuming compares again, and opens only when both sides agree. It asks for your reason.
answer-opens = It opens by itself once both sides agree. This page shows it.
postings = Postings
postings-title = Postings of { $name }
postings-about = Double entry, oldest first. The lines of one event and tier sum to zero; a debit is positive.
postings-none = Nothing was booked in this time.
booked-at = Booked
account = Account
account-contributions = Contributions
account-pool = Pool
account-reserve = Reserve
account-overflow = Overflow
account-remainder = Remainder
account-payouts = Payouts
account-funding = Funding
account-skipped = Skipped events
millionths = Millionths
head = Signed head
head-title = Signed head of { $id }
head-about = The end of the chain of events, signed. Keep one: a history that somebody rewrites later no longer contains it.
hash = Hash
signed-at = Signed
export = Export the whole ledger

## Audit
audit = Audit
audit-none = No operator has done anything yet.
audit-at = Time
audit-who = Key
audit-action = Action
audit-any = Any
audit-target = Target
audit-change = Change
audit-new = new
audit-gone = removed
audit-whole = All of it
audit-no-reason = none given
audit-define = Define
audit-pause = Pause
audit-resume = Resume
audit-suspend = Suspend
audit-close = Close
audit-adjust = Adjust
audit-rotate = Rotate
audit-restore = Restore
audit-void = Void
audit-redrive = Redrive
audit-skip = Skip an event

## Keys
keys = API keys
keys-bound = Your key is bound, so you see it alone.
key-name = Name
key-name-hint = Shown in the audit trail.
key-name-taken = There is a key of this name. Choose another one, or revoke it first.
key-role = Role
key-role-wrong = Choose one of the roles.
role-play = play: entries, coupons, tickets; for back ends
role-read = read: everything can be looked at
role-operate = operate: everything can be done
key-only = Bound to
key-only-hint = One a line, such as jackpot:spring, coupon:coffee or room:lobby. Empty: all.
key-only-many = At most { $most }.
key-all = all
key-codes = Sees codes
key-codes-field = Let a read key see the codes of coupons
key-codes-read = Only for the role read: the others see codes anyway.
key-created = Created
key-expires = Expires
key-expires-hint = Such as 90d, 12h, or 2027-01-31T00:00:00Z. Empty: never.
key-never = never
key-over = expired
key-soon = ends soon
key-yours = yours
key-refused = There is no command yet. Correct this:
key-new = Make a key
key-new-about = A key is shown once, where the service runs, and kept nowhere. So a command makes it. This form writes the command.
key-command = Write the command
key-new-run = Run this where the service runs, as its user and with its environment:
key-new-live = The key appears in the table above within 2 seconds of it.
key-revoke = Revoke a key
key-revoke-about = Every instance refuses the key within 2 seconds, and ends its sessions and streams. To rotate a key, make the new one, move its users, then revoke the old one.
key-revoke-commands = Commands
signing-keys = Keys that sign
signing-keys-about = Public halves of the keys that sign receipts and heads:
signing-now = signs now
signing-rotate = This makes a new one. Signatures of earlier keys stay valid.

## Instances
instances = Instances
version = Version
instance-name = Name in the ledger
uptime = Running for
address = Address
workers = Worker threads
settings-file = Settings
size = Size
n-days = { $count ->
    [one] { $count } day
   *[other] { $count } days
}
n-hours = { $count ->
    [one] { $count } hour
   *[other] { $count } hours
}
n-minutes = { $count ->
    [one] { $count } minute
   *[other] { $count } minutes
}
n-seconds = { $count ->
    [one] { $count } second
   *[other] { $count } seconds
}
server = Server
redis-mode = Mode
redis-embedded = embedded: a private server of this instance
redis-standalone = standalone: one external server
redis-sentinel = sentinel: the primary that Sentinels name
redis-cluster = cluster
redis-role = Role
redis-primary = primary
redis-replica = replica
replicas = Replicas
durability = An answer is durable on
durability-local = the disk of the primary
durability-replicated = the disk of the primary, and one replica
memory = Memory
memory-of = { $percent } % of { $limit }
aof = Append-only file
aof-ok = written
aof-off = off
aof-failed = the last write failed
holders = Instances that write this ledger
holders-about = Each holds the streams that it reads by a lease, which it renews.
holders-none = No instance holds a lease now.
holder = Instance
holder-reads = Streams of
holder-until = Lease until
holder-gone = gone

## Commands
commands = Commands
commands-about = Some work needs the files of the service, or stops it. Run these commands where the service runs, as its user and with its environment.
commands-choose = Choose a jackpot to see its commands.
commands-show = Show its commands
commands-restored = Last restore
commands-never = never
commands-live = This follows while the page is open, also over a restart of the service.
commands-service = The whole service
command-stop = Stop the service first, run the command, and start the service again: its Redis or its database is for one process. Sessions go on after it.
command-beside = The service may go on running meanwhile.
command-export = Export
command-export-does = Writes the whole history of the jackpot to a file: events in their chain, receipts, published seeds, the signed head.
command-export-effect = Changes nothing. The service may run meanwhile.
command-verify = Verify an export
command-verify-does = Recomputes the chain, the books, every draw whose seed is published, and every receipt. It needs no service and no network.
command-verify-effect = Changes nothing. It says what holds and what does not, and exits with 1 for what does not.
command-reconcile = Compare with Redis
command-reconcile-does = Prints Redis beside the ledger, as the page Reconciliation shows it.
command-reconcile-effect = Changes nothing. Exits with 1 on a mismatch.
command-restore = Rebuild it in Redis
command-restore-does = Builds the jackpot in Redis anew from the ledger. It must be paused, suspended or closed.
command-restore-effect = Ends the open epoch, and opens a new one in a new history. The state above shows it. Then resume the jackpot.
command-restore-all = Rebuild what Redis has lost
command-restore-all-does = Rebuilds every jackpot, coupon and room that Redis has lost or holds in an older state.
command-restore-all-effect = The overview shows how many are still refused.
command-backup = Back up
command-backup-does = Copies the ledger, keys and secrets into a new directory, and reads the copy back. It has every entry acknowledged before.
command-backup-effect = Changes nothing. Play goes on meanwhile. The directory holds every secret: encrypt it before it leaves the machine.
command-verify-ledger = Verify the whole ledger
command-verify-ledger-does = Recomputes the chain and the books of everything in the database.
command-verify-ledger-effect = Changes nothing.
command-doctor = Look for trouble
command-doctor-does = Checks settings, files, Redis, the database and clocks, and says what to do.
command-doctor-effect = Changes nothing.
overview-mismatches = Mismatches
overview-refused = Refused here
overview-well = Nothing needs attention.
overview-key-ends = The key { $name } ends within two weeks.
overview-none-playable = No jackpot can be played here. Those that are refused:
overview-more = More
jackpots-all = All jackpots
