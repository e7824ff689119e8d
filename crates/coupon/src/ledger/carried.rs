//! What a skip carries on from a coupon's event (`jackpot_kernel::ledger::skipped`). Pure.

use std::collections::BTreeMap;

use jackpot_core::ids::PersonId;
use serde::{Deserialize, Serialize};

use super::books::Books;
use super::event::Unit;
use crate::record::Redemption;

/// What is carried on from a coupon's event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CarriedCoupon {
    /// The books after it.
    pub books: Books,
    /// Records of requests that it made or changed, by request id, as Redis had them. Where later events go on with a
    /// record, it is as they need it.
    pub records: BTreeMap<String, String>,
    /// Issues that it voided, by sequence: request and user.
    pub voided: BTreeMap<u64, (String, PersonId)>,
    /// Issues that it redeemed, by sequence.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub redeemed: BTreeMap<u64, CarriedUse>,
    /// The definition that it put, JSON by version.
    pub definitions: Vec<(u64, String)>,
}

impl CarriedCoupon {
    /// The units that it voided.
    pub fn voids(&self) -> impl Iterator<Item = Unit> {
        let unit = |(sequence, (request, user)): (&u64, &(String, PersonId))| Unit {
            request: request.clone(),
            user: user.clone(),
            sequence: *sequence,
        };
        self.voided.iter().map(unit)
    }

    /// The units that it redeemed, and how.
    pub fn redemptions(&self) -> impl Iterator<Item = (Unit, Redemption)> {
        self.redeemed.iter().map(|(sequence, used)| {
            let unit = Unit {
                request: used.request.clone(),
                user: used.user.clone(),
                sequence: *sequence,
            };
            (unit, used.redemption.clone())
        })
    }
}

/// The use of a unit that is carried on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CarriedUse {
    /// The request that got the unit.
    pub request: String,
    pub user: PersonId,
    /// As its record in Redis has it.
    pub redemption: Redemption,
}
