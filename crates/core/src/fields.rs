//! The fields of an event: names and values, all texts. Pure.
//!
//! The projector reads every event, so its fields stay in the text that Redis sent: one text and one list of places,
//! not a map with an allocation for each name and value.

use std::collections::BTreeMap;
use std::fmt;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

/// Digits of the longest text: Redis' limit of a value is 512 MiB.
const MAX_SIZE_DIGITS: usize = 9;
/// Places for which a new list has room: most events have fewer fields.
const USUAL_FIELDS: usize = 20;

/// Suffix of a field whose name or value is not UTF-8; both are in Base64 then. So an event keeps every byte, even one
/// that no script of ours wrote.
pub const BASE64: &str = ":base64";

/// The fields of an event, in the order of their names' bytes.
#[derive(Clone, Default)]
pub struct EventFields {
    text: String,
    places: Vec<Place>,
}

/// Where a field is in the text.
#[derive(Clone, Copy)]
struct Place {
    /// The first 8 bytes of the name. They order most names.
    head: u64,
    name: Span,
    value: Span,
}

/// A part of the text, in bytes.
#[derive(Clone, Copy)]
struct Span {
    from: u32,
    to: u32,
}

impl Span {
    fn new(from: usize, to: usize) -> Self {
        let at = |at: usize| u32::try_from(at).expect("an event is below 4 GiB: Redis limits a value to 512 MiB");
        Self {
            from: at(from),
            to: at(to),
        }
    }
}

/// Zeros stand behind a shorter name.
fn head(name: &str) -> u64 {
    let mut first = [0; size_of::<u64>()];
    let length = name.len().min(first.len());
    first[..length].copy_from_slice(&name.as_bytes()[..length]);
    u64::from_be_bytes(first)
}

impl EventFields {
    /// Reads an event as the stream has it: names and values in turn, each as `<length>:<bytes>`
    /// (`lua/subject/events.lua`). Of two fields with one name, the later one counts. Gives anything else back.
    pub fn parse(text: Vec<u8>) -> Result<Self, Vec<u8>> {
        match String::from_utf8(text) {
            Ok(text) => match places(&text) {
                Some(places) => Ok(Self { text, places }.in_order()),
                None => Err(text.into_bytes()),
            },
            Err(error) => {
                let read = sized_pairs(error.as_bytes()).map(Self::of_bytes);
                read.ok_or_else(|| error.into_bytes())
            }
        }
    }

    /// The fields with these names and values, of any bytes: see [`BASE64`].
    pub fn of_bytes<'a>(pairs: impl IntoIterator<Item = (&'a [u8], &'a [u8])>) -> Self {
        pairs.into_iter().map(|(name, value)| as_text(name, value)).collect()
    }

    /// Sorts the places, and drops all but the last of each name.
    fn in_order(mut self) -> Self {
        let Self { text, places } = &mut self;
        let name = |place: &Place| &text.as_bytes()[place.name.from as usize..place.name.to as usize];
        places.sort_by(|a, b| a.head.cmp(&b.head).then_with(|| name(a).cmp(name(b))));
        places.dedup_by(|later, place| {
            let again = later.head == place.head && name(later) == name(place);
            if again {
                *place = *later;
            }
            again
        });
        self
    }

    fn at(&self, span: Span) -> &str {
        &self.text[span.from as usize..span.to as usize]
    }

    /// The value of the field with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        let head = head(name);
        let mut places = self.places.iter();
        let found = places.find(|place| place.head == head && self.at(place.name) == name)?;
        Some(self.at(found.value))
    }

    /// Names and values, in the order of the names.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.places
            .iter()
            .map(|place| (self.at(place.name), self.at(place.value)))
    }

    /// Bytes of all names and values.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.iter().map(|(name, value)| name.len() + value.len()).sum()
    }

    /// As a JSON object of strings, sorted by name and without spaces.
    pub(crate) fn json(&self) -> String {
        // Each field adds `"":"",`, and has at least four other bytes in the stream.
        let mut out = String::with_capacity(self.text.len() + 2 * self.places.len() + 16);
        out.push('{');
        for (i, (name, value)) in self.iter().enumerate() {
            out.push_str(if i == 0 { "\"" } else { ",\"" });
            escape(name, &mut out);
            out.push_str("\":\"");
            escape(value, &mut out);
            out.push('"');
        }
        out.push('}');
        out
    }
}

