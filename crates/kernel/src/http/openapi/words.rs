//! Facts about names for the description: patterns, values, roles, headers, examples.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use crate::http::Code;

/// What operators do, as the audit trail names it, in the order in which it is offered.
pub const AUDITED: &[&str] = &[
    "define",
    "pause",
    "resume",
    "suspend",
    "close",
    "adjust",
    "hold-adjustment",
    "approve-adjustment",
    "withdraw-adjustment",
    "reverse",
    "transfer",
    "hold-transfer",
    "approve-transfer",
    "withdraw-transfer",
    "approve",
    "settle",
    "fail",
    "void-request",
    "void",
    "withdraw",
    "approve-limit",
    "rotate",
    "restore",
    "redrive",
    "bulk-issue",
    "skip",
    "delete",
    "replay",
    "emergency-stop",
    "emergency-start",
];

/// The place of a name: in the schema of this name, or as a parameter of this operation.
#[derive(Clone, Copy)]
pub(super) enum Within<'a> {
    Schema(&'a str),
    Parameter(&'a str),
}

/// Which operations can give an answer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    Always,
    /// Operations that take a body.
    Body,
    /// Operations that need a key.
    Key,
    /// Operations on one jackpot.
    Jackpot,
    /// Operations on one coupon.
    Coupon,
    /// Operations on one room.
    Room,
}

/// Problems of operations, and when. A capability names only its own.
pub(super) const COMMON: [(Code, When); 19] = [
    (Code::MalformedRequest, When::Always),
    (Code::InvalidJson, When::Body),
    (Code::Unauthorized, When::Key),
    (Code::Forbidden, When::Key),
    (Code::WrongSubject, When::Key),
    (Code::JackpotNotFound, When::Jackpot),
    (Code::CouponNotFound, When::Coupon),
    (Code::RoomNotFound, When::Room),
    (Code::RequestTimeout, When::Always),
    (Code::JackpotSuspended, When::Jackpot),
    (Code::CouponSuspended, When::Coupon),
    (Code::RoomSuspended, When::Room),
    (Code::TooLarge, When::Body),
    (Code::UnsupportedMediaType, When::Body),
    (Code::InvalidRequest, When::Always),
    (Code::RateLimited, When::Always),
    (Code::HeadersTooLarge, When::Always),
    (Code::Internal, When::Always),
    (Code::StoreUnavailable, When::Always),
];

const ID: &str = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$";
const PERSON: &str = "^[A-Za-z0-9][A-Za-z0-9._@|:+=-]{0,127}$";
const ENTRY: &str = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}(:[0-9]+)?$";
const REQUEST: &str = "^([A-Za-z0-9][A-Za-z0-9._-]{0,63}|draw:[A-Za-z0-9][A-Za-z0-9._-]{0,63}:[A-Za-z0-9][A-Za-z0-9._-]{0,63}(:[0-9]+)?(~[0-9]+)?)$";
/// Characters that do not change what a terminal, a log or a spreadsheet shows: `text::is_plain`.
pub(super) const PLAIN: &str = "^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028-\\u202e\\u2066-\\u2069]*$";
const TAGS: &str = "^(\\*|(W/)?\"[!#-~]*\"( *, *(W/)?\"[!#-~]*\")*)$";

