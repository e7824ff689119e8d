//! The kinds of subjects, by name. This list is the only place that names all of them.

use std::cmp::Ordering;
use std::fmt;
use std::sync::OnceLock;

use jackpot_core::ids::Id;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The names of a kind of subjects. They are constants of the program, and become part of SQL statements.
#[derive(Clone, Copy)]
pub struct KindName {
    /// The column `kind` of tables, a label of metrics, an option of commands, a word of messages.
    singular: &'static str,
    /// The name in paths of the API, and in counts of all kinds.
    pub plural: &'static str,
    /// Prefix of ids where ids of all kinds are together.
    prefix: &'static str,
    /// Whether a comparison with Redis has tiers.
    pub has_tiers: bool,
    /// Its list in the answer of `GET /v1/reconciliation`.
    pub compared_as: &'static str,
    /// The rest of the help of its option of `jackpot restore`: when Redis' state may be replaced.
    pub restore_help: &'static str,
}

pub const JACKPOT: KindName = KindName {
    singular: "jackpot",
    plural: "jackpots",
    prefix: "",
    has_tiers: true,
    compared_as: "items",
    restore_help: "Then it must be paused, suspended or closed",
};

pub const COUPON: KindName = KindName {
    restore_help: "Then it must be suspended or over",
    ..KindName::new("coupon", "coupons", "coupon:")
};

pub const ROOM: KindName = KindName {
    restore_help: "Then it must be suspended. The ledger has no tickets: they are lost, and nobody is admitted until \
                   every outstanding pass has expired",
    ..KindName::new("room", "rooms", "room:")
};

/// The kinds of this program, in the order in which they are shown.
const BUILT_IN: [KindName; 3] = [JACKPOT, COUPON, ROOM];

/// Additional kinds of a program that embeds this one.
static ADDED: OnceLock<Vec<KindName>> = OnceLock::new();

/// Adds kinds that are not built in. The program does it once, before it parses anything.
///
/// # Panics
/// On a second call.
pub fn add(kinds: Vec<KindName>) {
    assert!(ADDED.set(kinds).is_ok(), "kinds are added once");
}

/// All kinds, in the order in which they are shown.
pub fn all() -> impl Iterator<Item = KindName> {
    BUILT_IN.into_iter().chain(ADDED.get().into_iter().flatten().copied())
}

/// Names as a text for people, such as "a jackpot, a coupon or a room". `of` writes each.
pub fn one_of(of: impl Fn(KindName) -> String) -> String {
    let mut names: Vec<String> = all().map(of).collect();
    match names.pop() {
        Some(last) if !names.is_empty() => format!("{} or {last}", names.join(", ")),
        last => last.unwrap_or_default(),
    }
}

/// Whether a text can be what [`KindName::subject`] gives.
pub fn is_subject(text: &str) -> bool {
    all()
        .filter_map(|kind| text.strip_prefix(kind.prefix))
        .any(|id| Id::parse(id).is_ok())
}

impl KindName {
    /// A kind without tiers. `prefix` begins its ids where ids of all kinds are together.
    pub const fn new(singular: &'static str, plural: &'static str, prefix: &'static str) -> Self {
        Self {
            singular,
            plural,
            prefix,
            has_tiers: false,
            compared_as: plural,
            restore_help: "Then it must be suspended",
        }
    }

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        self.singular
    }

    /// The kind with this name.
    pub fn parse(name: &str) -> Option<Self> {
        all().find(|kind| kind.singular == name)
    }

    /// The name of a subject where ids of all kinds are together: in the chain, the audit trail and the
    /// reconciliations.
    pub fn subject(&self, id: &Id) -> String {
        format!("{}{id}", self.prefix)
    }

    /// Whether ids of this kind have a prefix where ids of all kinds are together.
    pub const fn has_prefix(self) -> bool {
        !self.prefix.is_empty()
    }

    /// The field of answers, and the parameter of requests, that holds the id of one.
    pub fn id_field(&self) -> String {
        format!("{}_id", self.singular)
    }

    fn place(&self) -> Option<usize> {
        all().position(|kind| kind.singular == self.singular)
    }
}

impl PartialEq for KindName {
    fn eq(&self, other: &Self) -> bool {
        self.singular == other.singular
    }
}

impl Eq for KindName {}

impl PartialOrd for KindName {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The order in which kinds are shown.
impl Ord for KindName {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.place(), self.singular).cmp(&(other.place(), other.singular))
    }
}

impl fmt::Display for KindName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.singular)
    }
}

impl fmt::Debug for KindName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.singular)
    }
}

impl Serialize for KindName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.singular)
    }
}

impl<'de> Deserialize<'de> for KindName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::parse(&name).ok_or_else(|| D::Error::custom(format!("'{name}' is no kind")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_names_of_its_own() {
        let id = Id::parse("spring").expect("an id");
        let names: Vec<_> = all().map(|kind| kind.subject(&id)).collect();
        assert_eq!(names, ["spring", "coupon:spring", "room:spring"]);
        assert!(names.iter().all(|name| is_subject(name)));
        for wrong in ["", "room:", "other:spring", "room:coupon:spring"] {
            assert!(!is_subject(wrong), "{wrong}");
        }
    }

    #[test]
    fn kinds_are_in_the_order_in_which_they_are_shown() {
        let mut kinds = [ROOM, COUPON, JACKPOT];
        kinds.sort();
        assert_eq!(kinds, [JACKPOT, COUPON, ROOM]);
        assert_eq!(KindName::parse("room"), Some(ROOM));
        assert_eq!(KindName::parse("rooms"), None);
        assert_eq!(one_of(|kind| format!("{kind}:ID")), "jackpot:ID, coupon:ID or room:ID");
    }
}
