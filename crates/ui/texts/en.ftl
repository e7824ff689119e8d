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
reverse = Reverse
reverse-title = Reverse entry { $id }
reverse-effect = The round was cancelled: each tier gives the exact contribution of the entry back, to the millionth.
reverse-uncovered = What a tier does not hold any more, because it was won since, counts as funded.
reverse-do = Reverse the entry
reversed = Reversed
done-reverse = The entry is reversed.
transfer = Transfer
transfer-title = Transfer the money of { $name }
transfer-about = Moves all money of tiers to another jackpot of the same currency: pool, reserve and overflow, to the millionth.
transfer-open = Only a paused or closed jackpot without pending entries gives its money. Pause or close it first.
transfer-to = To jackpot
transfer-to-hint = Its id. It must take { $currency } and must not be closed.
transfer-tier = { $tier } goes to tier
transfer-tier-hint = Leave it empty to keep the money where it is.
transfer-same = Name another jackpot.
transfer-other-currency = That jackpot takes { $currency }.
transfer-no-tier = { $to } has no tier { $tier }.
transfer-no-tiers = Name a tier of the other jackpot for at least one tier.
transfer-effect = Each tier gives all that it holds to { $to }.
transfer-limits = What is beyond a cap there, or beyond the low of an open must-hit cycle, goes into the overflow.
transfer-cycles = Open must-hit cycles of the tiers that give end without a winner.
transfer-all = all money
transfer-do = Transfer the money
done-transfer = The money is given. The list shows when the other jackpot has received it.
transfers = Transfers
transfers-title = Transfers of { $name }
transfers-none = This jackpot has given nothing to another one.
transfer-id = Transfer
transfer-state = State
transfer-state-in-transit = in transit
transfer-state-done = received

## Definitions of coupons and rooms
definition = Definition
change = Change
field-id = Id
field-id-hint = 1 to 64 letters, digits, points, hyphens or underscores. It can't be changed later.
field-id-wrong = Write 1 to 64 letters, digits, points, hyphens or underscores, beginning with a letter or digit.
field-id-taken = This id is taken. Choose another one, or change that definition.
value-none = none
value-unknown = not known yet
nothing-changes = These are the values of now. Change one of them.
changed-meanwhile = Someone changed it meanwhile. The values of now are below: look again, then confirm.
action = Action

## Coupons
nav-coupons = Coupons
coupons = Coupons
coupon = Coupon
coupons-none = There is no coupon yet. Define one: a name and a stock are enough.
coupon-new = Define a coupon
coupon-new-title = Define a coupon { $name }
coupon-new-about = Limited stock, first come, first served. Times are in UTC.
coupon-new-effect = Players can get units as soon as it has started. Its id is used up for ever.
coupon-new-do = Define
done-coupon-new = The coupon is defined.
coupon-change-title = Change { $name }
coupon-change-about = Times are in UTC.
coupon-change-effect = The new definition counts at once, for requests in the queue too. Units that were issued stay as they are.
coupon-change-do = Change
done-coupon-change = The coupon is changed.
coupon-name = Name
coupon-stock = Stock
coupon-stock-hint = Units that can be out at once. Never below those that are out.
coupon-per-user = Units per user
coupon-per-user-window-s = Window in seconds
coupon-per-user-window-s-hint = How long a unit counts for its user. Empty: for ever.
coupon-starts-at = Starts
coupon-starts-at-hint = UTC. Empty: at once.
coupon-ends-at = Ends
coupon-ends-at-hint = UTC. Empty: never.
coupon-issued = Issued
coupon-voided = Voided
coupon-remaining = Remaining
coupon-queued = In the queue
coupon-dead = Dead letters
coupon-time = Time
coupon-from = from
coupon-until = until
coupon-always = always
coupon-out = { $out } of { $stock } units are out
coupon-pages = Pages of this coupon
coupon-tab-numbers = Overview
coupon-tab-issues = Issues
coupon-tab-dead-letters = Dead letters
coupon-tab-bulk = Bulk issue
status-ended = ended
coupon-pause-effect = The coupon takes no new request. Those in its queue wait, and repeats are answered. A draw that wins it draws again.
coupon-resume-effect = The coupon takes requests again, and serves its queue.
coupon-close-effect = The coupon never gives a unit again. Requests in its queue are refused. Units that were issued stay issued.
done-coupon-pause = The coupon is paused.
done-coupon-resume = The coupon is open.
done-coupon-close = The coupon is closed.