/// The pattern or format of a text, by its name.
pub(super) fn text(within: Within<'_>, name: &str) -> Option<(&'static str, &'static str)> {
    let pattern = match (within, name) {
        // Of an HTTP request, not of a request for a coupon; of an outgoing event, not of a subject.
        (Within::Schema("AuditRow"), "request_id")
        | (Within::Schema("BulkLine"), "code")
        | (Within::Schema("SkipBody" | "ProbeAnswer"), "id") => return None,
        // A filter takes any text: what is no id finds nothing.
        (Within::Parameter("list_payouts"), "payout_id") => {
            "^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028-\\u202e\\u2066-\\u2069]{1,200}$"
        }
        (Within::Parameter(_), "id" | "who" | "action")
        | (Within::Parameter("list_jackpots" | "list_coupons" | "list_rooms"), "cursor")
        | (
            _,
            "jackpot_id" | "tier" | "coupon_id" | "room_id" | "room" | "adjustment_id" | "transfer_id" | "source_id",
        )
        | (Within::Schema(_), "id" | "reversal_id" | "settlement_id")
        | (Within::Schema("TransferBody"), "to") => ID,
        (_, "player_id" | "user_id") => PERSON,
        (_, "entry_id") => ENTRY,
        (_, "request_id") => REQUEST,
        (_, "client_seed") => "^[A-Za-z0-9._-]{1,64}$",
        (_, "ticket" | "payout_id" | "nonce") => "^[0-9a-f]{32}$",
        (Within::Schema(_), "seed" | "commitment" | "hash" | "sha256") => "^[0-9a-f]{64}$",
        (Within::Schema(_), "secret_id" | "history") => "^[0-9a-f]{16}$",
        (Within::Schema(_), "key_id" | "kid") => "^[A-Za-z0-9_-]{43}$",
        (Within::Schema(_), "signature") => "^[A-Za-z0-9_-]{86}$",
        (Within::Schema(_), "currency") => "^[A-Z][A-Z0-9]{2,7}$",
        (Within::Schema("CouponBody" | "IssueBody" | "IssueRow"), "code") => "^[0-9A-Z]{6}-[0-9A-Z]{6}-[0-9A-Z]{6}$",
        (Within::Parameter("explain"), "code") => "^[a-z][a-z-]{0,63}$",
        (Within::Parameter("list_dead_letters" | "get_fairness"), "cursor") => "^[0-9]{1,19}$",
        (Within::Parameter(_), "If-Match") => TAGS,
        (
            Within::Schema(
                "ReasonBody" | "PauseBody" | "CouponReason" | "AdjustmentBody" | "EmergencyReason" | "RotateBody"
                | "ReversalBody" | "SkipBody" | "TransferBody" | "FailBody",
            ),
            "reason",
        )
        | (Within::Schema("SettleBody" | "RedeemWish" | "Redeemed"), "reference") => PLAIN,
        (Within::Schema(_), "at" | "held_until" | "since") => return Some(("format", "date-time")),
        (Within::Schema(_), time) if time.ends_with("_at") => return Some(("format", "date-time")),
        // Any other text of a definition is for people.
        (Within::Schema(definition), _) if definition.ends_with("Definition") => PLAIN,
        _ => return None,
    };
    Some(("pattern", pattern))
}

/// The values of a text. One that begins with `#` refers to the schema that has them.
pub(super) fn values(within: Within<'_>, name: &str) -> Option<&'static [&'static str]> {
    let owner = match within {
        Within::Schema(owner) => owner,
        Within::Parameter("get_meter_history") if name == "step" => return Some(&["minute", "hour", "day"]),
        Within::Parameter(_) => return (name == "If-None-Match").then_some(&["*"]),
    };
    Some(match (owner, name) {
        ("TicketBody", "status") => &["admitted", "waiting", "expired", "abandoned", "left"],
        ("Alive", "status") => &["ok"],
        ("Ready", "status") => &["ready"],
        ("AuditRow", "action") => AUDITED,
        ("VoidReceipt", "kind") => &["void"],
        ("RefusedSubject", "kind") => &["jackpot", "coupon", "room"],
        ("Problem" | "NotReady", "code") => &["#/components/schemas/ProblemCode"],
        (problem, "code") if problem.starts_with("AlreadyIssued") || problem.starts_with("Mismatch") => {
            &["#/components/schemas/ProblemCode"]
        }
        _ => return None,
    })
}

/// The bounds of an integer that its type can't express.
pub(super) fn bounds(within: Within<'_>, name: &str) -> Vec<(&'static str, u64)> {
    match (within, name) {
        (Within::Schema("Contribution"), "fixed") => vec![("minimum", 1)],
        (Within::Schema("Contribution" | "Take"), _) => vec![("minimum", 1), ("maximum", 1_000_000)],
        _ => Vec::new(),
    }
}

/// Whether a schema is a union whose variants differ by their only field name.
pub(super) fn is_request_union(schema: &str) -> bool {
    ["Contribution", "Prize", "Take"].contains(&schema)
}

/// The roles whose keys may call an operation; `operate` allows all of them but `approve`.
pub(super) fn roles(method: &str, operation: &str) -> &'static [&'static str] {
    match operation {
        "make_entry" | "make_play" | "make_entry_batch" | "issue_coupon" | "redeem_issue" | "join_room"
        | "get_ticket" | "stream_ticket" | "renew_ticket" | "leave_room" | "create_join_token" => &["play"],
        "get_entry" | "get_issue" | "stream_issue" => &["play", "read"],
        "reverse_entry" => &["play", "operate"],
        "approve_payout" | "approve_limit" | "approve_adjustment" | "approve_transfer" => &["approve"],
        "list_payouts" | "get_payout" | "get_receipt" => &["read", "approve"],
        _ if method == "get" => &["read"],
        _ => &["operate"],
    }
}

