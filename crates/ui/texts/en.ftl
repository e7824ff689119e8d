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