/// Appends a text as it stands within the quotes of a JSON string.
fn escape(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(at) = first_escaped(rest.as_bytes()) {
        out.push_str(&rest[..at]);
        match rest.as_bytes()[at] {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            8 => out.push_str("\\b"),
            12 => out.push_str("\\f"),
            control => {
                out.push_str("\\u00");
                out.extend(
                    [control >> 4, control & 15].map(|digit| char::from(b"0123456789abcdef"[usize::from(digit)])),
                );
            }
        }
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
}

/// The first byte that JSON escapes.
fn first_escaped(bytes: &[u8]) -> Option<usize> {
    /// Bytes that are tested together: the compiler uses vector instructions for them.
    const TOGETHER: usize = 16;
    let is_escaped = |byte: &u8| *byte < b' ' || *byte == b'"' || *byte == b'\\';
    let chunks = bytes.chunks_exact(TOGETHER);
    let plain = chunks.take_while(|chunk| !chunk.iter().fold(false, |any, byte| any | is_escaped(byte)));
    let from = plain.count() * TOGETHER;
    bytes[from..].iter().position(is_escaped).map(|at| from + at)
}

/// Where the fields are in a text.
fn places(text: &str) -> Option<Vec<Place>> {
    let mut places = Vec::with_capacity(USUAL_FIELDS);
    let mut at = 0;
    while at < text.len() {
        let name = sized(text.as_bytes(), at)?;
        let value = sized(text.as_bytes(), name.1)?;
        at = value.1;
        // A length can end within a character.
        text.get(value.0..value.1)?;
        places.push(Place {
            head: head(text.get(name.0..name.1)?),
            name: Span::new(name.0, name.1),
            value: Span::new(value.0, value.1),
        });
    }
    Some(places)
}

/// The text behind the length at `at`: where it begins and ends.
fn sized(text: &[u8], at: usize) -> Option<(usize, usize)> {
    let mut size = 0;
    for (i, byte) in text[at..].iter().take(MAX_SIZE_DIGITS + 1).enumerate() {
        match byte {
            b'0'..=b'9' => size = size * 10 + usize::from(byte - b'0'),
            b':' if i > 0 => {
                let from = at + i + 1;
                let to = from + size;
                return (to <= text.len()).then_some((from, to));
            }
            _ => return None,
        }
    }
    None
}

fn sized_pairs(text: &[u8]) -> Option<Vec<(&[u8], &[u8])>> {
    let (mut pairs, mut at) = (Vec::new(), 0);
    while at < text.len() {
        let name = sized(text, at)?;
        let value = sized(text, name.1)?;
        pairs.push((&text[name.0..name.1], &text[value.0..value.1]));
        at = value.1;
    }
    Some(pairs)
}

fn as_text(name: &[u8], value: &[u8]) -> (String, String) {
    match (std::str::from_utf8(name), std::str::from_utf8(value)) {
        (Ok(name), Ok(value)) => (name.to_owned(), value.to_owned()),
        (Ok(name), Err(_)) => (format!("{name}{BASE64}"), BASE64_STANDARD.encode(value)),
        (Err(_), _) => (
            format!("{BASE64}:{}", BASE64_STANDARD.encode(name)),
            BASE64_STANDARD.encode(value),
        ),
    }
}

impl<N: AsRef<str>, V: AsRef<str>> FromIterator<(N, V)> for EventFields {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Self {
        let mut all = Self::default();
        for (name, value) in pairs {
            let (name, value) = (name.as_ref(), value.as_ref());
            let from = all.text.len();
            all.text.push_str(name);
            let middle = all.text.len();
            all.text.push_str(value);
            all.places.push(Place {
                head: head(name),
                name: Span::new(from, middle),
                value: Span::new(middle, all.text.len()),
            });
        }
        all.in_order()
    }
}

impl From<&BTreeMap<String, String>> for EventFields {
    fn from(fields: &BTreeMap<String, String>) -> Self {
        fields.iter().collect()
    }
}

impl PartialEq for EventFields {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for EventFields {}

impl fmt::Debug for EventFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// A JSON object of strings.
impl<'de> Deserialize<'de> for EventFields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = EventFields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<EventFields, A::Error> {
                let mut pairs = Vec::with_capacity(USUAL_FIELDS);
                while let Some(pair) = map.next_entry::<String, String>()? {
                    pairs.push(pair);
                }
                Ok(pairs.into_iter().collect())
            }
        }

        deserializer.deserialize_map(Object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: impl AsRef<[u8]>) -> Option<Vec<(String, String)>> {
        let own = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let fields = EventFields::parse(text.as_ref().to_vec()).ok()?;
        Some(fields.iter().map(own).collect())
    }

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn names_and_values_are_read_by_their_lengths() {
        assert_eq!(
            of("1:n1:75:block5:a\n:1:"),
            Some(vec![pair("block", "a\n:1:"), pair("n", "7")])
        );
        assert_eq!(of("4:skip0:"), Some(vec![pair("skip", "")]));
        assert_eq!(
            of("11:a long name12:a long value"),
            Some(vec![pair("a long name", "a long value")])
        );
        assert_eq!(of("000000001:n1:7"), Some(vec![pair("n", "7")]), "nine digits");
        assert_eq!(of(""), Some(Vec::new()));
    }

    #[test]
    fn what_is_cut_or_has_no_length_is_no_event() {
        for text in [
            "1:n",
            "1:n2:7",
            "n",
            ":n1:7",
            ":1:7",
            "0000000001:n1:7",
            "-1:n1:7",
            "1:n99999999999999999999:7",
            "1:n1:7x",
            "1:n1:71:m",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_kept_in_base64() {
        assert_eq!(of(b"1:n1:\xff"), Some(vec![pair("n:base64", "/w==")]));
        assert_eq!(of(b"1:\xff1:7"), Some(vec![pair(":base64:/w==", "Nw==")]));
        assert_eq!(of(b"2:n\xc31:\xa9"), Some(vec![pair(":base64:bsM=", "qQ==")]));
        assert_eq!(of("2:n\u{e9}1:7"), None, "a name that ends within a character");
        assert_eq!(of("1:n1:\u{e9}"), None, "a value that ends within a character");
    }

    #[test]
    fn fields_are_found_by_name_in_order_and_the_last_one_of_a_name_counts() {
        let names = [
            "block_of_a",
            "block_of",
            "block_of_b",
            "a",
            "",
            "a\0",
            "block_of_a",
            "é",
        ];
        let fields: EventFields = names
            .into_iter()
            .zip(["1", "2", "3", "4", "5", "6", "7", "8"])
            .collect();
        let own = |(name, value): (&str, &str)| pair(name, value);
        let map: BTreeMap<String, String> = fields.iter().map(own).collect();
        assert!(fields.iter().map(own).eq(map.clone()), "{fields:?}");
        assert_eq!(map.len(), names.len() - 1);
        assert_eq!(fields.get("block_of_a"), Some("7"));
        assert_eq!(
            (fields.get("a"), fields.get("a\0"), fields.get("b")),
            (Some("4"), Some("6"), None)
        );
        assert_eq!(EventFields::from(&map), fields);
        assert_ne!(EventFields::default(), fields);
        assert_eq!(fields.bytes(), 10 + 8 + 10 + 1 + 2 + 2 + 7);
        let error = serde_json::from_str::<EventFields>("7")
            .expect_err("no object")
            .to_string();
        assert!(error.contains("expected a map"), "{error}");
        assert_eq!(serde_json::from_str::<EventFields>(&fields.json()).ok(), Some(fields));
    }
}