/// The headers of answers.
pub(super) fn headers() -> Value {
    let text =
        |about: &str, example: &str| json!({"description": about, "schema": {"type": "string"}, "example": example});
    json!({
        "X-Request-Id": {
            "description": "Id of this request, also in the log: the client's own, or one made by the service.",
            "required": true, "schema": {"type": "string", "minLength": 1}, "example": "25398d370c9c7509-1b"},
        "Retry-After": {
            "description": "Seconds after which to send the same request again.",
            "required": true, "schema": {"type": "integer", "minimum": 1}, "example": 1},
        "WWW-Authenticate": {"required": true, "schema": {"type": "string", "enum": ["Bearer"]}, "example": "Bearer",
            "description": "How to authenticate."},
        "ETag": {"required": true, "schema": {"type": "string", "pattern": "^\"[0-9]+\"$"}, "example": "\"3\"",
            "description": "The version of the definition, for `If-Match`."},
        "RateLimit-Policy": text("The limit, by the draft of the IETF: `q` requests in `w` seconds.", "\"key\";q=100;w=1"),
        "RateLimit": text("The rest of the limit: `r` requests now, all of it in `t` seconds.", "\"key\";r=0;t=1"),
        "Location": text("Address of the request or page.", "/v1/coupons/coffee/issues/r-1"),
        "Idempotency-Replayed": {"schema": {"type": "string", "enum": ["true"]}, "example": "true",
            "description": "Present if the same id was answered before: nothing was done again."},
    })
}

/// The headers of an answer besides `X-Request-Id`. `schema` is the type of its JSON.
pub(super) fn headers_of(status: &str, description: &str, schema: Option<&str>) -> Vec<&'static str> {
    let mut names = match status {
        "401" => vec!["WWW-Authenticate"],
        "429" => vec!["Retry-After", "RateLimit-Policy", "RateLimit"],
        "503" => vec!["Retry-After"],
        "202" | "303" => vec!["Location"],
        _ => Vec::new(),
    };
    if matches!(schema, Some("Jackpot" | "Coupon" | "Room")) {
        names.push("ETag");
    }
    if description.contains("Idempotency-Replayed") {
        names.push("Idempotency-Replayed");
    }
    names
}

/// Links from an answer to the next operations.
pub(super) fn links(operation: &str, status: &str) -> Vec<(&'static str, Value)> {
    let to = |operation: &str, parameter: &str, field: &str| {
        json!({"operationId": operation,
            "parameters": {"id": "$request.path.id", parameter: format!("$response.body#/{field}")}})
    };
    match (operation, status) {
        ("join_room", "200" | "201") => ["get_ticket", "renew_ticket", "leave_room"]
            .map(|next| (next, to(next, "ticket", "ticket")))
            .into(),
        ("make_entry", "200" | "201") => vec![("get_entry", to("get_entry", "entry_id", "entry_id"))],
        ("issue_coupon", "200" | "201" | "202") => ["get_issue", "redeem_issue", "void_issue"]
            .map(|next| (next, to(next, "request_id", "request_id")))
            .into(),
        _ => Vec::new(),
    }
}

