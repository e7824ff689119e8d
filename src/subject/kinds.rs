//! The kinds of streams, and their names in the ledger.

use jackpot_core::ids::Id;
use serde::Serialize;

/// Names of a kind of streams. They are constants of this program, and become part of statements.
#[derive(Debug, Clone, Copy)]
pub struct Tables {
    /// The name of the kind: the column `kind` of tables, a label of metrics, a word of messages.
    pub what: &'static str,
    /// Whether its entries are in the index by player, which has a cursor of its own.
    pub indexed: bool,
    /// Prefix of ids where ids of all kinds are together.
    prefix: &'static str,
}

pub const JACKPOTS: Tables = Tables {
    what: "jackpot",
    indexed: true,
    prefix: "",
};

pub const COUPONS: Tables = Tables {
    what: "coupon",
    indexed: false,
    prefix: "coupon:",
};

pub const ROOMS: Tables = Tables {
    what: "room",
    indexed: false,
    prefix: "room:",
};

/// The kinds of streams, for code that treats each by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Streams {
    Jackpots,
    Coupons,
    Rooms,
}

impl Streams {
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
    /// The name of a subject where ids of all kinds are together: in the chain, the audit trail and the
    /// reconciliations.
    #[must_use]
    pub fn subject(&self, id: &Id) -> String {
        format!("{}{id}", self.prefix)
    }
}

/// Whether a text can be such a name.
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
