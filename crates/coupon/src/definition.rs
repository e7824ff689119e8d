//! A coupon's definition, as operators put it. Pure.

use jackpot_api::coupon::Document;
use jackpot_core::clock::{parse_rfc3339, rfc3339};
use jackpot_core::money::MAX_MINOR;
use jackpot_core::violation::{Violation, check_name};
use thiserror::Error;

/// Most issues that may count for a user at once. Each request reads the whole record of its user.
pub const MAX_PER_USER: u32 = 100;
/// Largest stock: the largest integer that Lua represents exactly.
pub const MAX_STOCK: u64 = MAX_MINOR;
/// Longest window: ten years.
pub const MAX_WINDOW_S: u64 = 10 * 366 * 24 * 3_600;

/// A checked document, with its times parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    document: Document,
    starts_ms: Option<i64>,
    ends_ms: Option<i64>,
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
    pub fn check(document: Document) -> Result<Self, Vec<Violation>> {
        let mut wrong = Vec::from_iter(check_name(&document.name));
        let mut rule = |holds: bool, field: &str, rule: String| {
            if !holds {
                wrong.push(Violation::new(field, rule));
            }
        };
        rule(
            document.stock <= MAX_STOCK,
            "stock",
            format!("must be an integer from 0 to {MAX_STOCK}"),
        );
        rule(
            (1..=MAX_PER_USER).contains(&document.per_user),
            "per_user",
            format!("must be an integer from 1 to {MAX_PER_USER}"),
        );
        rule(
            document
                .per_user_window_s
                .is_none_or(|s| (1..=MAX_WINDOW_S).contains(&s)),
            "per_user_window_s",
            format!("must be null or an integer from 1 to {MAX_WINDOW_S}"),
        );
        let mut time = |field: &str, text: &Option<String>| {
            let ms = text.as_deref().and_then(parse_rfc3339).filter(|ms| *ms >= 0);
            rule(
                text.is_none() || ms.is_some(),
                field,
                "must be null or a time as in RFC 3339, from 1970 on".to_owned(),
            );
            ms
        };
        let starts_ms = time("starts_at", &document.starts_at);
        let ends_ms = time("ends_at", &document.ends_at);
        let in_order = starts_ms.zip(ends_ms).is_none_or(|(starts, ends)| starts < ends);
        rule(in_order, "ends_at", "must be after starts_at".to_owned());
        if !wrong.is_empty() {
            return Err(wrong);
        }
        let document = Document {
            starts_at: starts_ms.map(rfc3339),
            ends_at: ends_ms.map(rfc3339),
            ..document
        };
        Ok(Self {
            document,
            starts_ms,
            ends_ms,
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

    /// Most units outstanding at once.
    pub fn stock(&self) -> u64 {
        self.document.stock
    }

    /// Most issues that count for a user.
    pub fn per_user(&self) -> u32 {
        self.document.per_user
    }

    /// Ms for which an issue counts for its user; `None`: always.
    pub fn window_ms(&self) -> Option<u64> {
        self.document.per_user_window_s.map(|s| s * 1_000)
    }

    /// Ms of Redis' clock from which on it issues; `None`: from the beginning.
    pub fn starts_ms(&self) -> Option<i64> {
        self.starts_ms
    }

    /// Ms of Redis' clock from which on it issues nothing; `None`: it does not end.
    pub fn ends_ms(&self) -> Option<i64> {
        self.ends_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn check(change: &Value) -> Result<Definition, Vec<String>> {
        let mut document = json!({"name": "Coffee", "stock": 10});
        for (field, value) in change.as_object().expect("an object") {
            document[field] = value.clone();
        }
        let document = serde_json::from_value(document).expect("a document");
        Definition::check(document).map_err(|wrong| wrong.into_iter().map(|violation| violation.field).collect())
    }

    #[test]
    fn what_is_left_out_has_its_default_and_json_comes_back() {
        let plain = check(&json!({})).expect("valid");
        assert_eq!((plain.stock(), plain.per_user(), plain.window_ms()), (10, 1, None));
        assert_eq!((plain.starts_ms(), plain.ends_ms()), (None, None));
        let full = check(
            &json!({"per_user": 100, "per_user_window_s": 60, "starts_at": "2026-12-01T01:00:00+01:00",
            "ends_at": "2026-12-01T00:00:00.001Z"}),
        )
        .expect("valid");
        assert_eq!(full.document().starts_at.as_deref(), Some("2026-12-01T00:00:00.000Z"));
        assert_eq!(full.ends_ms().zip(full.starts_ms()).map(|(e, s)| e - s), Some(1));
        assert_eq!(full.window_ms(), Some(60_000));
        for definition in [plain, full] {
            assert_eq!(Definition::from_json(&definition.to_json()).expect("valid"), definition);
        }
        assert!(matches!(Definition::from_json("{}"), Err(DefinitionError::Json(_))));
        let unknown = Definition::from_json(r#"{"name":"x","stock":1,"colour":"red"}"#);
        assert!(matches!(unknown, Err(DefinitionError::Json(_))));
        let wrong = Definition::from_json(r#"{"name":"","stock":1}"#);
        assert!(matches!(wrong, Err(DefinitionError::Invalid(_))));
    }

    #[test]
    fn every_rule_is_checked() {
        for (change, field) in [
            (json!({"name": ""}), "name"),
            (json!({"stock": MAX_STOCK + 1}), "stock"),
            (json!({"per_user": 0}), "per_user"),
            (json!({"per_user": 101}), "per_user"),
            (json!({"per_user_window_s": 0}), "per_user_window_s"),
            (json!({"per_user_window_s": MAX_WINDOW_S + 1}), "per_user_window_s"),
            (json!({"starts_at": "soon"}), "starts_at"),
            (json!({"ends_at": "1969-12-31T23:59:59Z"}), "ends_at"),
            (
                json!({"starts_at": "2026-12-01T00:00:00Z", "ends_at": "2026-12-01T00:00:00Z"}),
                "ends_at",
            ),
        ] {
            assert_eq!(check(&change), Err(vec![field.to_owned()]), "{change}");
        }
        assert!(check(&json!({"stock": 0})).is_ok());
        assert!(check(&json!({"stock": MAX_STOCK})).is_ok());
    }
}