## Issues of a coupon
issues-title = Issues of { $name }
issues-about = In the order in which they were issued, from the ledger. The last moments may be missing.
issues-none = No unit has been issued yet.
issue-search = Request id
issue-find = Find
issue-none = The coupon has no request of this id.
issue-title = Request { $id }
issue-sequence = Number
issue-request = Request
issue-user = User
issue-metadata = Texts of the client
issue-code = Code
issue-issued-at = Issued
issue-voided-at = Voided
issue-redeemed-at = Redeemed
issue-redemption = Redemption
issue-reference = Reference
issue-decided-at = Decided
issue-result = Result
issue-position = Place in the queue
issue-queued-at = In the queue since
issue-attempts = Tries
issue-first = Its user has
result-issued = issued
result-voided = voided
result-already-issued = the user has one
result-out-of-stock = out of stock
result-not-open = not open
result-coupon-closed = the coupon was closed
result-queued = in the queue
result-dead = dead letter
result-refused = refused
void = Void
void-title = Void request { $id }
void-effect = Unit { $sequence } of user { $user } returns to the stock. The user can get another one with a new request. The number is never used again.
done-void = The unit is voided.

## Dead letters
dead-title = Dead letters of { $name }
dead-about = Requests that the queue took three times without being able to serve them. The log of the service has the cause of each try, by the id of the request. Find it before you put them back.
dead-none = There is no dead letter.
dead-arrival = Arrival
dead-why = Why
dead-tries = { $count ->
    [one] Taken { $count } time without an answer
   *[other] Taken { $count } times without an answer
}
dead-unreadable = Its record can't be read
redrive = Redrive
redrive-all = Redrive all shown
redrive-title = { $count ->
    [one] Redrive { $count } request of { $name }
   *[other] Redrive { $count } requests of { $name }
}
redrive-effect = Each returns to its old place in the queue, with no tries counted. Requests that were served meanwhile stay served.
done-redrive = The requests are in the queue again.

## Bulk issue
bulk-title = Bulk issue of { $name }
bulk-effect = { $remaining ->
    [one] Each line of the file is a request for a unit, in order, until the stock is out: { $remaining } unit remains.
   *[other] Each line of the file is a request for a unit, in order, until the stock is out: { $remaining } units remain.
}
bulk-again = Sending the same file again is safe: what was decided gets the same answer.
bulk-format = A line is one JSON object:
bulk-list = File
bulk-no-list = Choose a file with at least one line.
bulk-do = Issue the units
bulk-progress = Progress
bulk-sent = Sent
bulk-broken = The connection broke. Send the same file again: what was decided gets the same answer.
bulk-decided = { $lines ->
    [one] { $lines } line decided, { $issued } issued now.
   *[other] { $lines } lines decided, { $issued } issued now.
}
bulk-before = issued before
bulk-result = Result
bulk-stopped = Line { $line } and those after it were not read. Send the same file again.
bulk-without = Lines without a unit
bulk-first = The first { $shown } of { $count }.
bulk-line = Line
bulk-another = Send another file

