//! Which kinds of streams there are, and where the ledger keeps what it has of each.

use crate::ids::Id;

/// Names of a kind of streams. They are written in this program, and become part of statements.
#[derive(Debug, Clone, Copy)]
pub struct Tables {
    /// What one of the kind is called: label of metrics, and in messages.
    pub what: &'static str,
    /// Table with a row for each: cursor, books, lease.
    pub heads: &'static str,
    /// Table of the events.
    pub events: &'static str,
    /// Column of the id in both.
    pub id: &'static str,
    /// Column of a second cursor in `heads`, of what is written behind the events.
    pub behind: Option<&'static str>,
    /// In front of the id wherever ids of all kinds are together.
    prefix: &'static str,
}

/// Of jackpots.
pub const JACKPOTS: Tables = Tables {
    what: "jackpot",
    heads: "jackpots",
    events: "events",
    id: "jackpot_id",
    behind: Some("indexed_n"),
    prefix: "",
};

/// Of coupons.
pub const COUPONS: Tables = Tables {
    what: "coupon",
    heads: "coupons",
    events: "coupon_events",
    id: "coupon_id",
    behind: None,
    prefix: "coupon:",
};

impl Tables {
    /// One of the kind, where ids of all kinds are together: in the chain, the audit trail and the reconciliations.
    #[must_use]
    pub fn subject(&self, id: &Id) -> String {
        format!("{}{id}", self.prefix)
    }

    /// The same in SQL, of this column.
    #[must_use]
    pub fn subject_of(&self, column: &str) -> String {
        match self.prefix {
            "" => column.to_owned(),
            prefix => format!("'{prefix}' || {column}"),
        }
    }
}

/// Whether something may be called so where ids of all kinds are together.
#[must_use]
pub fn is_subject(text: &str) -> bool {
    Id::parse(text.strip_prefix(COUPONS.prefix).unwrap_or(text)).is_ok()
}
