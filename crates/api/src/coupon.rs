//! Coupons: a definition, a coupon with its counts, requests and their results, units and dead letters.

use std::borrow::Cow;
use std::collections::BTreeMap;

use jackpot_core::ids::{Id, PersonId};
use jackpot_kernel::http::problem::FieldError;
use jackpot_kernel::ledger::api::csv::{Record, harmless, or_empty};
use jackpot_kernel::subject::emergency::Stopped;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

jackpot_core::names! {
    /// Whether a coupon issues units.
    #[derive(ToSchema)]
    #[schema(as = CouponStatus)]
    pub enum Status as "`open`, `paused`, `closed`, `suspended` or `ended`" {
        /// Within its window of time.
        Open = "open",
        /// Held by an operator: it takes no requests, and those in the queue wait.
        Paused = "paused",
        /// Ended by an operator for good: it takes no requests, and refuses those in the queue.
        Closed = "closed",
        /// Stopped by the service, because its books do not agree.
        Suspended = "suspended",
        /// Over for good: its records were dropped one retention after its end.
        Ended = "ended",
    }
}

/// A coupon as operators put and read it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = CouponDefinition)]
pub struct Document {
    /// A name for people, 1 to 200 characters.
    #[schema(example = "A free coffee", min_length = 1, max_length = 200)]
    pub name: String,
    /// Most units outstanding at once, 0 to 2^53-1. It cannot go below the number of outstanding units.
    #[schema(example = 100, maximum = 9_007_199_254_740_991_u64)]
    pub stock: u64,
    /// Most units that count for a user, 1 to 100.
    #[serde(default = "one")]
    #[schema(default = 1, minimum = 1, maximum = 100)]
    pub per_user: u32,
    /// Seconds for which a unit counts for its user, 1 to ten years; null: for ever.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 316_224_000, example = json!(null))]
    pub per_user_window_s: Option<u64>,
    /// Nothing is issued before this time (RFC 3339); null: from now on.
    #[serde(default)]
    #[schema(format = "date-time", example = "2026-12-01T00:00:00.000Z")]
    pub starts_at: Option<String>,
    /// Nothing is issued from this time on (RFC 3339), which is after `starts_at`; null: it does not end.
    #[serde(default)]
    #[schema(format = "date-time", example = "2027-01-01T00:00:00.000Z")]
    pub ends_at: Option<String>,
}

fn one() -> u32 {
    1
}

/// A coupon: its definition, status and counts.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Coupon {
    #[schema(value_type = String, example = "coffee")]
    pub id: Id,
    #[serde(flatten)]
    pub definition: Document,
    /// `ended`: its records were dropped one retention after its end.
    #[schema(example = "open")]
    pub status: Status,
    /// The emergency stop while it lasts, else null.
    pub stopped: Option<Stopped>,
    /// Version of the definition.
    #[schema(example = 3)]
    pub version: u64,
    /// Units issued so far.
    #[schema(example = 42)]
    pub issued: u64,
    /// How many of them were voided.
    #[schema(example = 2)]
    pub voided: u64,
    /// Units that can still be issued: `stock` − `issued` + `voided`.
    #[schema(example = 60)]
    pub remaining: u64,
    /// Requests in the queue.
    pub queued: u64,
    /// Dead letters.
    pub dead: u64,
}

/// A request and its result. A field that its result does not use is left out.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
pub struct IssueBody {
    #[schema(example = "issued")]
    pub result: RequestState,
    #[schema(example = "r-1")]
    pub request_id: String,
    #[schema(value_type = String, example = "u-1")]
    pub user_id: Option<PersonId>,
    /// As the request brought it; left out without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<BTreeMap<String, String>>,
    /// Number of the unit within the coupon, from 1; never used twice.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = 7)]
    pub sequence: Option<u64>,
    /// Code of the unit: 18 characters of Crockford's base32, the last two being check characters. Null for a `read`
    /// key made without `--codes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, example = "7KQ2XM-0V9TPB-3HWD1C")]
    pub code: Option<ShownCode>,
    /// RFC 3339, like all times here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issued_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub voided_at: Option<String>,
    /// How its user has used the unit; left out while it is not used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redeemed: Option<Redeemed>,
    /// Time of the refusal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_at: Option<String>,
    /// For `already-issued`: the first issue that counts for the user, as it was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(no_recursion)]
    pub issue: Option<Box<IssueBody>>,
    /// Place in the queue, from 1: the next request to be served.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = 3)]
    pub position: Option<u64>,
    /// Time of joining the queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queued_at: Option<String>,
    /// How often the queue's consumer has taken it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u32>,
}

impl IssueBody {
    /// Hides codes from a caller who may not see them.
    pub fn hide_codes(&mut self) {
        if let Some(code) = &mut self.code {
            code.0 = None;
        }
        if let Some(first) = &mut self.issue {
            first.hide_codes();
        }
    }
}