## Rooms
nav-rooms = Rooms
rooms = Rooms
room = Room
rooms-none = There is no waiting room yet. Define one, then name it in the definition of a jackpot.
room-new = Define a room
room-new-title = Define a room { $name }
room-new-about = A room admits so many users at once; the others wait in the order in which they came. Times are in UTC.
room-new-do = Define
done-room-new = The room is defined.
room-change-title = Change { $name }
room-change-about = Times are in UTC.
room-change-do = Change
done-room-change = The room is changed.
room-throttle = Throttle
room-throttle-title = Throttle { $name }
room-throttle-about = How many users are in, and how fast they come in. Nobody who is in loses the place.
room-throttle-do = Throttle
done-room-throttle = The room has its new capacity and rate.
room-name = Name
room-name-hint = Shown on the waiting page. Empty: none.
room-capacity = Capacity
room-capacity-hint = Sessions at once. 0 admits nobody.
room-admissions-per-minute = Admissions per minute
room-admissions-per-minute-hint = In any 60 s. Empty: no limit but the capacity.
room-session-s = Session in seconds
room-waiting-timeout-s = Waiting timeout in seconds
room-waiting-timeout-s-hint = How long the place of a silent user is kept.
room-opens-at = Opens
room-opens-at-hint = UTC. Who joins before gets a place by lot. Empty: it is open.
room-back = Link back
room-back-hint = An https address on the waiting page. Empty: none.
room-return-origins = Sites that users return to
room-return-origins-hint = A line each, such as https://shop.example.
room-effect-at-once = The definition counts at once.
room-effect-shut = Nobody is admitted. Sessions that have begun go on, and whoever waits keeps the place.
room-effect-capacity = { $capacity ->
    [one] At most { $capacity } user is in at once.
   *[other] At most { $capacity } users are in at once.
}
room-effect-over = { $active ->
    [one] The { $active } user who is in stays. Nobody is admitted until that session has ended.
   *[other] The { $active } users who are in stay. Nobody is admitted until enough sessions have ended.
}
room-effect-rate = { $rate ->
    [one] The room admits at most { $rate } user in any 60 s.
   *[other] The room admits at most { $rate } users in any 60 s.
}
room-effect-no-rate = The capacity alone limits how fast users come in.
room-effect-wait = At this rate the last of the { $waiting } users who wait now waits at least { $minutes ->
    [one] { $minutes } minute.
   *[other] { $minutes } minutes.
}
room-effect-opens = Nobody is admitted before the opening. Whoever joins before it gets a place by lot, under a new commitment.
room-inside = Inside
room-waiting = Waiting
room-rate = Admissions per minute
room-no-rate = no limit
room-eta = Wait for a new user
room-mean-wait = Mean wait
room-admitted = Admitted
room-expired = Expired
room-abandoned = Abandoned
room-left = Left
room-seconds = { $value } s
room-filled = { $active } of { $capacity } places are taken
room-held = Nobody is admitted for now, because passes from before a loss of Redis may be in use. Until
status-collecting = not open yet
status-holding = holding
order = Order before the opening
order-about = Users who join before the opening are ordered by a secret seed. The commitment is its SHA-256: publish it now, so that anybody can check the order later.
order-nonce = Nonce
order-commitment = Commitment
order-seed = Seed
order-no-seed = shown after the opening
order-joined = Joined before it
order-hash = SHA-256 of the list
order-file = The list
order-check = Check it offline:
room-link = Link for a user
link-title = Link to the waiting page of { $name }
link-about = Opens the waiting page for one user. The user joins when the link is opened, within minutes. Back ends make these links by the API.
link-user = User
link-return-to = Address to return to
link-do = Make the link
link-made = The link is made. It can be opened until
link-no-origins = The room sends users nowhere yet. List the sites that users return to.

