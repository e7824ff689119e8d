//! A room's definition, as operators put it. Pure.

use jackpot_api::room::Document;
use jackpot_core::clock::{parse_rfc3339, rfc3339};
use jackpot_core::violation::{Violation, check_new_name};
use thiserror::Error;

use super::return_to::{Origin, ReturnTo};

/// Most sessions at once. As many tickets take some 0.5 GB of Redis.
pub const MAX_CAPACITY: u64 = 1_000_000;
/// Longest session. A room whose tickets were lost admits nobody for this time.
pub const MAX_SESSION_S: u64 = 86_400;
/// Longest time for which the place of a silent waiting user is kept.
pub const MAX_WAITING_TIMEOUT_S: u64 = 86_400;
/// Highest rate. Redis keeps as many times.
pub const MAX_ADMISSIONS_PER_MINUTE: u64 = 1_000_000;

/// Most origins that a room lists, because the definition is read whole.
pub const MAX_RETURN_ORIGINS: usize = 100;

/// A checked document, with its time and its link parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    document: Document,
    opens_ms: Option<i64>,
    back: Option<ReturnTo>,
}

/// A definition in Redis or the ledger that cannot be read.
#[derive(Debug, Error)]
pub enum DefinitionError {
    /// It is not the JSON of a definition.
    #[error("not a definition: {0}")]
    Json(#[from] serde_json::Error),
    /// It breaks a rule.
    #[error("not a valid definition: {0:?}")]
    Invalid(Vec<Violation>),
}

impl Definition {
    /// Checks a document against every rule, and names all rules that it breaks.
    pub fn check(mut document: Document) -> Result<Self, Vec<Violation>> {
        let mut wrong = Vec::new();
        let mut range = |field: &str, value: u64, least: u64, most: u64| {
            if !(least..=most).contains(&value) {
                wrong.push(Violation::new(
                    field,
                    format!("must be an integer from {least} to {most}"),
                ));
            }
        };
        range("capacity", document.capacity, 0, MAX_CAPACITY);
        range("session_s", document.session_s, 1, MAX_SESSION_S);
        range(
            "waiting_timeout_s",
            document.waiting_timeout_s,
            1,
            MAX_WAITING_TIMEOUT_S,
        );
        if let Some(rate) = document.admissions_per_minute {
            range("admissions_per_minute", rate, 1, MAX_ADMISSIONS_PER_MINUTE);
        }
        let opens_ms = document.opens_at.as_deref().map(parse_rfc3339);
        if let Some(None | Some(..=-1)) = opens_ms {
            let rule = "must be null or a time as in RFC 3339, from 1970 on";
            wrong.push(Violation::new("opens_at", rule));
        }
        if let Some(Err(name)) = document.name.as_deref().map(check_new_name) {
            wrong.extend(name);
        }
        let back = document.back.as_deref().map(ReturnTo::parse);
        if let Some(Err(rule)) = &back {
            wrong.push(Violation::new("back", rule.to_string()));
        }
        document.return_origins = check_origins(&document.return_origins, &mut wrong);
        if !wrong.is_empty() {
            return Err(wrong);
        }
        let (opens_ms, back) = (opens_ms.flatten(), back.and_then(Result::ok));
        document.opens_at = opens_ms.map(rfc3339);
        document.back = back.as_ref().map(|back| back.as_str().to_owned());
        Ok(Self {
            document,
            opens_ms,
            back,
        })
    }

    /// Parses the result of [`Definition::to_json`].
    pub fn from_json(json: &str) -> Result<Self, DefinitionError> {
        Self::check(serde_json::from_str(json)?).map_err(DefinitionError::Invalid)
    }

    /// The JSON. Equal definitions have equal JSON: every field is there, times are in UTC.
    pub fn to_json(&self) -> String {
        serde_json::to_string(&self.document).expect("plain data is JSON")
    }

    /// The document, as operators read it.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// Sessions at once.
    pub fn capacity(&self) -> u64 {
        self.document.capacity
    }

    /// Length of a session.
    pub fn session_ms(&self) -> u64 {
        self.document.session_s * 1_000
    }

    /// How long the place of a silent waiting user is kept.
    pub fn waiting_timeout_ms(&self) -> u64 {
        self.document.waiting_timeout_s * 1_000
    }

    /// Most admissions in any 60 s.
    pub fn admissions_per_minute(&self) -> Option<u64> {
        self.document.admissions_per_minute
    }

    /// Target of the waiting page's link back.
    pub fn back(&self) -> Option<&ReturnTo> {
        self.back.as_ref()
    }

    /// Whether the waiting page may send users to this address.
    pub fn sends_to(&self, address: &ReturnTo) -> bool {
        let origin = address.origin();
        self.document
            .return_origins
            .iter()
            .any(|listed| listed == origin.as_str())
    }

