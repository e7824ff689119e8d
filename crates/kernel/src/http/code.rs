//! The codes of problems, each with its status, its title and the text of `/problems/{code}`. A code is declared here alone:
//! errors name it, routes list their own, and the description is made of both.

use std::fmt;

use actix_web::http::StatusCode;
use serde::{Deserialize, Serialize};

macro_rules! codes {
    ($($name:ident $status:literal $code:literal, $title:literal, $about:literal;)+) => {
        /// The kind of a problem. Its text is part of the contract; titles do not vary with the occurrence (RFC 9457, 3.1.3).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum Code {
            $(#[doc = $title] #[serde(rename = $code)] $name,)+
        }

        impl Code {
            /// In the order of the description.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// Stable, the last part of `type`.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $code),+ }
            }

            const fn number(self) -> u16 {
                match self { $(Self::$name => $status),+ }
            }

            pub const fn title(self) -> &'static str {
                match self { $(Self::$name => $title),+ }
            }

            /// What it means, and what to do.
            pub const fn about(self) -> &'static str {
                match self { $(Self::$name => $about),+ }
            }
        }
    };
}

codes! {
    InvalidRequest 422 "invalid-request", "The request has wrong content",
        "A field or parameter is missing, unknown, of another type, or out of range. `errors` names each. Nothing was \
         done; the same request fails again.";
    InvalidJson 400 "invalid-json", "The body is not JSON",
        "The body can't be read as one JSON value in UTF-8. Nothing was done.";
    UnsupportedMediaType 415 "unsupported-media-type", "The body is not declared as JSON",
        "Send the header `Content-Type: application/json`. Nothing was done.";
    TooLarge 413 "too-large", "The body is too large",
        "The body is larger than this service accepts (setting http.max_body_bytes; of a jackpot's definition, at least \
         431 KiB; of a batch, 320 bytes an entry; of a bulk issue, coupons.max_bulk_bytes). Nothing was done.";
    RequestTimeout 408 "request-timeout", "The request did not arrive in time",
        "The client sent head or body too slowly. Nothing was done; send the same request again.";
    MalformedRequest 400 "malformed-request", "The request is not valid HTTP",
        "Request line or headers can't be read: one Host, one of Content-Length and `Transfer-Encoding: chunked`, no other \
         coding, no control characters. Nothing was done; the connection is closed.";
    HeadersTooLarge 431 "headers-too-large", "The head of the request is too large",
        "Request line and headers together may have 32 KiB, and 96 fields. Nothing was done; the connection is closed.";
    SubscriptionNotFound 404 "subscription-not-found", "There is no such subscription",
        "No subscription has this id; `GET /v1/subscriptions` lists them. Nothing was done.";
    TooManySubscriptions 409 "too-many-subscriptions", "There are too many subscriptions",
        "A ledger has at most 100 subscriptions. Delete one, or let one deliver more types and subjects. Nothing was done.";
    NotNext 409 "not-next", "Another event is the next one",
        "Only the next event of a subject can be skipped; `detail` names it. It may have been delivered or skipped \
         meanwhile. Nothing was done.";
    NotFound 404 "not-found", "There is nothing at this path",
        "No route has this path; `/openapi.json` lists them all.";
    MethodNotAllowed 405 "method-not-allowed", "The path does not take this method",
        "The header `Allow` lists the methods that it takes.";
    Unauthorized 401 "unauthorized", "A valid key is needed",
        "Send `Authorization: Bearer <key>` with a key that was made by `jackpot key new`, is not revoked and has not expired.";
    Forbidden 403 "forbidden", "The key's role does not allow this",
        "The key is valid, but has another role. Roles are play, read, operate and approve. The export of a ledger with codes \
         of coupons needs a `read` key made with `--codes`.";
    SameOwner 403 "same-owner", "Another owner has to do this",
        "Who set the limit does not approve, and who approved a payout does not settle it. Nothing was done. Use a key that \
         somebody else holds (`jackpot key new --owner`).";
    NotTracked 409 "not-tracked", "The payout is not tracked",
        "The definition of the jackpot had `settlement` none when the payout was claimed: it is paid, and nothing follows.";
    PayoutHeld 409 "payout-held", "The payout waits for an approval",
        "Its amount is at or above `approval_above` of the definition. Nothing was done. A key with the role approve has to \
         approve it first.";
    PayoutSettled 409 "payout-settled", "The payout is settled",
        "The winner has the money, by another settlement id. Nothing was done.";
    PayoutVoidRequested 409 "payout-void-requested", "The payout is to be taken back",
        "An owner asked to void it. It is neither approved nor settled, until the request is withdrawn; a second owner voids it.";
    PayoutNotVoidRequested 409 "payout-not-void-requested", "Nobody asks to take the payout back",
        "There is no request to void it, or it was withdrawn before. Nothing was done.";
    PayoutVoid 409 "payout-void", "The payout was taken back",
        "Two owners have voided it, and its amount is in the overflow of its tier. Nothing was done.";
    SettlementIdReused 422 "settlement-id-reused", "The settlement id has other content",
        "The jackpot has used this settlement id for another payout, or with another reference, reason or result. Nothing was \
         done. Use an id of its own for each attempt.";
    ApprovalSuperseded 409 "approval-superseded", "A later PUT asked for another limit",
        "The version is that of an earlier PUT, and what waits is another limit. Nothing was done. Look at `pending` of the \
         jackpot, and approve its version.";
    WrongSource 403 "wrong-source", "The key may not send entries of this source",
        "The definition of the jackpot names the keys that may send entries of this source (`sources`, `keys`). Nothing was \
         done. Send the entry with one of those keys, or change the definition.";
    WrongSubject 403 "wrong-subject", "The key is bound to other subjects",
        "The key was made with `--only`, for some jackpots, coupons or rooms. It may call paths that name one of them, \
         and lists, which show only these; a body may name no other either, such as a coupon as a prize, a room or the target \
         of a transfer. It makes no difference whether that exists. Nothing was done.";
    RateLimited 429 "rate-limited", "Too many requests",
        "The key makes more requests than allowed (setting auth.requests_per_second_per_key), the address makes too many \
         without a key (auth.public_requests_per_second_per_address), with wrong keys \
         (auth.failed_keys_per_second_per_address) or at once through a proxy (http.max_connections_per_address), or a user \
         has left a room too often and joins again. Wait as long as `Retry-After` says; `RateLimit` says what is left. \
         Nothing was done.";
    Stopped 503 "stopped", "Everything is stopped",
        "An operator has stopped all jackpots, coupons and rooms; `detail` has the reason. Nothing was done; the same id \
         can be sent again after the stop. Requests that were taken before are answered, and what was drawn is finished.";
    StoreUnavailable 503 "store-unavailable", "The store does not answer",
        "Redis or the ledger's database can't be reached in time or takes no writes now. Repeat the same request with the same ids after \
         `Retry-After`: nothing is done twice.";
    NotReady 503 "not-ready", "This instance is not ready",
        "`errors` names what it waits for. Other instances may be ready.";
    TooManyStreams 503 "too-many-streams", "Too many open streams",
        "`detail` names the limit. Streams with a key: http.max_streams. Streams without one: http.max_public_streams, \
         and of one address http.max_public_streams_per_address. One place of a waiting room: four pages. Try again later.";
    Internal 500 "internal", "Something went wrong here",
        "The fault is in the service. Its log has the cause under the answer's X-Request-Id. Repeating the same request with the same \
         ids is safe.";
    PreconditionFailed 412 "precondition-failed", "The definition has changed",
        "`If-Match` names another version than the current one. Read it again, then decide.";
    JackpotNotFound 404 "jackpot-not-found", "There is no such jackpot",
        "No jackpot with this id was ever defined.";
    WinnersNotShown 404 "winners-not-shown", "The jackpot shows no winners",
        "The jackpot exists, and the field `winners` of its definition is `off`. An operator can change it by a PUT.";
    DefinitionNotFound 404 "definition-not-found", "The definition has no such version",
        "The jackpot exists; no PUT of its definition was given this version.";
    EntryNotFound 404 "entry-not-found", "There is no such entry",
        "No entry with this id is remembered: it was never made, or its retention has passed.";
    JackpotPaused 409 "jackpot-paused", "The jackpot is paused",
        "An operator paused it. Entries are refused and not counted.";
    JackpotSuspended 409 "jackpot-suspended", "The jackpot is suspended",
        "The service stopped it because its books do not agree; entries are refused until an operator resumes it.";
    JackpotClosed 409 "jackpot-closed", "The jackpot is closed",
        "An operator closed it for good. Entries are refused.";
    EntryIdReused 422 "entry-id-reused", "The entry id was used for another entry",
        "An entry with this id has another player, stake, client seed, source or ranks. It is unchanged; choose a new id.";
    AdjustmentIdReused 422 "adjustment-id-reused", "The adjustment id was used for another adjustment",
        "An adjustment with this id has other content. It is unchanged; choose a new id.";
    CurrencyMismatch 422 "currency-mismatch", "The jackpot plays in another currency",
        "`currency` of the play is not the jackpot's, which `detail` names. This jackpot took nothing. Name it only in plays whose \
         stake is in its currency.";
    EntryHasPrize 409 "entry-has-prize", "The entry has a prize",
        "A round with a prize is not reversed. Nothing was changed.";
    EntryPending 409 "entry-pending", "The entry has no outcome yet",
        "Repeat the reversal or transfer in a moment: any instance finishes the entry.";
    EntryReversed 409 "entry-reversed", "The entry was reversed before",
        "Another reversal id took the entry back: `GET` of the entry shows it. Or a reversal of this id came before its \
         entry, which is then not taken: play the round again with a new id.";
    ReversalIdReused 422 "reversal-id-reused", "The reversal id was used before",
        "For another entry of the jackpot, or with another reason. Nothing was changed. Use a new id for each cancelled round.";
    TooLate 409 "too-late", "The time for it has passed",
        "An entry can be reversed for `reverse_within_s` of its definition. Nothing was changed; adjust by hand if you must.";
    JackpotOpen 409 "jackpot-open", "The jackpot is open",
        "Only a paused or closed jackpot transfers its money. Pause it, then send the same transfer id again.";
    TransferIdReused 422 "transfer-id-reused", "The transfer id was used before",
        "The id belongs to a transfer with other content, and nothing was moved. Send a new id.";
    AdjustmentNotFound 404 "adjustment-not-found", "There is no such adjustment",
        "No adjustment with this id waits or was made in the jackpot.";
    AdjustmentDone 409 "adjustment-done", "The adjustment is done",
        "It does not wait for an approval, and nothing was done.";
    AdjustmentWithdrawn 409 "adjustment-withdrawn", "The adjustment was withdrawn",
        "It is not made any more. Ask for it again with a new id.";
    TransferNotFound 404 "transfer-not-found", "There is no such transfer",
        "No transfer with this id waits or was given in the jackpot.";
    TransferDone 409 "transfer-done", "The transfer is given",
        "It does not wait for an approval, and nothing was done.";
    TransferWithdrawn 409 "transfer-withdrawn", "The transfer was withdrawn",
        "It is not given any more. Ask for it again with a new id.";
    ApprovalWeaker 422 "approval-weaker", "The other jackpot guards its money less",
        "Money that needs two owners goes only to a jackpot that tracks its payouts, with an `approval_above` that is not \
         higher. Nothing was moved. Set `settlement` and `approval_above` of the other jackpot first.";
    MustHitOpen 409 "must-hit-open", "A cycle by amount is open",
        "While a must-hit cycle by amount is open, only contributions raise the pool, with what was reversed out of it in \
         this cycle, above its `low`. Nothing was changed; fund the overflow instead.";
    TooManyTakes 422 "too-many-takes", "Too many cycles end in one batch",
        "More than 1,000 must-hit cycles would end in the batch. Nothing of it was taken: send fewer entries in a batch.";
    AmountTooLarge 422 "amount-too-large", "An amount would be too large",
        "Amounts end at 2^53-1 minor units. Nothing was done, and nothing rounded.";
    CouponNotFound 404 "coupon-not-found", "There is no such coupon",
        "No coupon with this id was ever defined.";
    CouponPaused 409 "coupon-paused", "The coupon is paused",
        "An operator paused it. New requests are refused and not counted; those in the queue wait. Repeat the same request after it \
         was resumed.";
    CouponClosed 409 "coupon-closed", "The coupon was closed",
        "An operator closed it for good. It gives no further units, and requests that were in its queue are refused.";
    CouponSuspended 409 "coupon-suspended", "The coupon is suspended",
        "The service stopped it because Redis and the ledger disagree about it, or because it is being restored. New requests \
         are refused and not counted. Repeat the same request later.";
    CouponRetired 409 "coupon-retired", "The coupon was retired",
        "The coupon ended longer ago than its retention: its records are dropped, and its id is used up. Create a coupon \
         with another id. The ledger still answers requests that were issued.";
    AlreadyIssued 409 "already-issued", "The user has the coupon already",
        "The user has as many units as one user may have; `issue` is the first of them. This answer is final for its request.";
    OutOfStock 409 "out-of-stock", "The coupon is out of stock",
        "No unit is left. This answer is final for its request. After units are returned or added, send a new request id.";
    NotOpen 403 "not-open", "The coupon is not issued now",
        "The request came before `starts_at` or after `ends_at`. This answer is final for its request.";
    RequestIdReused 422 "request-id-reused", "The request id was used for another user or with other metadata",
        "A request with this id was made for another user, or with other `metadata`. It is unchanged; choose a new id.";
    IssueNotFound 404 "issue-not-found", "There is no such request",
        "No request with this id was made for this coupon, or its retention has passed.";
    NotIssued 409 "not-issued", "Nothing was issued",
        "The request was refused, waits in the queue, or its unit was voided: there is nothing to void or redeem.";
    Redeemed 409 "redeemed", "The unit was redeemed",
        "Its user has used it, which is final: another redemption id does not redeem it again, and it is not voided. `GET` of the \
         request shows the redemption.";
    RedemptionIdReused 422 "redemption-id-reused", "The redemption id has another reference",
        "This redemption id has redeemed the unit, with another reference. Nothing was done. Repeat a redemption with what it \
         had at first.";
    PayoutNotFound 404 "payout-not-found", "There is no such payout",
        "The ledger knows no payout with this id. A payout reaches it within moments of the claim.";
    EntryIndexOff 422 "entry-index-off", "Entries can't be found by player",
        "This service keeps no index of entries by player (setting ledger.entry_index_days is 0). An entry can be read \
         by its id for as long as it is remembered.";
    ReconciliationMismatch 409 "reconciliation-mismatch", "Redis and the ledger disagree",
        "`items` shows both sides, term by term. These jackpots are suspended until an operator resumes them.";
    TooManyUploads 503 "too-many-uploads", "Too many uploads",
        "This instance works on its maximum number of bulk issues. Send the same list again after `Retry-After`: decided \
         lines get the same results.";
    TooManyExports 503 "too-many-exports", "Too many exports",
        "This instance streams its maximum number of CSV or NDJSON answers. Try again after `Retry-After`.";
    PassRequired 403 "pass-required", "A pass of the waiting room is needed",
        "The jackpot has a waiting room: join it and send the pass as `X-Room-Pass`.";
    PassExpired 403 "pass-expired", "The pass has expired",
        "The session in the room has ended, or its user has left; join again.";
    RoomNotFound 404 "room-not-found", "There is no such room",
        "No waiting room with this id was ever defined.";
    TicketNotFound 404 "ticket-not-found", "There is no such ticket",
        "The room never had a ticket with this id, or the record of the ended ticket has expired.";
    NotAdmitted 409 "not-admitted", "The ticket is not admitted",
        "Only a session can be renewed. This ticket waits or has ended.";
    RoomSuspended 409 "room-suspended", "The room is suspended",
        "The service stopped it because Redis and the ledger disagree about it, or because it is being restored. Nobody joins \
         or is admitted. Repeat the same request later.";
    RoomNotOpen 409 "room-not-open", "The room has not opened yet",
        "Ask again after the opening: the service then publishes who joined before it, and in which order.";
    PreQueueNotFound 404 "pre-queue-not-found", "The room has no list from before its opening",
        "The room opened at once, or its list has expired (rooms.retention_s after the opening); the hash of the list stays in \
         the ledger.";
}

impl Code {
    /// The status of every answer with this code.
    pub fn status(self) -> StatusCode {
        StatusCode::from_u16(self.number()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.as_str() == text)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_code_has_a_status_of_an_error_and_is_read_as_it_is_written() {
        for code in Code::ALL {
            assert_eq!(code.status().as_u16(), code.number(), "{code:?}");
            assert!(
                code.status().is_client_error() || code.status().is_server_error(),
                "{code:?}"
            );
            assert_eq!(Code::parse(code.as_str()), Some(*code));
        }
    }
}
