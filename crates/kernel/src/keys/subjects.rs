//! What a key is bound to: the subjects that its requests may name.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use jackpot_core::ids::Id;
use serde::{Deserialize, Serialize};

use crate::subject::kinds::{self, KindName};

/// Subjects of one key: each request compares with them, and a message can still name them.
pub const MAX_SUBJECTS: usize = 100;

/// Subjects that a message names; the others are counted.
const NAMED: usize = 5;

/// A subject of any kind, written `jackpot:spring`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Subject {
    /// What it is.
    pub kind: KindName,
    /// Which one.
    pub id: Id,
}

impl FromStr for Subject {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            let forms = kinds::one_of(|kind| format!("{kind}:ID"));
            format!("name a subject as {forms}, such as jackpot:spring")
        };
        let (kind, id) = text.split_once(':').ok_or_else(wrong)?;
        let kind = KindName::parse(kind).ok_or_else(wrong)?;
        let id = Id::parse(id).map_err(|rule| format!("the id after '{kind}:' {rule}"))?;
        Ok(Self { kind, id })
    }
}

impl TryFrom<String> for Subject {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Subject> for String {
    fn from(subject: Subject) -> Self {
        subject.to_string()
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind, self.id)
    }
}

/// 1 to [`MAX_SUBJECTS`] subjects, each once, in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Subject>", into = "Vec<Subject>")]
pub struct Subjects(Arc<[Subject]>);

impl Subjects {
    /// Whether this one is among them.
    pub fn has(&self, kind: KindName, id: &str) -> bool {
        let found = self
            .0
            .binary_search_by(|own| (own.kind, own.id.as_str()).cmp(&(kind, id)));
        found.is_ok()
    }

    /// Those of a kind, in the order of their ids.
    pub fn ids(&self, kind: KindName) -> impl Iterator<Item = &Id> {
        self.0.iter().filter(move |own| own.kind == kind).map(|own| &own.id)
    }

    /// All of them, in the order of kinds and ids.
    pub fn iter(&self) -> impl Iterator<Item = &Subject> {
        self.0.iter()
    }

    /// All of them, separated by commas.
    pub fn in_full(&self) -> String {
        let all: Vec<_> = self.0.iter().map(ToString::to_string).collect();
        all.join(",")
    }
}

impl TryFrom<Vec<Subject>> for Subjects {
    type Error = String;

    fn try_from(mut all: Vec<Subject>) -> Result<Self, String> {
        all.sort();
        all.dedup();
        match all.len() {
            1..=MAX_SUBJECTS => Ok(Self(all.into())),
            0 => Err("a bound key names one subject at least".to_owned()),
            more => Err(format!(
                "{more} subjects, more than the {MAX_SUBJECTS} that a key may name"
            )),
        }
    }
}

impl From<Subjects> for Vec<Subject> {
    fn from(subjects: Subjects) -> Self {
        subjects.0.to_vec()
    }
}

/// The first few, and how many more there are.
impl fmt::Display for Subjects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, subject) in self.0.iter().take(NAMED).enumerate() {
            let separator = if i == 0 { "" } else { ", " };
            write!(f, "{separator}{subject}")?;
        }
        match self.0.len().saturating_sub(NAMED) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::kinds::{COUPON, JACKPOT, ROOM};

    fn subjects(texts: &[&str]) -> Result<Subjects, String> {
        let all: Result<Vec<Subject>, String> = texts.iter().map(|text| text.parse()).collect();
        all?.try_into()
    }

    #[test]
    fn a_subject_is_a_kind_and_an_id() {
        for text in ["jackpot:spring", "coupon:a.b_c-9", "room:lobby"] {
            assert_eq!(text.parse::<Subject>().unwrap().to_string(), text);
        }
        for wrong in [
            "",
            "spring",
            "jackpots:spring",
            "Jackpot:spring",
            "jackpot:",
            "jackpot:a:b",
            "jackpot:*",
            " jackpot:a",
        ] {
            assert!(wrong.parse::<Subject>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn they_are_counted_once_and_found_by_kind() {
        let some = subjects(&["room:a", "jackpot:b", "jackpot:a", "jackpot:b"]).unwrap();
        assert_eq!(some.in_full(), "jackpot:a,jackpot:b,room:a");
        assert!(some.has(JACKPOT, "b") && some.has(ROOM, "a"));
        assert!(!some.has(ROOM, "b") && !some.has(COUPON, "a") && !some.has(JACKPOT, "a%62"));
        let rooms: Vec<_> = some.ids(ROOM).map(Id::as_str).collect();
        assert_eq!(rooms, ["a"]);
        assert!(subjects(&[]).is_err());
    }

    #[test]
    fn a_message_names_few_of_many() {
        let many: Vec<_> = (0..=MAX_SUBJECTS).map(|i| format!("jackpot:j{i:03}")).collect();
        let many: Vec<_> = many.iter().map(String::as_str).collect();
        assert!(subjects(&many).unwrap_err().starts_with("101 subjects"));
        let text = subjects(&many[1..]).unwrap().to_string();
        assert_eq!(
            text,
            "jackpot:j001, jackpot:j002, jackpot:j003, jackpot:j004, jackpot:j005 and 95 more"
        );
    }
}
