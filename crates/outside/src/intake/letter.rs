//! What goes out for a message: its answer, or a dead letter with the problem.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::Serialize;
use serde_json::{Value, json};

use super::message::Request;
use crate::broker::{Message, Record};

/// The media type of both.
const CONTENT_TYPE: &str = "application/json";

/// How much of a message a dead letter repeats. Escaped at its worst it stays below a megabyte, which brokers take by default.
const MAX_ORIGINAL_BYTES: usize = 128 * 1024;

/// What goes out is cut to a half so often, if the broker does not take it; then nothing of the message is left.
pub const MOST_CUTS: u32 = 18;

/// How much of a key goes out, in the content and beside it. A key can be as large as a whole message.
const MAX_KEY_BYTES: usize = 4 * 1024;

/// Where a message was.
#[derive(Debug, Clone, Serialize)]
pub struct Place {
    /// Topic or subject.
    pub topic: String,
    /// Partition of Kafka, or `0`.
    pub lane: String,
}

/// What an answer says of its message, and how often what it repeats is cut.
#[derive(Debug, Clone, Copy)]
pub struct Origin<'a> {
    pub place: &'a Place,
    pub record: &'a Record,
    pub cuts: u32,
}

/// The answer to a request that was taken. A cut one has no body.
pub fn reply(of: Origin<'_>, request: &Request, status: u16, body: &[u8]) -> Message {
    // A body of the API is JSON: it is repeated as it is, digits and all.
    let body = std::str::from_utf8(body).ok();
    let body = body.filter(|body| !body.is_empty() && of.cuts == 0);
    let mut head = json!({
        "kind": request.kind.as_str(),
        "target": request.target.as_str(),
        "id": request.id(),
        "status": status,
        "message": of.shown(),
    });
    if of.cuts > 0 {
        head["is_whole"] = json!(false);
    }
    let head = head.to_string();
    let content = format!("{},\"body\":{}}}", &head[..head.len() - 1], body.unwrap_or("null"));
    of.message("reply", content.into())
}

/// A message that was refused, or that is no request, with the problem as the API shows it.
pub fn dead_letter(of: Origin<'_>, problem: &Value) -> Message {
    let all = &of.record.content;
    let content = &all[..all.len().min(MAX_ORIGINAL_BYTES) >> of.cuts];
    let is_whole = content.len() == all.len();
    let mut letter = json!({"problem": problem, "message": of.shown(), "is_whole": is_whole});
    let text = match std::str::from_utf8(content) {
        Ok(text) => Some(text),
        // The cut went through a character.
        Err(error) if !is_whole && error.error_len().is_none() => {
            std::str::from_utf8(&content[..error.valid_up_to()]).ok()
        }
        Err(_) => None,
    };
    match text {
        Some(text) => letter["content"] = json!(text),
        None => letter["content_base64"] = json!(STANDARD.encode(content)),
    }
    of.message("dead", letter.to_string().into())
}

impl<'a> Origin<'a> {
    fn shown(self) -> Value {
        let (place, position) = (self.place, self.record.position);
        json!({"topic": place.topic, "lane": place.lane, "position": position, "key": self.key()})
    }