## The waiting page of a room
wait-title = Place { $place } in the line
wait-moves = You are in the line
wait-early-title = Not open yet
wait-early = The room is not open yet
wait-early-place = drawn by lot
wait-early-time = { $time } until the opening
wait-early-note = It opens on { $date }. Everybody who is here before has the same chance of a place at the front.
wait-held = The line stands still for a while
wait-held-time = { $time } at least
wait-stands = The line stands still
wait-kept = Nobody is let in for now. Your place is kept.
wait-place = Your place in the line
wait-time = Estimated time
wait-open = Keep this page open: it goes on by itself when it is your turn. Closed, it loses your place after a while.
wait-leave = Leave the line
wait-back = Back to { $site }
wait-soon = less than a minute
wait-minutes = { $count ->
    [one] about { $count } minute
   *[other] about { $count } minutes
}
wait-hours = { $count ->
    [one] about { $count } hour
   *[other] about { $count } hours
}
wait-days = { $count ->
    [one] about { $count } day
   *[other] about { $count } days
}
# A pattern of strftime.
wait-date = %-d %B %Y at %H:%M UTC
wait-bad-link = This link is not valid
wait-bad-link-text = It is incomplete, or was made for something else. Go back to where it came from.
wait-link-expired = This link has expired
wait-link-expired-text = It opens the line for a few minutes only. Go back to get a new one.
wait-link-used = This link has been used
wait-link-used-text = You have joined the line with it, and your visit is over. Go back to get a new one.
wait-too-often = You have left the line too often
wait-too-often-text = You can join again in less than a minute. This page tries again by itself.
wait-not-sent = This link leads to a site that is not known here
wait-not-sent-text = Nobody is sent there from this line. Go back to where you came from.
wait-no-room = There is no such room
wait-no-room-text = The line that you want to join is not there. Go back to where you came from.
wait-forgotten = Your visit is over
wait-forgotten-text = Your place is no longer known here. To come in, go back and join the line again.
wait-expired = Your time is up
wait-expired-text = Your time in the room has ended. To come in once more, go back and join the line again.
wait-abandoned = Your place was given up
wait-abandoned-text = This page was closed or offline for too long. To come in, go back and join the line again, at its end.
wait-left = You have left the line
wait-left-text = Your place is free for others. To come in, go back and join the line again.
wait-closed = Nobody can join for now
wait-closed-text = This page tries again by itself.
wait-unavailable = The line can't be reached for now
wait-unavailable-text = If you had a place, it is kept for a while. This page tries again by itself.

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
define-must-hit = Must be hit
define-must-hit-hint = A pool that must be hit: above an amount, or within a time, or by a time of day. Empty: no such rule. A change counts from the next cycle.
define-must-hit-low = Must be hit: no earlier than at
define-must-hit-high = Must be hit: at the latest at
define-must-hit-after = Must be hit: after (seconds)
define-must-hit-within = Must be hit: within (seconds)
define-must-hit-at = Must be hit: by this time of day
define-must-hit-zone = Must be hit: time zone
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
define-max-stake-hint = Empty: no limit. Odds that grow with the stake need it.
define-sources = Sources
define-sources-hint = Games, sites or channels that feed this jackpot. With any, every entry must name one. Without: any may be named, and is only recorded.
define-add-source = Add a source
define-remove-source = Remove source { $number }
define-source = Source { $number }
define-source-draw = Who draws its entries
define-source-keys = Keys that may send its entries, one a line
define-source-twice = This source is there twice.
source-id = Source
source-contribution-jackpot = as the jackpot
source-contribution-fixed = a fixed amount
source-contribution-rate = percent of the stake
source-draw-service = this service
source-draw-external = the game itself
source-keys-all = every key
part-source = Source { $source }
define-per-stake = Stake that counts the tickets once
define-per-stake-hint = Empty: the stake has no effect on the odds.
define-room = Waiting room
define-room-hint = Id of a room, or empty. Entries then need its pass.
define-reverse-within = Seconds in which a round can be cancelled
define-public = What everybody may see
define-public-meter = Meter, rules and draws can be read without a key
define-winners = Winners
winners-masked = masked
winners-full = in full
winners-off = not shown
define-settlements = Settlement
define-settlement = Payouts
settlement-none = paid at once
settlement-tracked = tracked until settled
define-approval-above = Approval from
define-approval-above-hint = Tracked payouts of this amount or more wait for an approval. To raise or remove it needs an approval too.
define-origins = Web origins
define-origins-hint = One a line, such as https://games.example. Their pages may read what is public.
part-fixed = { $amount } from each entry
part-rate = { $share } of the stake
part-rank = Rank { $rank }
part-chance = { $weight } in { $total }
part-all = all of { $tier }
part-share = { $share } of { $tier }
part-amount = { $amount } from { $tier }
part-must-hit-amount = above { $low }, at most at { $high }
part-must-hit-time = after { $after } s, within { $within } s
part-must-hit-daily = by { $at } ({ $zone })
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
jackpot-cycle = Cycle
jackpot-cycle-by = Ended by
cycle-trigger = Hidden amount or second
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