jackpot_core::names! {
    /// What came of a request.
    #[derive(Default, ToSchema)]
    pub enum RequestState {
        /// It got a unit.
        #[default]
        Issued = "issued",
        /// Its unit was taken back.
        Voided = "voided",
        /// The user had reached the limit.
        AlreadyIssued = "already-issued",
        /// No unit was left.
        OutOfStock = "out-of-stock",
        /// It came before the start or after the end.
        NotOpen = "not-open",
        /// The coupon was closed for good.
        CouponClosed = "coupon-closed",
        /// It waits in the queue.
        Queued = "queued",
        /// It was taken out of the queue three times without being served.
        Dead = "dead",
    }
}

/// A code, or null for a caller who may not see it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ShownCode(pub Option<String>);

/// The answer to one line, or why no further line is read.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct BulkLine {
    /// Number of the line in the upload, from 1. Blank lines count, but have no answer.
    #[schema(example = 1)]
    pub line: u64,
    /// Whether the request had its answer before this line; left out otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pub replayed: bool,
    #[serde(flatten)]
    pub answer: LineAnswer,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum LineAnswer {
    /// The request and its result.
    Issue(Box<IssueBody>),
    /// Nothing was done for this line.
    Refused {
        /// Of a line that got an answer as that of one request. `refused`: this line only; the next lines go on. `stopped`:
        /// this line and all lines after it were not read, or their results are unknown. Send the list again.
        #[schema(example = "refused")]
        result: LineResult,
        /// Code of the problem.
        #[schema(example = "request-id-reused")]
        code: Cow<'static, str>,
        detail: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        errors: Vec<FieldError>,
    },
}

jackpot_core::names! {
    /// Why nothing was done for a line.
    #[derive(ToSchema)]
    pub enum LineResult {
        /// This line only; the next lines go on.
        Refused = "refused",
        /// This line and all lines after it were not read, or their results are unknown. Send the list again.
        Stopped = "stopped",
    }
}

/// A request that was taken three times without being served.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct DeadBody {
    #[schema(example = "r-1")]
    pub request_id: String,
    /// Null, like all fields below, if its record can't be read.
    #[schema(value_type = Option<String>, example = "u-1")]
    pub user_id: Option<PersonId>,
    /// Null also for a request without any.
    pub metadata: Option<BTreeMap<String, String>>,
    /// Its arrival number in the queue, which decides its place after a redrive.
    #[schema(example = 12)]
    pub arrival: Option<u64>,
    #[schema(example = 3)]
    pub attempts: Option<u32>,
    /// Time of joining the queue, RFC 3339.
    pub queued_at: Option<String>,
}

/// A unit that was given to a user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct IssueRow {
    /// Its number within the coupon, from 1.
    #[schema(example = 17)]
    pub sequence: i64,
    /// The request that got it.
    #[schema(example = "r-8812")]
    pub request_id: String,
    /// Whose it is.
    #[schema(example = "p7")]
    pub user_id: String,
    /// Its code; null for a `read` key made without `--codes`.
    #[schema(example = "7QK3M9-0X2YB4-ZT8C1P")]
    pub code: Option<String>,
    /// RFC 3339.
    #[schema(example = "2026-11-21T06:00:00.123Z")]
    pub issued_at: String,
    /// When it was taken back, RFC 3339; null: it was not.
    #[schema(example = json!(null))]
    pub voided_at: Option<String>,
    /// How its user has used it; null: not yet.
    pub redeemed: Option<Redeemed>,
    /// As its request brought it; null: none.
    pub metadata: Option<BTreeMap<String, String>>,
}

impl Record for IssueRow {
    const HEADER: &'static [&'static str] = &[
        "sequence",
        "request_id",
        "user_id",
        "code",
        "issued_at",
        "voided_at",
        "redeemed_at",
        "redemption_id",
        "reference",
        "metadata",
    ];

    fn cells(&self) -> Vec<String> {
        vec![
            self.sequence.to_string(),
            self.request_id.clone(),
            self.user_id.clone(),
            or_empty(self.code.as_ref()),
            self.issued_at.clone(),
            or_empty(self.voided_at.as_ref()),
            or_empty(self.redeemed.as_ref().map(|used| &used.at)),
            or_empty(self.redeemed.as_ref().map(|used| &used.redemption_id)),
            self.redeemed
                .as_ref()
                .map(|used| harmless(&used.reference))
                .unwrap_or_default(),
            or_empty(self.metadata.as_ref().map(|texts| json!(texts))),
        ]
    }
}

/// The use of a unit, as answers, lists and events show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Redeemed {
    /// The caller's id of the redemption.
    #[schema(example = "till-7-0001")]
    pub redemption_id: String,
    /// The caller's text about it.
    #[schema(example = "receipt 8812")]
    pub reference: String,
    /// RFC 3339.
    #[schema(example = "2026-11-21T06:00:00.123Z")]
    pub at: String,
}
