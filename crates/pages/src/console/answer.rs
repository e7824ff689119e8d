//! Answers of the API, as pages read them: the API's own types where this crate knows them. Of others a page names the
//! fields that it shows.

use jackpot_core::currency::Currency;
pub use jackpot_kernel::ledger::api::page::PageBody as List;
use jackpot_kernel::subject::emergency::Stopped;
use serde::Deserialize;
use serde_json::Value;

/// A jackpot: what its pages show beside its definition.
#[derive(Debug, Clone, Deserialize)]
pub struct Jackpot {
    pub id: String,
    pub name: String,
    pub currency: Currency,
    pub status: String,
    pub stopped: Option<Stopped>,
    pub version: u64,
    pub meters: Vec<Meter>,
    pub pending: Option<Value>,
    #[serde(default)]
    pub approval_above: Option<u64>,
}

/// The money of a tier, in minor units.
#[derive(Debug, Clone, Deserialize)]
pub struct Meter {
    pub tier: String,
    pub pool: u64,
    pub reserve: u64,
    pub overflow: u64,
    pub contributed: u64,
    pub funded: i64,
    pub paid: u64,
    pub wins: u64,
    pub reversed: u64,
    pub transferred_in: u64,
    pub transferred_out: u64,
    pub voided: u64,
}
