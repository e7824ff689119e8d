//! What a subscriber got, each event once by its id. Pure.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use crate::jackpot::Receipt;

/// The types whose data the rules compare.
const TAKEN: &str = "jackpot.entry.taken.v1";
const REVERSED: &str = "jackpot.entry.reversed.v1";
const PAID: &str = "jackpot.payout.created.v1";
/// A probe: an event of no subject.
const TEST: &str = "jackpot.test.v1";

/// Everything that came.
#[derive(Debug, Clone, Default)]
pub struct Got {
    /// By subject: `jackpot:spring`.
    pub subjects: BTreeMap<String, Subject>,
    /// Events that came again, each with the body that it had before.
    pub repeats: u64,
    /// What no subscriber should get; in words.
    pub wrong: Vec<String>,
    /// Hashes of the bodies by id.
    known: HashMap<String, [u8; 32]>,
}

/// The events of one subject, in the order in which each first came.
#[derive(Debug, Clone, Default)]
pub struct Subject {
    /// `n` and `i` of each.
    pub places: Vec<(u64, u64)>,
    pub entries: Vec<Taken>,
    pub payouts: Vec<Paid>,
    /// Ids of the entries that were reversed.
    pub reversed: Vec<String>,
}

/// An entry, as an event has it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Taken {
    pub sequence: u64,
    pub entry_id: String,
    /// Minor units.
    pub stake: i64,
    pub source_id: Option<String>,
}

/// A payout, as an event has it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Paid {
    pub payout_id: String,
    #[serde(flatten)]
    pub receipt: Receipt,
    /// The id of the event, by the receipt in it.
    pub event_id: String,
}

#[derive(Deserialize)]
struct Envelope {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    subject: String,
    sequence: Option<String>,
}

#[derive(Deserialize)]
struct With<T> {
    data: T,
}

#[derive(Deserialize)]
struct Block {
    entries: Vec<Taken>,
}

#[derive(Deserialize)]
struct Reversed {
    entry_id: String,
}

impl Got {
    /// Takes one delivery whose signature is right. `webhook_id` is the header.
    pub fn take(&mut self, webhook_id: &str, body: &[u8]) {
        if let Err(what) = self.try_take(webhook_id, body) {
            self.wrong.push(what);
        }
    }

    /// Events, each once.
    pub fn delivered(&self) -> u64 {
        self.subjects.values().map(|subject| subject.places.len() as u64).sum()
    }

    fn try_take(&mut self, webhook_id: &str, body: &[u8]) -> Result<(), String> {
        let event: Envelope = read(body)?;
        let id = event.id.clone();
        if hex::encode(Sha256::digest(&id)) != webhook_id {
            return Err(format!("{id}: webhook-id is not the hash of the id"));
        }
        if event.kind == TEST {
            return Ok(());
        }
        let hash = Sha256::digest(body).into();
        match self.known.get(&id) {
            Some(before) if *before == hash => self.repeats += 1,
            Some(_) => return Err(format!("{id}: a repeat has another body")),
            None => {
                self.add(&event, body).map_err(|what| format!("{id}: {what}"))?;
                self.known.insert(id, hash);
            }
        }
        Ok(())
    }

    fn add(&mut self, event: &Envelope, body: &[u8]) -> Result<(), String> {
        let place = place(event).ok_or("its id is not that of its subject and sequence")?;
        let subject = self.subjects.entry(event.subject.clone()).or_default();
        match event.kind.as_str() {
            TAKEN => subject.entries.extend(data::<Block>(body)?.entries),
            REVERSED => subject.reversed.push(data::<Reversed>(body)?.entry_id),
            PAID => {
                let paid: Paid = data(body)?;
                if paid.event_id != event.id {
                    return Err(format!("its receipt has the event_id {}", paid.event_id));
                }
                subject.payouts.push(paid);
            }
            _ => {}
        }
        subject.places.push(place);
        Ok(())
    }
}

