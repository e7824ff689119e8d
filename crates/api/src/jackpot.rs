//! A jackpot: its definition, status and meters, its pools over time, and its last winners.

use std::borrow::Cow;
use std::collections::BTreeMap;

use jackpot_core::currency::Currency;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::document::{Contribution, Document, OddsTable, PutStatus, ReverseBy, Source, Tier, Winners};
use jackpot_core::jackpot::settlement::Settlement;
use jackpot_core::money::Minor;
use jackpot_kernel::subject::emergency::Stopped;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::ledger::SourceMeters;

jackpot_core::names! {
    /// Whether a jackpot takes entries.
    #[derive(ToSchema)]
    #[schema(as = JackpotStatus)]
    pub enum Status as "`open`, `paused`, `suspended` or `closed`" {
        /// It does.
        Open = "open",
        /// An operator stopped it.
        Paused = "paused",
        /// The service stopped it, because its books do not agree.
        Suspended = "suspended",
        /// Closed for good.
        Closed = "closed",
    }
}

impl From<PutStatus> for Status {
    fn from(status: PutStatus) -> Self {
        match status {
            PutStatus::Open => Self::Open,
            PutStatus::Paused => Self::Paused,
            PutStatus::Suspended => Self::Suspended,
            PutStatus::Closed => Self::Closed,
        }
    }
}

/// A jackpot: its definition, status and meters. The fields of the definition are repeated here: its `status` and
/// `min_stake` are others in a definition.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Jackpot {
    #[schema(value_type = String, example = "spring")]
    pub id: Id,
    #[schema(example = "Spring wheel")]
    pub name: String,
    #[schema(value_type = String, example = "KRW")]
    pub currency: Currency,
    /// Whether it takes entries.
    #[schema(example = "open")]
    pub status: Status,
    /// The emergency stop while it lasts, else null.
    pub stopped: Option<Stopped>,
    pub contribution: Contribution,
    pub tiers: Vec<Tier>,
    #[serde(serialize_with = "OddsTable::serialize_whole")]
    pub odds: OddsTable,
    pub max_redraws: u32,
    #[schema(value_type = u64)]
    pub min_stake: Minor,
    #[schema(value_type = Option<u64>)]
    pub max_stake: Option<Minor>,
    pub public_meter: bool,
    pub origins: Vec<String>,
    pub winners: Winners,
    /// As in force.
    pub settlement: Settlement,
    /// As in force: an amount that a PUT raised or removed comes into force with its approval.
    #[schema(value_type = Option<u64>, example = json!(null))]
    pub approval_above: Option<Minor>,
    #[schema(example = 300)]
    pub reverse_within_s: u64,
    pub reverse_by: ReverseBy,
    #[schema(value_type = Option<String>)]
    pub room: Option<Id>,
    /// The games, sites or channels that feed it.
    #[serde(serialize_with = "sources_whole")]
    #[schema(value_type = std::collections::HashMap<String, Source>)]
    pub sources: BTreeMap<Id, Source>,
    /// Version of the definition in force.
    #[schema(example = 3)]
    pub version: u64,
    /// The definition that waits: for the next take of all, or for an approval of its limit.
    pub pending: Option<PendingDefinition>,
    pub meters: Vec<MeterBody>,
    /// What the source has brought and won, by the ledger: only in an answer to `source_id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub source: Option<SourceMeters>,
}

impl Jackpot {
    /// One that nothing stops, with this definition in force.
    pub fn new(document: Document, pending: Option<PendingDefinition>, status: Status, version: u64) -> Self {
        Self {
            min_stake: document.min_stake(),
            id: document.id,
            name: document.name,
            currency: document.currency,
            status,
            stopped: None,
            contribution: document.contribution,
            tiers: document.tiers,
            odds: document.odds,
            max_redraws: document.max_redraws,
            max_stake: document.max_stake,
            public_meter: document.public_meter,
            origins: document.origins,
            winners: document.winners,
            settlement: document.settlement,
            approval_above: document.approval_above,
            reverse_within_s: document.reverse_within_s,
            reverse_by: document.reverse_by,
            room: document.room,
            sources: document.sources,
            version,
            pending,
            meters: Vec::new(),
            source: None,
        }
    }
}

/// A definition that waits, with the fields that its stored text leaves out.
#[derive(Debug, Clone)]
pub struct PendingDefinition {
    /// As it was put.
    pub document: Document,
    /// The last version.
    pub version: u64,
}

impl PartialSchema for PendingDefinition {
    /// That of a definition, with the version.
    fn schema() -> RefOr<Schema> {
        let mut schema = Document::schema();
        if let RefOr::T(Schema::Object(object)) = &mut schema {
            object.description = Some("A definition that waits, and its version.".to_owned());
            object.properties.insert("version".to_owned(), u64::schema());
            object.required.push("version".to_owned());
        }
        schema
    }
}

impl ToSchema for PendingDefinition {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("PendingDefinition")
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        Document::schemas(schemas);
    }
}

impl Serialize for PendingDefinition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let document = &self.document;
        let mut shown = serde_json::to_value(document).expect("plain data is JSON");
        shown["version"] = json!(self.version);
        shown["origins"] = json!(document.origins);
        shown["winners"] = json!(document.winners);
        shown["settlement"] = json!(document.settlement);
        shown["approval_above"] = json!(document.approval_above);
        shown["odds"]["per_stake"] = json!(document.odds.per_stake);
        shown["sources"] = json!(whole(&document.sources));
        shown["reverse_within_s"] = json!(document.reverse_within_s);
        shown["reverse_by"] = json!(document.reverse_by);
        shown.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for PendingDefinition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut shown = Map::deserialize(deserializer)?;
        let version = shown.remove("version").as_ref().and_then(Value::as_u64);
        Ok(Self {
            version: version.ok_or_else(|| D::Error::missing_field("version"))?,
            document: Document::deserialize(Value::Object(shown)).map_err(D::Error::custom)?,
        })
    }
}

