//! Which kinds of streams there are, and where the ledger keeps what it has of each.

use serde::Serialize;

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

/// Of rooms.
pub const ROOMS: Tables = Tables {
    what: "room",
    heads: "rooms",
    events: "room_events",
    id: "room_id",
    behind: None,
    prefix: "room:",
};

/// The kinds of streams, where each is treated by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Streams {
    /// Of jackpots.
    Jackpots,
    /// Of coupons.
    Coupons,
    /// Of rooms.
    Rooms,
}

impl Streams {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Jackpots, Self::Coupons, Self::Rooms];

    /// Where the ledger keeps them.
    #[must_use]
    pub fn tables(self) -> Tables {
        match self {
            Self::Jackpots => JACKPOTS,
            Self::Coupons => COUPONS,
            Self::Rooms => ROOMS,
        }
    }
}

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
    Streams::ALL
        .into_iter()
        .filter_map(|streams| text.strip_prefix(streams.tables().prefix))
        .any(|id| Id::parse(id).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_names_of_its_own() {
        let id = Id::parse("spring").expect("an id");
        let names = Streams::ALL.map(|streams| streams.tables().subject(&id));
        assert_eq!(names, ["spring", "coupon:spring", "room:spring"]);
        assert!(names.iter().all(|name| is_subject(name)));
        for wrong in ["", "room:", "other:spring", "room:coupon:spring"] {
            assert!(!is_subject(wrong), "{wrong}");
        }
    }
}
