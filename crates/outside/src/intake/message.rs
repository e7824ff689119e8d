//! What a message asks for: `{"kind":"entry"|"issue","target":"spring","body":{…}}`. The body stays text: the API reads it
//! exactly as it came.

use std::ops::Range;

use bytes::Bytes;
use jackpot_core::ids::Id;
use serde::Deserialize;
use serde::de::IgnoredAny;

jackpot_core::names! {
    /// What is asked for.
    pub enum Kind {
        Entry = "entry",
        Issue = "issue",
    }
}

/// A message that can be read.
#[derive(Debug)]
pub struct Request {
    pub kind: Kind,
    pub target: Id,
    pub body: Bytes,
}

impl Request {
    pub fn path(&self) -> String {
        match self.kind {
            Kind::Entry => format!("/v1/jackpots/{}/entries", self.target),
            Kind::Issue => format!("/v1/coupons/{}/issues", self.target),
        }
    }

    /// What the sender calls the request: its `entry_id` or `request_id`.
    pub fn id(&self) -> Option<String> {
        let ids: Ids = serde_json::from_slice(&self.body).ok()?;
        match self.kind {
            Kind::Entry => ids.entry_id,
            Kind::Issue => ids.request_id,
        }
    }
}

#[derive(Deserialize)]
struct Ids {
    entry_id: Option<String>,
    request_id: Option<String>,
}

/// Why a message can't be read.
#[derive(Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// No JSON.
    Json(String),
    /// A member is missing, unknown, repeated or of another type: its name and its rule.
    Member(String, String),
}

/// Reads a message.
pub fn parse(content: &Bytes) -> Result<Request, Unreadable> {
    let text = std::str::from_utf8(content).map_err(|error| Unreadable::Json(format!("is not UTF-8: {error}")))?;
    serde_json::from_str::<IgnoredAny>(text).map_err(|error| Unreadable::Json(format!("is not JSON: {error}")))?;
    let object = members(text).ok_or_else(|| wrong("", "must be an object with kind, target and body"))?;
    let (mut kind, mut target, mut body) = (None, None, None);
    for (name, value) in object {
        let place = match name.as_str() {
            "kind" => &mut kind,
            "target" => &mut target,
            "body" => &mut body,
            _ => return Err(wrong(&name, "is unknown: a message has kind, target and body")),
        };
        if place.replace(value).is_some() {
            return Err(wrong(&name, "must stand once"));
        }
    }
    let text_of = |name, range: Option<Range<usize>>| {
        let found = range.ok_or_else(|| wrong(name, "is missing"))?;
        serde_json::from_str::<String>(&text[found]).map_err(|_| wrong(name, "must be a string"))
    };
    let kind = Kind::parse(&text_of("kind", kind)?).ok_or_else(|| wrong("kind", "must be entry or issue"))?;
    let target = Id::parse(&text_of("target", target)?).map_err(|error| wrong("target", &error.to_string()))?;
    let body = body.ok_or_else(|| wrong("body", "is missing"))?;
    Ok(Request {
        kind,
        target,
        body: content.slice(body),
    })
}

fn wrong(name: &str, rule: &str) -> Unreadable {
    Unreadable::Member(name.to_owned(), rule.to_owned())
}

/// Name and place of each member of the object that a valid JSON text is; `None` for other values.
fn members(text: &str) -> Option<Vec<(String, Range<usize>)>> {
    let bytes = text.as_bytes();
    let mut at = after_space(bytes, 0);
    if bytes.get(at) != Some(&b'{') {
        return None;
    }
    let mut all = Vec::new();
    loop {
        at = after_space(bytes, at + 1);
        if bytes.get(at) != Some(&b'"') {
            // The end of an empty object.
            return Some(all);
        }
        let name = at..after_value(bytes, at);
        let colon = after_space(bytes, name.end);
        let begin = after_space(bytes, colon + 1);
        let end = after_value(bytes, begin);
        all.push((serde_json::from_str(&text[name]).ok()?, begin..end));
        at = after_space(bytes, end);
        if bytes.get(at) != Some(&b',') {
            return Some(all);
        }
    }
}