## Sections and lists
nav-money = Money
nav-service = Service
nav-payouts = Payouts
nav-entries = Entries
nav-ledger = Ledger
nav-reports = Daily reports
nav-subscriptions = Subscriptions
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

## Subscriptions
subscriptions = Subscriptions
subscriptions-about = Every event of the ledger goes to the webhooks and topics of these subscriptions, in order within a subject.
subscriptions-none = There is no subscription. Nothing is sent to other systems.
subscription = Subscription
subscription-new = New subscription
subscription-change-title = Change { $name }
subscription-put = Save the subscription
done-subscription-new = The subscription is made. Send a test event to see whether its target answers.
done-subscription-change = The subscription is changed.
subscription-state = State
subscription-state-running = running
subscription-state-retrying = retrying
subscription-state-paused = paused
subscription-state-disabled = disabled
subscription-alarm = alarm
subscription-alarm-about = An event has failed for 24 hours. The events of its subject wait behind it: mend the target, or skip that event.
subscription-disabled-about = The target answered 410 Gone. Nothing is sent until the subscription is resumed.
subscription-target = Target
subscription-webhook = Webhook
subscription-kafka = Kafka
subscription-nats = NATS
subscription-url = URL of the webhook
subscription-url-hint = For a webhook: https, with a public address.
subscription-connection = Connection
subscription-connection-hint = For Kafka and NATS: a name of the settings, in events.connections.
subscription-topic = Topic or subject
subscription-topic-hint = For Kafka the topic, for NATS the subject that a stream keeps.
subscription-types = Types of events
subscription-types-hint = A line each, such as payout.created; payout.* for all that begin so; * for every one.
subscription-subjects = Subjects
subscription-subjects-hint = A line each, such as jackpot:spring, or * for all.
subscription-from = Begins
subscription-from-hint = Counts for subjects that the subscription does not have yet.
subscription-from-now = with what happens from now on
subscription-from-beginning = with the first event
subscription-effect-delivers = Each event is sent until its target takes it.
subscription-effect-from-now = What happened before is not sent.
subscription-effect-from-beginning = Everything that the ledger has of these subjects is sent, which may take a while.
subscription-effect-keeps = What was delivered is not sent again, also with another target.
subscription-verification-key = Verification key
subscription-no-key = none: the draw secret that it is derived from is not configured
subscription-streams = Subjects and how far they are
subscription-streams-none = The ledger has none of its subjects yet.
subscription-subject = Subject
subscription-delivered-n = Delivered up to event
subscription-next-n = next event
subscription-lag = Lag in events
subscription-last-error = Last error
subscription-next-try-at = Next try
subscription-test = Send a test event
subscription-test-answered = The target took the test event: { $status }.
subscription-test-taken = The broker took the test event.
subscription-test-failed = The test event was not delivered: { $error }
subscription-step-missing = Fill this in.
subscription-pause = Pause
subscription-pause-title = Pause { $name }
subscription-pause-effect = Nothing is sent until a resume. What happens meanwhile is sent then.
done-subscription-pause = The subscription is paused.
subscription-resume = Resume
subscription-try-now = Try again now
subscription-resume-title = Resume { $name }
subscription-resume-effect = Events are sent from where each subject is. What failed is tried again at once.
done-subscription-resume = The subscription is running.
subscription-delete = Delete
subscription-delete-title = Delete { $name }
subscription-delete-effect = Nothing more is sent, and what was delivered is forgotten. One of the same id later is another one with another key.
done-subscription-delete = The subscription is deleted.
subscription-replay = Replay
subscription-replay-title = Replay events of { $name }
subscription-replay-field = From event
subscription-replay-hint = Its number in the ledger, from 1, up to the next one that is sent.
subscription-replay-effect = The events from there on are sent again with their ids. A receiver that knows an id passes it.
done-subscription-replay = The events are sent again.
subscription-skip = Skip
subscription-skip-title = Skip an event of { $name }
subscription-skip-field = Id of the event
subscription-skip-hint = Of the one that fails, such as jackpot:spring:0:812:0. Another id is refused, with the right one.
subscription-skip-effect = The event { $event } is not delivered. The events after it are.
done-subscription-skip = The event is skipped.

