//! What the ledger has of some issues, in tables beside that of all: the metadata of the request, and the use of the unit.

use jackpot_core::ids::{Id, PersonId};
use sqlx::Row;
use sqlx::any::AnyRow;

use crate::metadata::{Asker, Metadata};
use crate::record::Redemption;
use crate::redemption::Reference;

/// A column of a query of `coupon_issues`: how the unit was used; NULL while it was not. [`read`] reads it.
macro_rules! redeemed {
    () => {
        "(SELECT CAST(used.at_ms AS TEXT) || ' ' || used.redemption_id || ' ' || used.reference FROM coupon_redemptions AS used \
          WHERE used.coupon_id = coupon_issues.coupon_id AND used.sequence = coupon_issues.sequence) AS redeemed"
    };
}
pub(crate) use redeemed;

/// A column of a query of `coupon_issues`: the metadata of the request, JSON; NULL for none. [`asker`] reads it.
macro_rules! metadata {
    () => {
        "(SELECT kept.json FROM coupon_metadata AS kept \
          WHERE kept.coupon_id = coupon_issues.coupon_id AND kept.sequence = coupon_issues.sequence) AS metadata"
    };
}
pub(crate) use metadata;

fn damaged(what: &str) -> sqlx::Error {
    sqlx::Error::Decode(format!("{what} that no projector wrote").into())
}

/// Reads the columns `user_id` and `metadata`.
pub fn asker(row: &AnyRow) -> Result<Asker, sqlx::Error> {
    let user = PersonId::parse(row.try_get("user_id")?).map_err(|_| damaged("a user"))?;
    let json: Option<String> = row.try_get("metadata")?;
    let metadata = json.map(|json| Metadata::parse(&json).ok_or_else(|| damaged("metadata")));
    let metadata = metadata.transpose()?;
    Ok(Asker { user, metadata })
}

/// Reads the column `redeemed`.
pub fn read(row: &AnyRow) -> Result<Option<Redemption>, sqlx::Error> {
    let text: Option<String> = row.try_get("redeemed")?;
    let read = text.map(|text| parse(&text).ok_or_else(|| damaged("a redemption")));
    read.transpose()
}

fn parse(text: &str) -> Option<Redemption> {
    let mut parts = text.splitn(3, ' ');
    Some(Redemption {
        redeemed_ms: parts.next()?.parse().ok()?,
        redemption: Id::parse(parts.next()?).ok()?,
        reference: Reference::parse(parts.next()?)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_may_have_spaces() {
        let read = parse("17 till-7 a receipt").expect("a redemption");
        assert_eq!(
            (read.redeemed_ms, read.redemption.as_str(), read.reference.as_str()),
            (17, "till-7", "a receipt")
        );
        for damaged in ["", "17", "17 till-7", "x till-7 a", "17 : a", "17 till-7 "] {
            assert!(parse(damaged).is_none(), "{damaged}");
        }
    }
}
