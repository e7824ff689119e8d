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

## Defining a jackpot
yes = yes
no = no
none = none
nothing = —
form-amount = Write an amount with at most { $digits } digits after the point.
form-percent = Write a share from 0 to 100 percent with at most 4 digits after the point.
form-number = Write a whole number.
form-id = Use 1 to 64 letters, digits, points, _ or -, beginning with a letter or digit.
define = Change the definition
define-new-title = New jackpot
define-title = Define { $name }
define-do = Put this definition
done-define = The definition is put.
define-exists = A jackpot with this id exists. Choose another id.
define-changed = Someone else has changed this definition since you loaded it.
define-load-again = Load it again as it is now
define-effect-new = The jackpot is created and takes entries at once.
define-effect-waits = This touches money or odds of a jackpot that holds money. It waits for the next take of all of a pool, and comes into force with it. Until then the definition in force stays.
define-effect-empty = This touches money or odds. The jackpot is paused or empty, so it comes into force at once, unless a cap is below a pool.
define-effect-pending = This replaces the waiting definition.
define-effect-now = This touches neither money nor odds. It comes into force at once.
define-head = What it is
define-id = Id
define-name = Name
define-currency = Currency
define-contribution-kind = Each entry adds
define-contribution = Contribution
contribution-fixed = an amount
contribution-rate = percent of the stake
define-tiers = Tiers
define-tiers-hint = The pools. Their shares are percent of each contribution. A tier stays once it is defined.
define-tier = Tier { $number }
define-tier-name = Name of the tier
define-share = Share (%)
define-min-payout = Smallest payout
define-seed = Restarts at
define-reserve = To the reserve (%)
define-cap = Cap
define-add-tier = Add a tier
define-remove-tier = Remove tier { $number }
define-odds = Odds
define-odds-hint = Each draw is one of the tickets. A rank wins with its number of tickets, and the rest wins nothing. A take of all needs at least the smallest payout of its tier, or the entry draws again.
define-total = Tickets in all
define-redraws = Most redraws
define-rank = Prize { $number }
define-rank-number = Rank
define-weight = Tickets
define-prize = Prize
prize-all = all of a pool
prize-share = percent of a pool
prize-fixed = an amount from a pool
prize-coupon = a coupon
define-prize-tier = Of the tier
define-prize-value = Amount or percent
define-prize-coupon = Coupon id
define-add-rank = Add a prize
define-remove-rank = Remove prize { $number }
define-entries = Entries
define-min-stake = Smallest stake
define-min-stake-hint = Empty: 0, or 1 where the contribution is percent.
define-max-stake = Largest stake
define-max-stake-hint = Empty: no limit.
define-room = Waiting room
define-room-hint = Id of a room, or empty. Entries then need its pass.
define-public = What everybody may see
define-public-meter = Meter, rules and draws can be read without a key
define-winners = Winners
winners-masked = masked
winners-full = in full
winners-off = not shown
define-origins = Web origins
define-origins-hint = One a line, such as https://games.example. Their pages may read what is public.
part-fixed = { $amount } from each entry
part-rate = { $share } of the stake
part-rank = Rank { $rank }
part-chance = { $weight } in { $total }
part-all = all of { $tier }
part-share = { $share } of { $tier }
part-amount = { $amount } from { $tier }
part-coupon = the coupon { $coupon }

## One jackpot
jackpot-new = New jackpot
jackpot-definition = Definition
jackpot-waiting = A definition waits
jackpot-waiting-text = It comes into force with the next take of all. What it changes:
jackpot-history = Pool of { $tier }
jackpot-history-minute = minutes
jackpot-history-hour = hours
jackpot-history-day = days
jackpot-history-away = The history can't be read now: { $detail }
jackpot-winners = Last payouts
jackpot-winners-none = Nobody has won yet.
jackpot-epochs = Epochs
jackpot-epoch = Epoch
jackpot-opened = Opened
jackpot-closed = Closed
jackpot-commitment = Commitment
jackpot-seed = Seed
when = When
player = Player
rotate = Rotate the epoch
rotate-title = Rotate the epoch of { $name }
rotate-effect = The open epoch closes and the next one opens with a new commitment. The seed of the closed epoch is published once the ledger has its closing and no entry needs it. Entries keep their answers.
done-rotate = A new epoch is open.