## Payouts and receipts
payouts = Payouts
payout = Payout
payouts-none = There is no payout yet. One appears here within a second of a win.
paid-at = Paid
min-amount = At least, minor units
payout-player = Player
payout-state = State
payout-state-paid = paid
payout-state-held = held
payout-state-due = due
payout-state-settled = settled
payout-state-failed = failed
payout-state-void-requested = void requested
payout-state-void = void
payout-approved-by = Approved by
payout-settlement = Last settlement
payout-voided-at = Voided
payout-approve = Approve
payout-settle = Settle
payout-fail = Report a failure
payout-void = Void
payout-reference = Reference of the payment
payout-reference-hint = For example the bank's number, 1 to 500 characters.
payout-reference-missing = Say how the winner was paid.
payout-settlement-id = Settlement id
payout-settlement-id-hint = A jackpot uses an id once. Keep the one that is there, or use that of your payment.
payout-effect-due = The payout of { $amount } to { $player } can be settled by somebody else than you.
payout-effect-settled = { $player } has the { $amount }. The payout is not settled again and not voided.
payout-effect-failed = The attempt to pay { $amount } to { $player } failed. The payout can be settled later.
payout-effect-void-requested = You ask to take { $amount } back from { $player }. It is neither approved nor settled any more; a second person voids it.
payout-effect-void = { $amount } of { $player } go into the overflow of the tier, and a signed void receipt is made.
done-payout-approve = The payout is approved.
done-payout-settled = The payout is settled.
done-payout-failed = The failure is recorded.
done-payout-void-requested = The void is asked for. A second person has to do it.
done-payout-void = The payout is void.
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
won-must-hit = a must-hit
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
kind-subscription = Subscriptions
kind-intake = Messages of
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
term-voided = Voided
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
account-voids = Voids
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
audit-reverse = Reverse an entry
audit-transfer = Transfer
audit-rotate = Rotate
audit-restore = Restore
audit-approve = Approve a payout
audit-settle = Settle a payout
audit-fail = Report a failed settlement
audit-void-request = Ask to void a payout
audit-void = Void
audit-approve-limit = Approve a limit
audit-redrive = Redrive
audit-bulk-issue = Issue to a list
audit-skip = Skip an event
audit-delete = Delete a subscription
audit-replay = Deliver events again
audit-emergency-stop = Emergency stop
audit-emergency-start = End of the emergency stop

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
role-operate = operate: everything but approvals can be done
role-approve = approve: held payouts can be approved, and nothing else
key-only = Bound to
key-only-hint = One a line, such as jackpot:spring, coupon:coffee or room:lobby. Empty: all.
key-only-many = At most { $most }.
key-all = all
key-codes = Sees codes
key-codes-field = Let a read key see the codes of coupons
key-codes-read = Only for the role read: the others see codes anyway.
key-created = Created
key-owner = Owner
key-owner-hint = Who holds it: approvals and voids need keys of two owners. Empty: the key's name.
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
holders-about = Each holds what it reads or delivers by leases, which it renews.
holders-none = No instance holds a lease now.
holder = Instance
holder-holds = Holds
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

## The emergency stop
emergency = Emergency stop
emergency-taking = takes requests
emergency-stopped = stopped
emergency-since = Everything is stopped since { $since }: { $reason }
emergency-reason = Everything is stopped: { $reason }
emergency-ended = The last emergency stop ended at { $since }: { $reason }
emergency-unreached = { $count ->
    [one] One does not obey yet
   *[other] { $count } do not obey yet
  }: { $names }. The service goes on trying.