/// The sources, with the fields that their stored text leaves out.
fn sources_whole<S: Serializer>(sources: &BTreeMap<Id, Source>, serializer: S) -> Result<S::Ok, S::Error> {
    whole(sources).serialize(serializer)
}

fn whole(sources: &BTreeMap<Id, Source>) -> BTreeMap<&Id, Value> {
    let one = |source: &Source| json!({"contribution": source.contribution, "draw": source.draw, "keys": source.keys});
    sources.iter().map(|(id, source)| (id, one(source))).collect()
}

/// A version of a definition in its public form.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct DefinitionOfVersion {
    #[schema(value_type = String, example = "spring")]
    pub id: Id,
    #[schema(example = 3)]
    pub version: u64,
    #[schema(example = "Spring wheel")]
    pub name: String,
    #[schema(value_type = String, example = "KRW")]
    pub currency: Currency,
    pub contribution: Contribution,
    pub tiers: Vec<Tier>,
    #[serde(serialize_with = "OddsTable::serialize_whole")]
    pub odds: OddsTable,
    pub max_redraws: u32,
    #[schema(value_type = u64)]
    pub min_stake: Minor,
    #[schema(value_type = Option<u64>)]
    pub max_stake: Option<Minor>,
    pub public_meter: bool,
    pub origins: Vec<String>,
    pub winners: Winners,
    pub settlement: Settlement,
    #[schema(example = 300)]
    pub reverse_within_s: u64,
}

impl DefinitionOfVersion {
    /// The public form of a definition.
    pub fn new(document: Document, version: u64) -> Self {
        Self {
            min_stake: document.min_stake(),
            id: document.id,
            version,
            name: document.name,
            currency: document.currency,
            contribution: document.contribution,
            tiers: document.tiers,
            odds: document.odds,
            max_redraws: document.max_redraws,
            max_stake: document.max_stake,
            public_meter: document.public_meter,
            origins: document.origins,
            winners: document.winners,
            settlement: document.settlement,
            reverse_within_s: document.reverse_within_s,
        }
    }
}

/// The money of a tier, in minor units unless named otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MeterBody {
    #[schema(value_type = String, example = "grand")]
    pub tier: Id,
    /// The pool from which winners are paid.
    pub pool: u64,
    /// Pays for the next seed.
    pub reserve: u64,
    /// Contributions beyond the cap.
    pub overflow: u64,
    /// Millionths carried, of pool and reserve together.
    pub remainder_micro: u64,
    /// Whole units of the exact sum of contributions.
    pub contributed: u64,
    /// Paid in minus taken out by operators.
    pub funded: i64,
    /// Paid by claims.
    pub paid: u64,
    /// Takes of all.
    pub wins: u64,
    /// Given back for cancelled rounds: whole units of the exact sum.
    pub reversed: u64,
    /// Came from other jackpots: whole units of the exact sum.
    pub transferred_in: u64,
    /// Went to other jackpots: whole units of the exact sum.
    pub transferred_out: u64,
    /// Payouts that were taken back: they are in the overflow again.
    pub voided: u64,
}

/// The pools of a jackpot.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct MeterNow {
    #[schema(value_type = String, example = "spring")]
    pub jackpot_id: Id,
    /// Whether it takes entries.
    #[schema(example = "open")]
    pub status: Status,
    /// The emergency stop while it lasts, else null.
    pub stopped: Option<Stopped>,
    /// ISO 4217, or a game's own.
    #[schema(value_type = String, example = "EUR")]
    pub currency: Currency,
    /// Decimals of the currency by ISO 4217, 0 for a game's own: show amounts by them.
    #[schema(example = 2)]
    pub digits: u32,
    pub meters: Vec<TierPool>,
    /// Time of the reading, RFC 3339.
    pub at: String,
}

impl MeterNow {
    /// Whether it has this tier.
    pub fn has(&self, tier: &Id) -> bool {
        self.meters.iter().any(|meter| meter.tier == *tier)
    }
}

/// The pool of a tier, in minor units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TierPool {
    #[schema(value_type = String, example = "grand")]
    pub tier: Id,
    #[schema(example = 18_811)]
    pub pool: u64,
}

/// What a pool held, step by step.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct MeterHistory {
    #[schema(value_type = String, example = "grand")]
    pub tier: Id,
    /// Length of a step in seconds: 60, 3600 or 86400.
    #[schema(example = 3_600)]
    pub step_s: i64,
    /// One for each step since the jackpot was created, oldest first, at most the last 1,000. The last one is the current
    /// step.
    pub points: Vec<HistoryPoint>,
}

/// A step.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct HistoryPoint {
    /// Its begin, RFC 3339. Hours and days are those of UTC.
    #[schema(example = "2026-11-21T06:00:00.000Z")]
    pub at: String,
    /// What the pool held at its end, minor units.
    #[schema(example = 18_811)]
    pub pool: i64,
}

/// The last payouts of a jackpot, newest first, at most 100.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct WinnerList {
    pub items: Vec<WinnerItem>,
}

/// A payout as players may see it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct WinnerItem {
    /// Out of which tier.
    #[schema(example = "grand")]
    pub tier: String,
    /// Minor units.
    #[schema(example = 18_811)]
    pub amount: i64,
    /// When it was paid, RFC 3339.
    #[schema(example = "2026-11-21T06:00:00.123Z")]
    pub at: String,
    /// The player: masked (the first third of its characters, at most 4, and `…`) or whole, as the definition's `winners`
    /// says.
    #[schema(example = "secr…")]
    pub player: String,
}
