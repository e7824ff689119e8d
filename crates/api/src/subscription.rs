//! Subscriptions: a definition with its target, how far one is, and the answer to a test event.

use jackpot_core::ids::Id;
use jackpot_kernel::http::body::Described;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A subscription, as a PUT sends it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = SubscriptionDefinition)]
pub struct SubscriptionDocument {
    pub target: Target,
    /// Types of events, such as `payout.created`; `payout.*` for all types that begin so, `*` for every event. 1 to 100.
    #[schema(example = json!(["payout.*"]), min_items = 1, max_items = 100)]
    pub types: Vec<String>,
    /// Subjects, as `jackpot:spring`, which need not exist yet; or `*` alone, for all. 1 to 100.
    #[schema(example = json!(["jackpot:spring"]), min_items = 1, max_items = 100)]
    pub subjects: Vec<String>,
    /// Where subjects begin that the subscription did not have before.
    #[serde(default)]
    pub from: Begin,
}

impl Described for SubscriptionDocument {}

jackpot_core::names! {
    /// Where a subject begins.
    #[derive(Default, ToSchema)]
    pub enum Begin {
        /// After the last event that the ledger has of it. A subject that appears later begins with its first event.
        #[default]
        Now = "now",
        /// With its first event.
        Beginning = "beginning",
    }
}

/// Where events go: one of the three.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    Webhook(Webhook),
    Kafka(Kafka),
    Nats(Nats),
}

/// A URL that takes each event as a POST.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Webhook {
    /// `https://` or `http://`, without user, password and fragment; up to 2,048 characters. Its host has only public
    /// addresses, unless the setting `events.allow_private_targets` is on.
    #[schema(example = "https://hooks.example/jackpot")]
    pub url: String,
}

/// A topic of Kafka. The key of each record is the event's subject.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Kafka {
    /// The name of a connection of the settings (`[events.connections.NAME]`) of this kind.
    #[schema(example = "main")]
    pub connection: String,
    /// Letters, digits, `.`, `_` and `-`, up to 249. The topic must exist.
    #[schema(example = "jackpot-events")]
    pub topic: String,
}

/// A subject of NATS that a stream of `JetStream` keeps. Each message has the event's id as `Nats-Msg-Id`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Nats {
    /// The name of a connection of the settings (`[events.connections.NAME]`) of this kind.
    #[schema(example = "main")]
    pub connection: String,
    /// Words of printable ASCII without `*` and `>`, with a `.` between, up to 249 characters.
    #[schema(example = "jackpot.events")]
    pub subject: String,
}

/// A subscription, and how far it is.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Subscription)]
pub struct SubscriptionBody {
    #[schema(value_type = String, example = "accounting")]
    pub id: Id,
    pub target: Target,
    #[schema(example = json!(["payout.*"]))]
    pub types: Vec<String>,
    #[schema(example = json!(["jackpot:spring"]))]
    pub subjects: Vec<String>,
    pub from: Begin,
    /// `retrying`: at least one subject waits for another try. `disabled`: the target answered 410.
    #[schema(example = "running")]
    pub state: SubscriptionState,
    /// Whether an event has failed for 24 hours.
    pub alarm: bool,
    /// Public half of the key that signs what this subscription gets: `whpk_` and the Base64 of 32 bytes. Null while the
    /// draw secret that it is derived from is not configured.
    #[schema(example = "whpk_11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=")]
    pub verification_key: Option<String>,
    /// Its subjects that the ledger has: at most 1,000, those that fail first.
    pub streams: Vec<StreamBody>,
}

jackpot_core::names! {
    /// Whether a subscription delivers.
    #[derive(ToSchema)]
    pub enum SubscriptionState {
        /// It does.
        Running = "running",
        /// At least one subject waits for another try.
        Retrying = "retrying",
        /// An operator stopped it.
        Paused = "paused",
        /// The target answered 410.
        Disabled = "disabled",
    }
}

/// How far a subscription is with a subject.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct StreamBody {
    #[schema(example = "jackpot:spring")]
    pub subject: String,
    /// Number of the last event of the ledger that was delivered, or passed because nothing of it is subscribed to.
    #[schema(example = 8_820)]
    pub delivered_n: u64,
    /// Events that are still to be delivered. An answer reads at most 5,000 events of the ledger for it; each further one
    /// counts as one.
    #[schema(example = 0)]
    pub lag: u64,
    /// Why the last try failed; null after a success.
    #[schema(example = "the target answered 503 Service Unavailable")]
    pub last_error: Option<String>,
    /// RFC 3339; null while nothing fails.
    pub next_try_at: Option<String>,
}

/// All subscriptions.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct SubscriptionList {
    pub items: Vec<SubscriptionBody>,
}

/// What the target answered to a test event.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ProbeAnswer {
    /// Id of the event, another one each time.
    #[schema(example = "subscription:accounting:00112233445566778899aabbccddeeff:0:0")]
    pub id: String,
    /// Whether a webhook answered 2xx, or the broker acknowledged it.
    pub delivered: bool,
    /// HTTP status of a webhook's answer; null without an answer, and for brokers.
    #[schema(example = 200)]
    pub status: Option<u16>,
    /// Why it was not delivered.
    #[schema(example = json!(null))]
    pub error: Option<String>,
}