pub(super) fn about_parameter(name: &str) -> Option<&'static str> {
    Some(match name {
        "id" => "Id of the jackpot, coupon or room.",
        "entry_id" => "As it was sent, or `{batch_id}:{i}`.",
        "request_id" => "As it was sent, or as named in the answer to the entry that drew it.",
        "ticket" => "The ticket of the answer to the join.",
        "payout_id" => "The payout of the answer to the entry.",
        "adjustment_id" => "As it was sent with the adjustment.",
        "transfer_id" => "As it was sent with the transfer.",
        "version" => "Version of the definition.",
        "place" => "A token that the page made.",
        "code" => "The `code` of a problem.",
        "If-Match" => {
            "Only if the definition has one of these tags from `ETag`; `*`: only if there is one. Do not send it with \
                       `If-None-Match`."
        }
        "If-None-Match" => "`*`: only if there is none.",
        _ => return None,
    })
}

pub(super) fn example_parameter(operation: &str, name: &str) -> Option<Value> {
    let of_coupon = ["coupon", "issue", "dead_letter"]
        .iter()
        .any(|word| operation.contains(word));
    let of_room = ["room", "ticket", "join", "waiting_page", "leave"]
        .iter()
        .any(|word| operation.contains(word));
    Some(match name {
        "id" if of_coupon => "coffee".into(),
        "id" if of_room => "lobby".into(),
        "id" | "jackpot_id" => "spring".into(),
        "coupon_id" => "coffee".into(),
        "room_id" => "lobby".into(),
        "entry_id" => "round-8812-p7".into(),
        "request_id" => "r-1".into(),
        "player_id" => "p7".into(),
        "ticket" => "0f8fad5bd9cb469fa16570867728950e".into(),
        "payout_id" => "5d0b1c9f7a3e42d6b8a1c07e94f2d358".into(),
        "adjustment_id" => "launch".into(),
        "transfer_id" => "season-1".into(),
        "version" => 3.into(),
        "limit" => 100.into(),
        "tier" => "grand".into(),
        "min_amount" => 1000.into(),
        "from" => "2026-11-21T00:00:00.000Z".into(),
        "to" => "2026-11-22T00:00:00.000Z".into(),
        "who" => "operator".into(),
        "action" => "pause".into(),
        "code" => "invalid-request".into(),
        "If-Match" => "\"3\"".into(),
        "If-None-Match" => "*".into(),
        "Prefer" => "respond-async".into(),
        _ => return None,
    })
}

static EXAMPLES: LazyLock<Value> = LazyLock::new(|| {
    let all: Value = serde_json::from_str(include_str!("examples.json")).expect("the examples are JSON");
    completed(&all, &all["types"])
});

/// The member of an example that names another type: the example has the fields of that type's first example too.
const AND_ALL_OF: &str = "and all of";

/// The examples, with the fields of the types that they name.
fn completed(value: &Value, types: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut whole = Map::new();
            for (name, member) in members {
                if name == AND_ALL_OF {
                    let other = member
                        .as_str()
                        .and_then(|name| types[name].as_object()?.values().next());
                    let other = completed(other.expect("a type with an example"), types);
                    whole.extend(other.as_object().expect("an object").clone());
                } else {
                    whole.insert(name.clone(), completed(member, types));
                }
            }
            whole.into()
        }
        Value::Array(items) => items.iter().map(|item| completed(item, types)).collect(),
        _ => value.clone(),
    }
}

/// The named examples of a type.
pub(super) fn examples(schema: &str) -> Option<&'static Map<String, Value>> {
    EXAMPLES["types"][schema].as_object()
}

/// The example of a body without a type: of the request or the answer of an operation.
pub(super) fn example_text(operation: &str, of: &str, media: &str) -> Option<&'static str> {
    EXAMPLES["texts"][operation][of][media].as_str()
}

/// A problem with this code.
pub(super) fn example_problem(code: Code) -> Value {
    let (mut detail, mut errors) = (code.about().to_owned(), json!([]));
    if code == Code::InvalidRequest {
        let rule = "must be an integer from 0 to 9007199254740991";
        errors = json!([{"field": "stake", "message": rule}]);
        detail = format!("stake: {rule}");
    }
    json!({"type": format!("/problems/{code}"), "title": code.title(), "status": code.status().as_u16(),
        "detail": detail, "code": code, "errors": errors})
}