    /// Nobody is admitted before.
    pub fn opens_ms(&self) -> Option<i64> {
        self.opens_ms
    }
}

/// The origins as browsers name them. `wrong` gets what is wrong with them.
fn check_origins(texts: &[String], wrong: &mut Vec<Violation>) -> Vec<String> {
    if texts.len() > MAX_RETURN_ORIGINS {
        let rule = format!("must have at most {MAX_RETURN_ORIGINS} items");
        wrong.push(Violation::new("return_origins", rule));
        return Vec::new();
    }
    let mut origins: Vec<String> = Vec::with_capacity(texts.len());
    for (i, text) in texts.iter().enumerate() {
        let rule = match Origin::parse(text) {
            Ok(origin) if origins.iter().any(|other| other == origin.as_str()) => {
                format!("must not repeat {}", origin.as_str())
            }
            Ok(origin) => {
                origins.push(origin.as_str().to_owned());
                continue;
            }
            Err(rule) => rule.to_string(),
        };
        wrong.push(Violation::new(format!("return_origins[{i}]"), rule));
    }
    origins
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(change: impl FnOnce(&mut serde_json::Value)) -> Result<Definition, Vec<String>> {
        let mut document = json!({"capacity": 10, "session_s": 60, "waiting_timeout_s": 30});
        change(&mut document);
        Definition::check(serde_json::from_value(document).unwrap())
            .map_err(|wrong| wrong.into_iter().map(|one| one.field).collect())
    }

    #[test]
    fn all_that_is_wrong_is_named() {
        let wrong = check(|room| {
            *room = json!({"capacity": 1_000_001, "session_s": 0, "waiting_timeout_s": 86_401, "admissions_per_minute": 0,
                "opens_at": "soon"});
        });
        let fields = [
            "capacity",
            "session_s",
            "waiting_timeout_s",
            "admissions_per_minute",
            "opens_at",
        ];
        assert_eq!(wrong.unwrap_err(), fields);
        assert_eq!(
            check(|room| room["opens_at"] = json!("1969-12-31T23:59:59Z")).unwrap_err(),
            ["opens_at"]
        );
    }

    #[test]
    fn names_links_and_origins_follow_their_rules() {
        let full = json!({"name": "The spring lobby", "back": "https://Shop.example",
            "return_origins": ["https://Shop.example:443", "http://localhost:3000"]});
        let with = |field: &str, value: serde_json::Value| {
            check(|room| {
                for (field, value) in full.as_object().unwrap() {
                    room[field] = value.clone();
                }
                room[field] = value;
            })
        };
        let definition = with("capacity", json!(1)).unwrap();
        let document = definition.document();
        assert_eq!(document.back.as_deref(), Some("https://shop.example/"));
        assert_eq!(
            document.return_origins,
            ["https://shop.example", "http://localhost:3000"]
        );
        for (address, sent) in [
            ("https://shop.example/play", true),
            ("https://shop.example:8443/play", false),
            ("https://evil.example/", false),
        ] {
            assert_eq!(
                definition.sends_to(&ReturnTo::parse(address).unwrap()),
                sent,
                "{address}"
            );
        }
        let many: Vec<_> = (0..=MAX_RETURN_ORIGINS)
            .map(|i| format!("https://{i}.example"))
            .collect();
        assert!(with("return_origins", json!(many[1..])).is_ok());
        for (field, value, named) in [
            ("name", json!(""), "name"),
            ("name", json!("a\u{202e}b"), "name"),
            ("back", json!("/play"), "back"),
            ("back", json!("http://shop.example"), "back"),
            (
                "return_origins",
                json!(["https://a.example", "https://b.example/"]),
                "return_origins[1]",
            ),
            (
                "return_origins",
                json!(["https://a.example", "https://A.example:443"]),
                "return_origins[1]",
            ),
            ("return_origins", json!(many), "return_origins"),
        ] {
            assert_eq!(with(field, value.clone()).unwrap_err(), [named], "{value}");
        }
    }

    #[test]
    fn a_definition_of_before_names_no_origin() {
        let before =
            r#"{"capacity":10,"session_s":60,"waiting_timeout_s":30,"admissions_per_minute":null,"opens_at":null}"#;
        let definition = Definition::from_json(before).unwrap();
        assert!(!definition.sends_to(&ReturnTo::parse("https://shop.example/").unwrap()));
        assert!(definition.document().name.is_none() && definition.back().is_none());
    }

    #[test]
    fn what_says_the_same_has_the_same_json() {
        let one = check(|room| room["opens_at"] = json!("2026-12-01T01:00:00+01:00")).unwrap();
        let other = check(|room| room["opens_at"] = json!("2026-12-01T00:00:00.000Z")).unwrap();
        assert_eq!(one.to_json(), other.to_json());
        assert_eq!(Definition::from_json(&one.to_json()).unwrap(), one);
        assert_eq!(check(|room| room["capacity"] = json!(0)).unwrap().capacity(), 0);
    }
}
