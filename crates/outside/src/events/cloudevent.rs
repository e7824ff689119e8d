//! What is sent: `CloudEvents` 1.0 in its JSON form. Pure.

use jackpot_core::clock::rfc3339;
use jackpot_core::ids::Id;
use sha2::{Digest, Sha256};

use super::reading::Position;
use jackpot_kernel::ledger::outgoing::{Outgoing, Told};
use jackpot_kernel::subject::kinds::KindName;

/// Media type of a message.
pub const CONTENT_TYPE: &str = "application/cloudevents+json";

/// A message, ready to be sent. Every repeat of it is the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// `{kind}:{subject id}:{history}:{n}:{i}`.
    pub id: String,
    /// `{kind}:{subject id}`.
    pub subject: String,
    /// JSON.
    pub body: String,
}

/// The id of what event `n` of a subject tells as number `i`.
pub fn id_of(kind: KindName, subject: &Id, told: &Told, i: u64) -> String {
    format!("{kind}:{subject}:{}:{}:{i}", told.history, told.n)
}

/// The place that an id names.
pub fn position_of(id: &str) -> Option<Position> {
    let (rest, i) = id.rsplit_once(':')?;
    let (_, n) = rest.rsplit_once(':')?;
    Some(Position {
        n: n.parse().ok()?,
        i: i.parse().ok()?,
    })
}

impl Message {
    /// Puts an outgoing event into its envelope. No name in it needs an escape.
    pub fn of(ledger_id: &str, kind: KindName, subject: &Id, told: &Told, i: u64, event: &Outgoing) -> Self {
        let id = id_of(kind, subject, told, i);
        let body = format!(
            r#"{{"specversion":"1.0","id":"{id}","source":"/ledgers/{ledger_id}","type":"jackpot.{}.v1","subject":"{kind}:{subject}","time":"{}","datacontenttype":"application/json","sequence":"{:013}.{i:06}","data":{}}}"#,
            event.kind,
            rfc3339(told.at_ms),
            told.n,
            event.data,
        );
        Self {
            id,
            subject: format!("{kind}:{subject}"),
            body,
        }
    }

    /// What `/test` sends: an event of no subject. `nonce` is another one each time.
    pub fn test(ledger_id: &str, subscription: &Id, nonce: &str, now_ms: i64) -> Self {
        let id = format!("subscription:{subscription}:{nonce}:0:0");
        let body = format!(
            r#"{{"specversion":"1.0","id":"{id}","source":"/ledgers/{ledger_id}","type":"jackpot.test.v1","subject":"subscription:{subscription}","time":"{}","datacontenttype":"application/json","data":{{"subscription_id":"{subscription}"}}}}"#,
            rfc3339(now_ms),
        );
        Self {
            id,
            subject: format!("subscription:{subscription}"),
            body,
        }
    }

    /// The id in the headers of a webhook: the id itself may be too long for them.
    pub fn webhook_id(&self) -> String {
        hex::encode(Sha256::digest(&self.id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jackpot_kernel::subject::kinds::JACKPOT;

    #[test]
    fn a_message_is_json_with_all_that_cloudevents_asks_for() {
        let told = Told {
            n: 8_820,
            at_ms: 1_795_244_400_123,
            history: "9f1c0a44d2b7e633".to_owned(),
            events: Vec::new(),
        };
        let event = Outgoing {
            kind: "payout.created",
            data: r#"{"amount":7}"#.to_owned(),
        };
        let spring = Id::parse("spring").expect("an id");
        let message = Message::of("4f6c", JACKPOT, &spring, &told, 2, &event);
        let body: serde_json::Value = serde_json::from_str(&message.body).expect("JSON");
        let expected = serde_json::json!({
            "specversion": "1.0", "id": "jackpot:spring:9f1c0a44d2b7e633:8820:2", "source": "/ledgers/4f6c",
            "type": "jackpot.payout.created.v1", "subject": "jackpot:spring", "time": "2026-11-21T07:00:00.123Z",
            "datacontenttype": "application/json", "sequence": "0000000008820.000002", "data": {"amount": 7},
        });
        assert_eq!(body, expected);
        assert_eq!(message.id, "jackpot:spring:9f1c0a44d2b7e633:8820:2");
        let test = Message::test("4f6c", &spring, "00", 0);
        assert!(serde_json::from_str::<serde_json::Value>(&test.body).is_ok());
        assert_eq!(test.webhook_id().len(), 64);
    }
}
