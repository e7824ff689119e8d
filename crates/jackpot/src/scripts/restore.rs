//! Rebuilds a jackpot from the ledger: `lua/subject/restore_begin.lua`, `restore_records.lua` and
//! `lua/jackpot/restore_end.lua`.
//!
//! Call begin, then write the records in any order and number of calls, then call end. Each may be repeated.

use std::collections::{BTreeMap, BTreeSet};

use jackpot_core::currency::Currency;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::cycle::Cycles;
use jackpot_core::jackpot::definition::Definition;
use jackpot_core::jackpot::document::Tier;
use jackpot_core::jackpot::epoch::Opening;
use jackpot_core::jackpot::reversal::Moved;
use jackpot_core::jackpot::settlement::Voided;
use jackpot_core::names;
use jackpot_core::wire::Field;

use jackpot_api::jackpot::Status;
use jackpot_kernel::operator::Operator;
use jackpot_kernel::store::keys::JackpotKeys;
use jackpot_kernel::store::{Call, Store};
use jackpot_kernel::subject::restore::{self, RestoreEnded};

use super::packed::METERS;
use super::{RESTORE_END, ScriptError, tiers_text};

/// A definition as the state keeps it.
#[derive(Debug, Clone)]
pub struct Stamped {
    version: u64,
    tiers: Vec<Tier>,
    money: String,
}

impl Stamped {
    /// The fields of the state for a version.
    pub fn new(version: u64, definition: &Definition) -> Self {
        Self {
            version,
            tiers: definition.tiers().to_vec(),
            money: definition.money_digest(),
        }
    }
}

/// The whole state of a jackpot, from the ledger's events.
#[derive(Debug, Clone)]
pub struct RestoredState {
    /// Number of the ledger's last event.
    pub n: u64,
    /// Restores before this one, as far as the ledger knows. Redis may know of more.
    pub restores: u64,
    /// Its status after the restore.
    pub status: Status,
    /// The definition in force.
    pub in_force: Stamped,
    /// The waiting definition.
    pub waiting: Option<Stamped>,
    /// Highest version so far.
    pub last_version: u64,
    /// ISO 4217.
    pub currency: Currency,
    /// Entries so far.
    pub sequence: u64,
    /// Paid claims so far.
    pub claim_order: u64,
    /// The epoch that is open in the ledger. The restore closes it.
    pub epoch: u64,
    /// Its nonce, commitment and secret id.
    pub opening: Opening,
    /// Generation of records to write: `a` or `b`.
    pub generation: char,
    /// Sequence of the last entry before it.
    pub generation_start: u64,
    /// When it was opened, ms.
    pub generation_opened_ms: i64,
    /// Definition in force then.
    pub generation_version: u64,
    /// Shortest time for which ids are remembered, seconds.
    pub retention_s: u64,
    /// The last PUTs, `nonce mode version;` each.
    pub puts: String,
    /// Every meter by `tier:meter`, with `tier:pool`; a missing one is 0.
    pub meters: BTreeMap<String, i64>,
    /// How many records were written to each part.
    pub written: BTreeMap<Part, u64>,
    /// What tiers have outside the packed meters.
    pub moved: Vec<Moved>,
    /// Rules and cycles of its tiers.
    pub cycles: Cycles,
    /// The fields of the state that only some jackpots have.
    pub used: Vec<(&'static str, String)>,
}

names! {
    /// A part of the records, in the order of the keys of `restore_end.lua`.
    #[derive(PartialOrd, Ord)]
    pub enum Part {
        /// JSON by version.
        Definitions = "definitions",
        /// [`Epoch::to_text`](jackpot_core::jackpot::epoch::Epoch::to_text) by epoch.
        Epochs = "epochs",
        /// Records by entry id, generation `a`.
        SeenA = "seen_a",
        /// Records by entry id, generation `b`.
        SeenB = "seen_b",
        /// `digest at` by adjustment id.
        Adjustments = "adjustments",
        /// Sequences by entry id.
        Pending = "pending",
    }
}

impl Part {
    /// The key of the part.
    pub fn key(self, keys: &JackpotKeys) -> &str {
        match self {
            Self::Definitions => &keys.definitions,
            Self::Epochs => &keys.epochs,
            Self::SeenA => &keys.seen_a,
            Self::SeenB => &keys.seen_b,
            Self::Adjustments => &keys.adjustments,
            Self::Pending => &keys.pending,
        }
    }