/// `n` and `i` of an id `{subject}:{history}:{n}:{i}`, which `sequence` has too.
fn place(event: &Envelope) -> Option<(u64, u64)> {
    let rest = event.id.strip_prefix(&event.subject)?.strip_prefix(':')?;
    let [history, n, i] = rest.split(':').collect::<Vec<_>>().try_into().ok()?;
    let (n, i): (u64, u64) = (n.parse().ok()?, i.parse().ok()?);
    let is_history = history.len() == 16 && history.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_it = is_history && event.sequence.as_deref() == Some(&format!("{n:013}.{i:06}"));
    is_it.then_some((n, i))
}

fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, String> {
    serde_json::from_slice(body).map_err(|error| {
        let begin: String = String::from_utf8_lossy(body).chars().take(80).collect();
        format!("{begin}… can't be read: {error}")
    })
}

fn data<T: DeserializeOwned>(body: &[u8]) -> Result<T, String> {
    read::<With<T>>(body).map(|with| with.data)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use sha2::{Digest, Sha256};

    use super::Got;

    const HISTORY: &str = "9f1c0a44d2b7e633";

    fn event(n: u64, i: u64, kind: &str, data: &Value) -> Value {
        json!({"id": format!("jackpot:spring:{HISTORY}:{n}:{i}"), "subject": "jackpot:spring",
            "type": format!("jackpot.{kind}.v1"), "sequence": format!("{n:013}.{i:06}"), "data": data})
    }

    fn take(got: &mut Got, event: &Value) {
        let id = hex::encode(Sha256::digest(event["id"].as_str().expect("an id")));
        got.take(&id, event.to_string().as_bytes());
    }

    #[test]
    fn an_event_counts_once_and_its_repeats_apart() {
        let mut got = Got::default();
        let taken = event(
            1,
            0,
            "entry.taken",
            &json!({"part": 1, "parts": 1, "entries": [
            {"entry_id": "e1", "player_id": "p", "stake": 5, "source_id": null, "sequence": 1, "contributions": []}]}),
        );
        let paid = event(
            1,
            1,
            "payout.created",
            &json!({"payout_id": "p1", "entry_id": "e1", "tier": "grand",
            "amount": 7, "claim_order": 1, "event_id": format!("jackpot:spring:{HISTORY}:1:1")}),
        );
        let step = event(2, 0, "stream.step", &json!({}));
        for one in [&taken, &paid, &taken, &paid, &step, &step] {
            take(&mut got, one);
        }
        take(
            &mut got,
            &json!({"id": "subscription:s:0:0:0", "subject": "subscription:s", "type": "jackpot.test.v1"}),
        );
        let subject = &got.subjects["jackpot:spring"];
        assert_eq!(subject.places, [(1, 0), (1, 1), (2, 0)]);
        assert_eq!((subject.entries.len(), subject.payouts[0].receipt.amount), (1, 7));
        assert_eq!((got.delivered(), got.repeats, got.wrong.len()), (3, 3, 0));
    }

    #[test]
    fn what_is_no_event_of_the_contract_is_named() {
        let step = || event(2, 0, "stream.step", &json!({}));
        let with = |name: &str, value: Value| {
            let mut event = step();
            event[name] = value;
            event
        };
        let receipt = json!({"payout_id": "p1", "entry_id": "e1", "tier": "grand", "amount": 7, "claim_order": 1,
            "event_id": "jackpot:spring:0:1:1"});
        for (event, named) in [
            (with("sequence", json!("2.0")), "sequence"),
            (with("subject", json!("jackpot:other")), "subject"),
            (with("id", json!("jackpot:spring:2:0")), "its id"),
            (event(3, 0, "payout.created", &receipt), "event_id"),
            (event(3, 0, "entry.taken", &json!({"entries": 3})), "can't be read"),
        ] {
            let mut got = Got::default();
            take(&mut got, &event);
            assert!(got.wrong[0].contains(named), "{named}: {:?}", got.wrong);
            assert_eq!(got.delivered(), 0);
        }
        let mut got = Got::default();
        take(&mut got, &step());
        take(&mut got, &with("data", json!({"another": 1})));
        got.take("x", step().to_string().as_bytes());
        got.take("x", b"{");
        assert!(got.wrong[0].contains("another body") && got.wrong[1].contains("webhook-id"));
        assert!(got.wrong[2].contains("can't be read"), "{:?}", got.wrong);
    }
}