emergency-stop = Stop everything
emergency-stop-effect = No jackpot, coupon or room takes a new entry, batch, issue or ticket, and new ones begin stopped. What was drawn is finished, repeats are answered, and operators can work. Players read the reason.
emergency-start = End the emergency stop
emergency-start-effect = All take requests again, unless they are paused, suspended or closed of their own.
done-emergency-stop = Everything is stopped.
done-emergency-start = The emergency stop has ended.
done-emergency-unreached = Decided. Some do not obey yet; the service goes on trying.
overview-stopped = Stopped
overview-not-stopped = Off
overview-stopped-since = Everything is stopped since { $since }.
overview-unreached = { $count ->
    [one] One does not obey yet.
   *[other] { $count } do not obey yet.
  }

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
public-status-stopped = Stopped: no plays are taken now
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
public-cycles = Cycles
public-cycles-about = A pool that must be hit has a hidden amount or second in each cycle: from its start until it is won. It comes from a secret seed. The commitment is the SHA-256 of that seed, and is shown from the start of the cycle. The seed is shown after the cycle has ended.
public-cycle = { $tier }, cycle { $cycle }
public-cycle-open = open
public-cycle-must-hit = hit by its rule
public-cycle-take = won by a draw
public-cycle-close = ended with the jackpot, without a winner
public-cycle-restart = started again without a winner
cycle-began = Began
cycle-ended = Ended
cycle-amount = Hidden amount above – up to
cycle-deadline = Hidden second up to
cycle-trigger-amount = Hidden amount
cycle-trigger-at = Hidden second
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
rules-return-pool = Of each stake, { $share } % goes to the pools, which pay all prizes of money.
rules-return-fixed = Fixed amounts give { $share } % of each stake back on average. The pools pay them.
rules-order = Every play is drawn once. Players who win at the same moment are paid in the order that the service recorded: the first takes the prize from the pool, the next from what the pool then holds.
rules-redraws = { $count ->
    [0] A prize that can't be given is lost: there is no redraw.
    [one] A prize that can't be given is drawn again, once.
   *[other] A prize that can't be given is drawn again, up to { $count } times.
}
rules-reverse = { $count ->
    [one] A game can cancel a round that won no prize within one second. The pools then give back what it added.
   *[other] A game can cancel a round that won no prize within { $count } seconds. The pools then give back what it added.
}
rules-share = { $share } % of what is added goes to this pool.
rules-reserve = { $share } % of that share is kept for the next start of the pool.
rules-min-payout = The pool, or a share of it, pays { $amount } or more. While it would pay less, the play draws again.
rules-cap = The pool grows to { $amount } at most. What comes beyond is kept for later.
rules-restart-empty = After the whole pool is won, it starts again with what was set aside, else empty.
rules-restart = After the whole pool is won, it starts again at { $amount }, as far as was set aside.
rules-must-of = Pool { $tier }: { $rule }
rules-must-amount = It must be hit before it is above { $high }. A hidden amount above { $low } and up to { $high } is fixed when it starts, and the play that brings it there wins it whole.
rules-must-time = It must be hit within { $within } of its start. A hidden second is fixed then, and the first play from that second on wins it whole.
rules-must-time-after = It must be hit within { $within } of its start, and not within the first { $after }. A hidden second is fixed then, and the first play from that second on wins it whole.
rules-must-daily = It must be hit each day before { $at } ({ $zone }). A hidden second is fixed when it starts, and the first play from that second on wins it whole.
rules-must-first = Whichever of these is reached first counts.
rules-must-min = While it holds less than { $amount }, it is not hit.
rules-must-undrawn = A play that hits a pool by its rule is not drawn, and hits that pool alone. What is said of the return on average counts it as drawn.
rules-must-fairness = What is hidden can be checked too: { $seeds } has a commitment from the start of each cycle and its seed once it has ended; { $check } recomputes the hidden amount or second from it.
rules-prizes = Prizes and chances
rules-rank = Rank
rules-prize = Prize
rules-per-stake = The chances below are for a stake of { $amount }. Each further { $amount } adds the same chance again.
rules-chance = Chance of each play
rules-one-in = 1 in { $times }
rules-never = never
rules-no-prizes = No prize can be drawn at the moment.
rules-prize-all = the whole pool { $tier }
rules-prize-share = { $share } % of the pool { $tier }
rules-prize-fixed = { $amount } from the pool { $tier }
rules-prize-coupon = the coupon { $coupon }
rules-fairness = You need not trust us. Every draw can be recomputed: { $seeds } has the commitments and, once an epoch has ended, its seed; { $check } draws any entry again.
rules-external = Some games of this jackpot draw their own plays. Those draws are not of this service: no seed explains them.
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
check-external = A play that its game drew itself, and not this service (the game says *external*), has no draw here: no seed explains it.
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
check-right = An entry with this id has this outcome: the first draw gives it. This page was not told whether the entry was taken. The answer that the game got shows that.
check-redrawn = An entry with this id has this outcome if these ranks were refused before it: { $refused }. This page was not told whether the entry was taken, or what was refused. The answer that the game got lists every refusal.
check-spent = An entry with this id has this outcome if every draw was refused. The ranks that were drawn: { $refused }. This page was not told whether the entry was taken, or what was refused. The answer that the game got lists every refusal.
check-wrong = This outcome can't come from this seed, entry, definition and client seed. Compare the numbers with what the game showed. If they are right, keep them and ask the operator.
check-forged = The seed is not the one of the commitment, so it proves nothing.
check-no-epoch = This page does not hold that epoch, and the service does not know it. Check the number, or write seed and commitment below.
check-no-definition = This page does not hold that definition, and the service does not know it. Check the number.
check-unpublished = The seed of epoch { $epoch } is still secret, because the epoch is open. It opened at { $opened } and is expected to close after { $expected }. The seed is shown soon after that. Its commitment is already public.
check-unpublished-closed = Epoch { $epoch } closed at { $at }. Its seed is shown once the ledger has the closing and every play of the epoch has its outcome. Try again in a minute.
check-cycle-title = Check a cycle
check-cycle-hint-form = A play that hit a pool by its rule was not drawn. Recompute the hidden amount or second of its cycle here.
check-cycle = Cycle
check-cycle-hint = The seed of a cycle is shown once it has ended.
check-after = Seconds at its start in which nothing is due
check-after-hint = The rule of the pool at that time says it, as after_s. Mostly 0.
check-cycle-by-hand = A cycle that this page does not hold
check-pasted = Item of cycles
check-pasted-hint = As the service shows it under All epochs, from brace to brace. Empty for the one chosen above.
check-cycle-do = Check the cycle
check-cycle-seed-step = The seed of { $tier }, cycle { $cycle }
check-cycle-step-amount = The hidden amount
check-cycle-step-time = The hidden second
check-cycle-about = The message is signed with the seed. The remainder of the first number that is not passed over is counted from the start of the range.
check-cycle-index = Place in the range
check-cycle-amount = Hidden amount, in minor units
check-cycle-time = Hidden second
check-cycle-right = It is right: { $trigger } comes from this seed, which was fixed when the cycle began.
check-cycle-wrong = It is wrong: the seed gives { $trigger }, and the service shows { $shown }. For a second, check the number of seconds above first. If it is right, keep these numbers and ask the operator.
check-cycle-unpublished = The seed of this cycle is still secret, because it is open or its end is not in the ledger yet. Its commitment is already public.
check-cycle-unreadable = This is no cycle with a seed, as the service shows one.
check-unpublished-typed = Write the seed too: without it there is nothing to recompute.

## The ticker for other sites
embed-title = { $name } on your site
embed-about = The ticker shows a live pool on any page. This is how it looks:
embed-how = How to show it
embed-step-origins = Name the origin of your site in the definition of the jackpot. Only the sites in that list can read the pool.
embed-step-script = Load the script once.
embed-step-tag = Put the ticker where the amount belongs.
embed-page = The page for players

## Daily reports
report-title = Daily report
report-date = Day
report-show = Show
report-complete = Complete
report-incomplete = Not complete
report-incomplete-hint = The day is not over, or the ledger does not have all of its events yet.
report-days = Days beside this one
report-before = Day before
report-after = Day after
report-none = There was no jackpot on this day.
report-tiers = Tiers of { $jackpot }
report-sources = Sources of { $jackpot }
report-plot = { $tier }: { $what }
report-opening = Opening
report-contributed = Contributed
report-reversed = Reversed
report-funded = Funded
report-transferred-in = Transferred in
report-transferred-out = Transferred out
report-voided = Voided
report-paid = Paid
report-closing = Closing
report-wins = Takes of all
report-stakes = Stakes
report-no-source = no source