## The guide
guide = First steps
guide-about = From nothing to a jackpot that pays, in three steps. Everything here is also one call of the API.
guide-define = Define a jackpot
guide-define-text = Begin with a template. You can change everything before it is created.
guide-single = One pool
guide-single-text = Every entry adds a cent. One in a million takes the whole pool.
guide-tiers = Four tiers
guide-tiers-text = Grand, major, minor and mini, from 1.5 percent of each stake, with reserves and seeds.
guide-queue = Coupons behind a waiting room
guide-queue-text = First come, first served: a coupon of limited stock, for those whom the room has let in.
guide-try = Try an entry
guide-try-text = What your game's back end does at each play.
guide-try-none = Define a jackpot first.
guide-try-do = Play one entry
guide-watch = Watch
guide-watch-text = Pools move on the overview, and every action is in the audit trail. Players see what you publish.
guide-played = Entry { $sequence }: { $outcome }
guide-played-nothing = no prize
guide-played-prize = { $amount } from { $tier }
guide-played-coupon = a coupon
guide-stake = Stake
guide-player-hint = Whom the game knows, such as player-7.
guide-queue-title = Coupons behind a waiting room
guide-queue-about = Makes a room, a coupon and a jackpot of one id. The back end asks the room for a pass, and plays with it until the stock ends.
guide-queue-id = Id of all three
guide-queue-stock = Stock
guide-queue-capacity = Users inside at once
guide-queue-effect = These come into being. What has this id already stays as it is, and you are told.
guide-queue-room = Room { $id }
guide-queue-coupon = Coupon { $id }
guide-queue-jackpot = Jackpot { $id }
guide-queue-do = Make all three
done-guide-queue = Room, coupon and jackpot are there.

## The page of a jackpot for players
public-missing = There is no such jackpot
public-missing-text = The address is wrong, or this jackpot is not shown to the public.
public-away = The jackpot can't be shown now
public-away-text = The service can't read it at the moment. This page loads itself again.
public-broken = The page can't be shown
public-broken-text = The service could not make it. Try again later.
public-status-open = Open
public-status-paused = Paused: no plays are taken now
public-status-suspended = Suspended: no plays are taken now
public-status-closed = Closed
public-pools = Pools
public-pool = Jackpot { $tier }
public-winners = Winners
public-winners-away = The list of winners can't be read now. Load the page again in a moment.
public-history = Pool of { $tier } over time
public-epochs = Seeds and commitments
public-epochs-about = Every draw comes from a secret seed. The commitment is the SHA-256 of that seed, and is shown from the moment the epoch opens. The seed is shown after the epoch has closed, so that everyone can recompute its draws.
public-epochs-away = The epochs can't be read now. Load the page again in a moment.
public-epoch = Epoch { $epoch }
public-epoch-open = open
public-epoch-closed = closed, seed not shown yet
public-epoch-published = seed shown
public-live = The numbers on this page change as they change in the game. Times are UTC.
public-all-epochs = All epochs
public-keys = Keys of receipts
public-docs = For developers

## The rules of a jackpot in words
rules = How it works
rules-fixed = Every play adds { $amount } to the pools.
rules-rate = Every play adds { $share } % of its stake to the pools.
rules-stakes = A play stakes from { $least } to { $most }.
rules-min-stake = A play stakes { $least } or more.
rules-order = Every play is drawn once. Players who win at the same moment are paid in the order that the service recorded: the first takes the prize from the pool, the next from what the pool then holds.
rules-redraws = { $count ->
    [0] A prize that can't be given is lost: there is no redraw.
    [one] A prize that can't be given is drawn again, once.
   *[other] A prize that can't be given is drawn again, up to { $count } times.
}
rules-share = { $share } % of what is added goes to this pool.
rules-reserve = { $share } % of that share is kept for the next start of the pool.
rules-min-payout = The pool, or a share of it, pays { $amount } or more. While it would pay less, the play draws again.
rules-cap = The pool grows to { $amount } at most. What comes beyond is kept for later.
rules-restart-empty = After the whole pool is won, it starts again with what was set aside, else empty.
rules-restart = After the whole pool is won, it starts again at { $amount }, as far as was set aside.
rules-prizes = Prizes and chances
rules-rank = Rank
rules-prize = Prize
rules-chance = Chance of each play
rules-one-in = 1 in { $times }
rules-never = never
rules-no-prizes = No prize can be drawn at the moment.
rules-prize-all = the whole pool { $tier }
rules-prize-share = { $share } % of the pool { $tier }
rules-prize-fixed = { $amount } from the pool { $tier }
rules-prize-coupon = the coupon { $coupon }
rules-check = You need not trust us. Recompute any draw:
rules-version = Definition { $version }

