//! Rooms and coupons that a definition names. They must exist when it is put: a room or a coupon is never removed.

use std::collections::BTreeSet;

use jackpot_core::ids::Id;
use jackpot_core::jackpot::definition::Violation;
use jackpot_core::jackpot::document::Document;
use thiserror::Error;

use super::error::PlayError;
use jackpot_coupon::coupons::Coupons;
use jackpot_kernel::sql::Sql;
use jackpot_kernel::subject::kinds::{COUPON, KindName, ROOM};
use jackpot_kernel::subject::{MaybeScript, ScriptError, ledger_mark};
use jackpot_room::rooms::Rooms;

/// Why it is unknown whether a room or coupon exists.
#[derive(Debug, Error)]
pub enum NamedError {
    /// Redis does not answer.
    #[error(transparent)]
    Play(#[from] PlayError),
    /// The ledger does not answer.
    #[error("the ledger's database: {0}")]
    Ledger(#[from] sqlx::Error),
}

/// The existing rooms and coupons.
#[derive(Debug, Clone)]
pub struct Named {
    pub coupons: Coupons,
    pub rooms: Rooms,
    pub sql: Sql,
}

impl Named {
    /// The named rooms and coupons that do not exist.
    pub async fn missing(&self, document: &Document) -> Result<Vec<Violation>, NamedError> {
        let mut missing = Vec::new();
        if let Some(room) = &document.room {
            let read = self.rooms.snapshot(room).await;
            if !self.exists(ROOM, room, &read).await? {
                let rule = format!("room '{room}' does not exist: create it first, with PUT /v1/rooms/{room}");
                missing.push(Violation::new("room", rule));
            }
        }
        let mut seen = BTreeSet::new();
        for (field, coupon) in document.coupons() {
            if !seen.insert(coupon) {
                continue;
            }
            let read = self.coupons.snapshot(coupon).await;
            if !self.exists(COUPON, coupon, &read).await? {
                let rule = format!("coupon '{coupon}' does not exist: create it first, with PUT /v1/coupons/{coupon}");
                missing.push(Violation::new(field, rule));
            }
        }
        Ok(missing)
    }

    /// Whether Redis has it, or the ledger has it and Redis lost it. A subject that can't be used now still exists.
    async fn exists<T, E: MaybeScript>(&self, of: KindName, id: &Id, read: &Result<T, E>) -> Result<bool, NamedError> {
        match read.as_ref().map_err(MaybeScript::script) {
            Err(Some(ScriptError::Unknown)) => Ok(ledger_mark(&self.sql, of, id).await?.is_some()),
            Err(Some(error @ ScriptError::Store(_))) => Err(PlayError::from(error.clone()).into()),
            Ok(_) | Err(_) => Ok(true),
        }
    }
}
