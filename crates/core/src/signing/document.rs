//! The signed text of a JSON document: the document without its signature, in the form of RFC 8785.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

/// The RFC 8785 form of a flat document without its member `signature`: members sorted, no spaces. The names of members
/// are ASCII and numbers are integers up to 2^53-1, for which that form is plain sorted JSON.
///
/// A document of one kind can't pass as another kind: their members differ.
///
/// # Panics
/// If the document is not an object of plain values. Its type alone decides this.
#[must_use]
pub fn signed_text(document: &impl Serialize) -> String {
    let value = serde_json::to_value(document).expect("a document is JSON");
    let Value::Object(members) = value else {
        panic!("a document is an object");
    };
    let members: BTreeMap<String, Value> = members
        .into_iter()
        .filter(|(name, _)| name != "signature")
        .inspect(|(name, value)| {
            let plain = value.is_string() || value.is_u64() || value.is_boolean();
            assert!(plain, "member {name} of a signed document is no plain value");
        })
        .collect();
    serde_json::to_string(&members).expect("plain values are JSON")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_form_of_rfc_8785_without_the_signature() {
        let document = serde_json::json!({
            "zeta": 9_007_199_254_740_991_u64, "signature": "gone", "Alpha": 0, "alpha": "\u{0}\"\\/é\u{2028}😀\n", "b_1": true,
        });
        let mut rest = document.clone();
        rest.as_object_mut().unwrap().remove("signature");
        let text = signed_text(&document);
        assert_eq!(text, serde_json_canonicalizer::to_string(&rest).unwrap());
        assert!(text.starts_with(r#"{"Alpha":0,"alpha":"#), "{text}");
    }

    #[test]
    #[should_panic(expected = "member amount of a signed document is no plain value")]
    fn what_has_no_plain_form_is_never_signed() {
        let _ = signed_text(&serde_json::json!({"amount": 1.5}));
    }
}