    /// Whether that key is a sorted set.
    pub fn is_sorted(self) -> bool {
        self == Self::Pending
    }
}

/// Every key of a jackpot, its state first, as a restore deletes them. `tiers`: every tier that any of its definitions
/// named.
pub fn restored_keys(keys: &JackpotKeys, tiers: &BTreeSet<Id>) -> Vec<String> {
    let parts = Part::ALL.iter().map(|part| part.key(keys));
    let fixed = [keys.state.as_str(), &keys.events, &keys.steps]
        .into_iter()
        .chain(parts);
    let pools = tiers.iter().map(|tier| keys.pool(tier));
    fixed.map(ToOwned::to_owned).chain(pools).collect()
}

/// Writes records, as name and value ([`Part`]); `false` when another restore has taken over.
///
/// # Panics
/// When there is none, or more than `MAX_PAIRS`.
pub async fn restore_records(
    store: &Store,
    keys: &JackpotKeys,
    token: &str,
    part: Part,
    pairs: &[(String, String)],
) -> Result<bool, ScriptError> {
    let key = part.key(keys);
    restore::restore_records(store, &keys.state, key, token, part.is_sorted(), pairs).await
}

/// The new history and epoch of a restore. So lost events cannot be taken for later ones.
#[derive(Debug, Clone)]
pub struct Begins {
    /// The history.
    pub history: String,
    /// Number of the epoch: at least [`EPOCH_GAP`] above all others.
    pub epoch: u64,
    /// Its nonce, commitment and secret id.
    pub opening: Opening,
    /// The cycles that begin, prepared ([`Cycles::prepared`](jackpot_core::jackpot::cycle::Cycles::prepared)).
    pub prepared: String,
}

/// Least distance of a restore's epoch from all epochs in the ledger.
pub const EPOCH_GAP: u64 = 1_000;

/// Writes money and state and lets the other scripts run again.
pub async fn restore_end(
    store: &Store,
    keys: &JackpotKeys,
    token: &str,
    state: &RestoredState,
    begins: &Begins,
    by: &Operator,
    reason: &str,
) -> Result<RestoreEnded, ScriptError> {
    let tiers = state.tiers();
    let meter = |tier: &Id, name: &str| state.meters.get(&format!("{tier}:{name}")).copied().unwrap_or_default();
    let call = Call::new(&RESTORE_END).key(&keys.state).key(&keys.events);
    let call = Part::ALL.iter().fold(call, |call, part| call.key(part.key(keys)));
    let call = tiers.iter().fold(call, |call, tier| call.key(keys.pool(tier)));
    let row = |tier: &Id| {
        let (_, values) = METERS.each.split_first().expect("a row begins with a name");
        let values = values.iter().map(|value| format!(" {}", meter(tier, value.name)));
        format!("{tier}{};", values.collect::<String>())
    };
    let wish = restore::wish(token, by, reason)
        .with("next_history", &begins.history)
        .with("next_epoch", begins.epoch)
        .with("next_commitment", &begins.opening.commitment)
        .with("next_nonce", &begins.opening.nonce)
        .with("next_secret", &begins.opening.secret_id)
        .with("prepared", &begins.prepared)
        .with("meters", tiers.iter().map(row).collect::<String>());
    let written = |part: &Part| state.written.get(part).copied().unwrap_or_default();
    let wish = Part::ALL
        .iter()
        .fold(wish, |wish, part| wish.with(part.as_str(), written(part)));
    let fields = state
        .fields()
        .into_iter()
        .chain(state.used.clone())
        .chain(state.voided());
    let fields = fields.collect::<Vec<_>>();
    restore::restore_end(store, &RESTORE_END, call, wish, &fields).await
}

impl RestoredState {
    /// The tiers of the definition in force, and of the waiting one.
    fn tiers(&self) -> BTreeSet<Id> {
        let waiting = self.waiting.iter().flat_map(|waiting| &waiting.tiers);
        let all = self.in_force.tiers.iter().chain(waiting);
        all.map(|tier| tier.tier.clone()).collect()
    }

    /// What payouts were taken back, if any was.
    fn voided(&self) -> Option<(&'static str, String)> {
        let voided = self.meters.iter().filter_map(|(name, amount)| {
            let (tier, amount) = (name.strip_suffix(":voided")?, u64::try_from(*amount).ok()?);
            Some(Voided {
                tier: Id::parse(tier).ok()?,
                amount,
            })
        });
        let voided = Some(voided.collect::<Vec<_>>()).filter(|voided| !voided.is_empty());
        voided.map(|voided| ("voided", voided.text()))
    }

    /// The names are those of `STATE` in `lua/jackpot/state.lua`.
    fn fields(&self) -> [(&'static str, String); 25] {
        let waiting = |text: fn(&Stamped) -> String| self.waiting.as_ref().map(text).unwrap_or_default();
        let cycles = Some(&self.cycles).filter(|cycles| !cycles.is_empty());
        [
            ("n", self.n.to_string()),
            ("restores", self.restores.to_string()),
            ("status", self.status.as_str().to_owned()),
            ("version", self.in_force.version.to_string()),
            ("tiers", tiers_text(&self.in_force.tiers)),
            ("money", self.in_force.money.clone()),
            ("next", waiting(|next| next.version.to_string())),
            ("next_tiers", waiting(|next| tiers_text(&next.tiers))),
            ("next_money", waiting(|next| next.money.clone())),
            ("last_version", self.last_version.to_string()),
            ("currency", self.currency.to_string()),
            ("seq", self.sequence.to_string()),
            ("order", self.claim_order.to_string()),
            ("epoch", self.epoch.to_string()),
            ("commitment", self.opening.commitment.clone()),
            ("nonce", self.opening.nonce.clone()),
            ("secret", self.opening.secret_id.clone()),
            ("retention", self.retention_s.to_string()),
            ("gen", self.generation.to_string()),
            ("gen_start", self.generation_start.to_string()),
            ("gen_opened", self.generation_opened_ms.to_string()),
            ("gen_version", self.generation_version.to_string()),
            ("puts", self.puts.clone()),
            ("moved", self.moved.text()),
            ("cycles_text", cycles.map(Cycles::text).unwrap_or_default()),
        ]
    }
}