## The check of a draw
check-title = Check an entry
check-about = Your browser recomputes the draw of a play by its own code, from the published seed, and shows every step. Nothing you type is sent anywhere. If the page does not hold an epoch or a table of odds, it asks for that alone.
check-file-title = { $name }: check a draw
check-file-about = This file recomputes draws without a connection. It holds the epochs and odds of the moment when you saved it.
check-download = Download the check as a file
check-download-about = It works without a connection, and in any browser.
check-no-script = The check runs in your browser, so it needs JavaScript.
check-insecure = This browser computes hashes only on pages that came over https, or from a file. Download the check as a file, and open that.
check-entry = Entry id
check-entry-hint = As the game shows it, such as round-8812-p7. An entry of a batch ends with a colon and its number.
check-client-seed = Your own seed
check-client-seed-hint = The client seed that you gave. Empty if you gave none.
check-epoch = Epoch
check-epoch-hint = The number that came with the outcome.
check-version = Definition
check-version-hint = The version that came with the outcome. Here is the one of now.
check-told = What the game said
check-told-hint = The final outcome, to compare.
check-told-none = I do not compare
check-stake = Stake
check-stake-hint = In minor units: these odds grow with the stake.
check-by-hand = Numbers of an epoch that this page does not hold
check-seed = Seed
check-seed-hint = 64 hexadecimal digits.
check-commitment = Commitment
check-commitment-hint = 64 hexadecimal digits, as you noted them before the draw.
check-do = Check
check-how = How a draw is made
check-how-1 = The seed of an epoch is 32 random bytes. Its SHA-256, the commitment, is public before the first draw, so nobody can choose another seed later.
check-how-2 = The message of an attempt is draw, the jackpot, the entry, the number of the attempt and of the block, one a line; then your own seed, if you gave one. It is signed with the seed by HMAC-SHA256.
check-how-3 = The 32 bytes are four numbers of 64 bits. A number that would favour small tickets is passed over. The remainder of the first that is left, divided by the number of tickets, is the ticket.
check-how-4 = The ranks share the tickets in ascending order. The rank whose range holds the ticket is drawn, or nothing.
check-how-5 = A prize that can't be given is refused, and the next attempt is drawn. A rank that refused the entry once refuses it again.
check-nothing = no prize
check-prize = Rank { $rank }: { $prize }
check-rank = Rank { $rank }
check-steps = Step by step
check-seed-step = The seed of epoch { $epoch }
check-seed-about = The SHA-256 of the seed must be the commitment that was public before the draw.
check-hash = Its SHA-256
check-seed-same = They are the same: the seed was fixed before the draw.
check-seed-other = They differ: this is not the seed of the commitment.
check-draw-step = The draw
check-redraw-step = Redraw { $attempt }
check-draw-about = The message is signed with the seed. The first number that is not passed over gives the ticket.
check-message = Message
check-hmac = HMAC-SHA256
check-rejected = Numbers passed over
check-word = Number
check-bound = Passed over from
check-ticket = Ticket
check-in-range = Ticket { $ticket } is in the range { $from } to { $to }. { $prize }
check-in-none = Ticket { $ticket } is in no range: no prize.
check-redraws = If that prize was refused, redraws: { $count }
check-draws = The seed draws this. { $prize }
check-draws-nothing = The seed draws no prize.
check-right = The outcome is right: the first draw gives it.
check-redrawn = The outcome is right if these ranks were refused before it: { $refused }. The answer to the entry lists every refusal.
check-spent = The outcome is right if every draw was refused. The ranks that were drawn: { $refused }. The answer to the entry lists every refusal.
check-wrong = This outcome can't come from this seed, entry, definition and client seed. Compare the numbers with what the game showed. If they are right, keep them and ask the operator.
check-forged = The seed is not the one of the commitment, so it proves nothing.
check-no-epoch = This page does not hold that epoch, and the service does not know it. Check the number, or write seed and commitment below.
check-no-definition = This page does not hold that definition, and the service does not know it. Check the number.
check-unpublished = The seed of epoch { $epoch } is still secret, because the epoch is open. It opened at { $opened } and is expected to close after { $expected }. The seed is shown soon after that. Its commitment is already public.
check-unpublished-closed = Epoch { $epoch } closed at { $at }. Its seed is shown once the ledger has the closing and every play of the epoch has its outcome. Try again in a minute.
check-unpublished-typed = Write the seed too: without it there is nothing to recompute.

## The ticker for other sites
embed-title = { $name } on your site
embed-about = The ticker shows a live pool on any page. This is how it looks:
embed-how = How to show it
embed-step-origins = Name the origin of your site in the definition of the jackpot. Only the sites in that list can read the pool.
embed-step-script = Load the script once.
embed-step-tag = Put the ticker where the amount belongs.
embed-page = The page for players