    /// Equal keys stay equal when they are cut, so what goes out for them keeps its order.
    fn key(self) -> Option<&'a str> {
        let key = self.record.key.as_deref()?;
        Some(&key[..key.floor_char_boundary(MAX_KEY_BYTES >> self.cuts)])
    }

    /// The same id at each repeat.
    fn message(self, what: &str, content: Bytes) -> Message {
        let place = self.place;
        let id = format!("{what}:{}:{}:{}", place.topic, place.lane, self.record.position);
        Message {
            key: self.key().unwrap_or(&id).to_owned(),
            id,
            content_type: CONTENT_TYPE,
            content,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::call::{problem_of, shown};
    use super::super::message::parse;
    use super::*;

    fn record(content: &[u8]) -> Record {
        Record {
            position: 17,
            key: Some("p1".to_owned()),
            pass: None,
            at_ms: 0,
            content: Bytes::copy_from_slice(content),
            wrong_headers: None,
            after: 0,
        }
    }

    fn place() -> Place {
        Place {
            topic: "in".to_owned(),
            lane: "3".to_owned(),
        }
    }

    fn of<'a>(place: &'a Place, record: &'a Record) -> Origin<'a> {
        let cuts = 0;
        Origin { place, record, cuts }
    }

    fn content(message: &Message) -> Value {
        serde_json::from_slice(&message.content).expect("JSON")
    }

    #[test]
    fn a_reply_has_the_answer_and_names_what_it_is_for() {
        let record = record(br#"{"kind":"entry","target":"spring","body":{"entry_id":"e1"}}"#);
        let request = parse(&record.content).expect("a request");
        let reply = reply(of(&place(), &record), &request, 201, br#"{"sequence":1}"#);
        assert_eq!((reply.id.as_str(), reply.key.as_str()), ("reply:in:3:17", "p1"));
        let expected = json!({"kind": "entry", "target": "spring", "id": "e1", "status": 201, "body": {"sequence": 1},
            "message": {"topic": "in", "lane": "3", "position": 17, "key": "p1"}});
        assert_eq!(content(&reply), expected);
    }

    #[test]
    fn a_dead_letter_has_the_message_as_text_or_else_as_base64() {
        let problem = json!({"code": "invalid-json"});
        let letter = dead_letter(of(&place(), &record(b"{")), &problem);
        assert_eq!(letter.id, "dead:in:3:17");
        let found = content(&letter);
        assert_eq!(
            (&found["problem"]["code"], &found["content"], &found["is_whole"]),
            (&json!("invalid-json"), &json!("{"), &json!(true))
        );
        assert_eq!(
            content(&dead_letter(of(&place(), &record(b"\xff")), &problem))["content_base64"],
            "/w=="
        );
    }

    /// What brokers count: NATS takes 1,048,576 bytes by default, Kafka 1,048,588.
    fn bytes(message: &Message) -> usize {
        message.content.len() + message.key.len() + message.id.len() + message.content_type.len()
    }

    #[test]
    fn a_dead_letter_stays_below_what_brokers_take() {
        for unit in ["\u{1}", "é", "x"] {
            let long = unit.repeat(1_000_000);
            let letter = dead_letter(of(&place(), &record(long.as_bytes())), &json!({}));
            assert!(letter.content.len() < 900_000, "{}", letter.content.len());
            let found = content(&letter);
            assert_eq!(found["is_whole"], false);
            assert!(long.starts_with(found["content"].as_str().expect("text")), "{unit}");
        }
        // Each unit takes six bytes in JSON, in the name of the member, in the content and in the key.
        let unknown = format!("{{\"{}\":1}}", "\\u0001".repeat(460_000 / 6));
        let unreadable = parse(&Bytes::from(unknown.clone())).expect_err("no request");
        let problem = shown(&problem_of(unreadable));
        let binary = String::from_utf8_lossy(&[0xff_u8].repeat(200_000)).into_owned();
        for key in ["k".repeat(530_000), "\u{1}".repeat(530_000), binary] {
            for original in [unknown.clone(), "\u{1}".repeat(1_000_000)] {
                let large = Record {
                    key: Some(key.clone()),
                    ..record(original.as_bytes())
                };
                let letter = dead_letter(of(&place(), &large), &problem);
                assert!(bytes(&letter) < 1_000_000, "{}", bytes(&letter));
                assert!(key.starts_with(&letter.key) && letter.key.len() > 4_000);
                let found = content(&letter);
                assert_eq!(found["message"]["key"], letter.key.as_str());
                let field = found["problem"]["errors"][0]["field"].as_str().expect("a name");
                assert_eq!(field.chars().count(), 201, "{field}");
            }
        }
    }

    #[test]
    fn a_reply_has_at_most_the_beginning_of_a_large_key() {
        let large = Record {
            key: Some("é".repeat(265_000)),
            ..record(br#"{"kind":"entry","target":"spring","body":{"entry_id":"e1"}}"#)
        };
        let request = parse(&large.content).expect("a request");
        let reply = reply(of(&place(), &large), &request, 201, b"{}");
        assert_eq!(reply.key, "é".repeat(MAX_KEY_BYTES / 2));
        assert_eq!(content(&reply)["message"]["key"], reply.key.as_str());
    }

    #[test]
    fn what_a_broker_does_not_take_is_cut_until_nothing_of_the_message_is_left() {
        let large = Record {
            key: Some("k".repeat(5_000)),
            ..record("\u{1}".repeat(300_000).as_bytes())
        };
        let request = parse(&Bytes::from_static(
            br#"{"kind":"entry","target":"spring","body":{"entry_id":"e1"}}"#,
        ));
        let request = request.expect("a request");
        let (place, mut letters, mut replies) = (place(), Vec::new(), Vec::new());
        for cuts in 0..=MOST_CUTS {
            let of = Origin {
                cuts,
                ..of(&place, &large)
            };
            letters.push(dead_letter(of, &json!({"code": "invalid-json"})));
            replies.push(reply(of, &request, 201, br#"{"sequence":1}"#));
        }
        for all in [&letters, &replies] {
            assert!(all.is_sorted_by(|before, after| bytes(before) >= bytes(after)));
            assert!(all.iter().all(|one| one.id == all[0].id));
            assert!(bytes(&all[all.len() - 1]) < 400, "{:?}", all[all.len() - 1]);
        }
        let last = content(&letters[letters.len() - 1]);
        assert_eq!((&last["content"], &last["is_whole"]), (&json!(""), &json!(false)));
        let cut = content(&replies[1]);
        assert_eq!(
            (&cut["body"], &cut["is_whole"], &cut["status"]),
            (&json!(null), &json!(false), &json!(201))
        );
    }
}
