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