fn after_space(bytes: &[u8], from: usize) -> usize {
    let spaces = bytes.iter().skip(from).take_while(|byte| b" \t\r\n".contains(byte));
    from + spaces.count()
}

/// The end of the value that begins here.
fn after_value(bytes: &[u8], from: usize) -> usize {
    let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
    for (at, byte) in bytes.iter().enumerate().skip(from) {
        if in_text {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_text = false,
                _ => {}
            }
            if !in_text && depth == 0 {
                return at + 1;
            }
            continue;
        }
        match byte {
            b'"' => in_text = true,
            b'{' | b'[' => depth += 1,
            // What follows a number or a word.
            b'}' | b']' | b',' | b' ' | b'\t' | b'\r' | b'\n' if depth == 0 => return at,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn read(text: &str) -> Result<Request, Unreadable> {
        parse(&Bytes::copy_from_slice(text.as_bytes()))
    }

    fn body(text: &str) -> String {
        let request = read(text).expect("a message");
        String::from_utf8(request.body.to_vec()).expect("text")
    }

    #[test]
    fn a_request_keeps_the_text_of_its_body() {
        let text = " {\"body\" : {\"entry_id\":\"e1\",\"stake\":1.0e2, \"x\":\"}\\\"\"}, \"kind\":\"entry\",\"target\":\"spring\"} ";
        let request = read(text).expect("a message");
        assert_eq!(
            (request.kind, request.path().as_str(), request.id().as_deref()),
            (Kind::Entry, "/v1/jackpots/spring/entries", Some("e1"))
        );
        assert_eq!(body(text), "{\"entry_id\":\"e1\",\"stake\":1.0e2, \"x\":\"}\\\"\"}");
        assert_eq!(body("{\"kind\":\"issue\",\"target\":\"c\",\"body\":17}"), "17");
        assert_eq!(body("{\"kind\":\"issue\",\"target\":\"c\",\"body\": null }"), "null");
    }

    #[test]
    fn what_is_wrong_is_named() {
        let member = |text: &str| match read(text).expect_err("no message") {
            Unreadable::Member(name, _) => name,
            Unreadable::Json(error) => format!("json: {error}"),
        };
        for (text, name) in [
            ("[]", ""),
            ("{}", "kind"),
            ("{\"kind\":\"entry\"}", "target"),
            ("{\"kind\":\"entry\",\"target\":\"a\"}", "body"),
            ("{\"kind\":\"play\",\"target\":\"a\",\"body\":{}}", "kind"),
            ("{\"kind\":1,\"target\":\"a\",\"body\":{}}", "kind"),
            ("{\"kind\":\"entry\",\"target\":\"a/b\",\"body\":{}}", "target"),
            ("{\"kind\":\"entry\",\"target\":\"a\",\"body\":{},\"more\":1}", "more"),
            ("{\"kind\":\"entry\",\"target\":\"a\",\"body\":{},\"body\":{}}", "body"),
        ] {
            assert_eq!(member(text), name, "{text}");
        }
        for text in ["", "{", "nothing", "{\"kind\":}"] {
            assert!(member(text).starts_with("json: "), "{text}");
        }
        assert!(matches!(parse(&Bytes::from_static(b"\xff")), Err(Unreadable::Json(_))));
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            ".*".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            let array = prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from);
            let object = prop::collection::hash_map(".*", inner, 0..4);
            prop_oneof![array, object.prop_map(|map| json!(map))]
        })
    }

    proptest! {
        #[test]
        fn any_body_comes_through_as_it_is(value in value(), pretty in any::<bool>()) {
            let message = json!({"kind": "entry", "target": "a", "body": value});
            let text = if pretty { serde_json::to_string_pretty(&message) } else { serde_json::to_string(&message) };
            let found: Value = serde_json::from_str(&body(&text.expect("JSON"))).expect("JSON");
            prop_assert_eq!(found, value);
        }
    }
}
