//! The list of users who joined a room before its opening. `jackpot verify` recomputes their order from the published
//! seed, and names the first line that is wrong.

use std::collections::BTreeSet;
use std::process::{Command, Output};

use jackpot::proof::verify::pre_queue::OrderFormat;
use jackpot::proof::verify::{Place, PreQueue, Trusted, Verified, VerifyError, verify_any};
use jackpot::room::pre_queue_line::{FORMAT, Heading, KIND};
use jackpot::room::ticket::{OrderSeed, Ticket};
use jackpot_core::ids::Id;
use jackpot_core::secret::MasterSecret;

use crate::room::ledger::fixture::sha256;
use crate::support::prelude::*;

/// A list as a service publishes it, line by line.
#[derive(Clone)]
struct List {
    lines: Vec<Value>,
}

impl List {
    /// A list of `count` tickets.
    fn of(count: u64) -> Self {
        let tickets: Vec<_> = (1..=count).map(|_| Ticket::random().unwrap()).collect();
        let seed = seed();
        let heading = Heading {
            format: FORMAT,
            room_id: room(),
            opens_at: Some("2026-12-01T10:00:00Z".to_owned()),
            nonce: NONCE.to_owned(),
            commitment: seed.commitment(),
            seed: seed.reveal(),
            joined: count,
            sha256: sha256(&tickets),
        };
        let joins = (1..).zip(&tickets);
        let joins = joins.map(|(join, ticket)| json!({"join": join, "ticket": ticket}));
        Self {
            lines: std::iter::once(json!(heading)).chain(joins).collect(),
        }
    }

    fn text(&self) -> String {
        self.lines
            .iter()
            .fold(String::new(), |text, line| text + line.to_string().as_str() + "\n")
    }

    fn verify(&self) -> PreQueue {
        self.verify_with(None, None)
    }

    fn verify_with(&self, commitment: Option<&str>, sha256: Option<&str>) -> PreQueue {
        let trusted = Trusted {
            commitment: commitment.map(str::to_owned),
            sha256: sha256.map(str::to_owned),
            ..Trusted::default()
        };
        match verify_any(self.text().as_bytes(), trusted).expect("a list") {
            Verified::PreQueue(list) => *list,
            Verified::Ledger(report) => panic!("a list: {report}"),
        }
    }

    /// The report finds this change in this line.
    fn tampered(&self, change: impl FnOnce(&mut Self), line: u64, what: &str) {
        let mut list = self.clone();
        change(&mut list);
        let found = list.verify();
        let problem = found.problem.as_ref().expect("something wrong");
        assert!(
            problem.place == Place::Line(line) && problem.what.contains(what),
            "{found}"
        );
        assert!(found.order.is_empty() && found.to_string().contains(&format!("line {line}")));
    }

    /// Writes number and hash of the tickets into the heading.
    fn close(&mut self) {
        let tickets: Vec<_> = self.lines[1..]
            .iter()
            .map(|line| Ticket::parse(line["ticket"].as_str().unwrap()).unwrap())
            .collect();
        self.lines[0]["joined"] = json!(tickets.len());
        self.lines[0]["sha256"] = json!(sha256(&tickets));
    }
}

fn room() -> Id {
    Id::parse("lobby").unwrap()
}

const NONCE: &str = "00112233445566778899aabbccddeeff";

fn seed() -> OrderSeed {
    OrderSeed::of(&MasterSecret::new([0x5f; 32]), &room(), NONCE)
}

#[test]
fn the_order_follows_from_the_seed() {
    let list = List::of(500);
    assert_eq!(list.lines[0]["kind"], KIND);
    let found = list.verify();
    assert!(found.is_right(), "{found}");
    let orders: Vec<_> = found.order.iter().map(|placed| seed().order(placed.ticket)).collect();
    assert!(orders.is_sorted() && orders.len() == 500, "{orders:?}");
    let positions: Vec<_> = found.order.iter().map(|placed| placed.position).collect();
    assert_eq!(positions, (1..=500).collect::<Vec<_>>());
    for placed in &found.order {
        let line = &list.lines[usize::try_from(placed.join).unwrap()];
        assert_eq!(line, &json!({"join": placed.join, "ticket": placed.ticket}));
    }
    let joins: BTreeSet<_> = found.order.iter().map(|placed| placed.join).collect();
    assert_eq!(joins.len(), 500);
    assert!(!found.order.is_sorted_by_key(|placed| placed.join), "by chance");
    let mut csv = Vec::new();
    found.write_order(&mut csv, OrderFormat::Csv).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    let first = &found.order[0];
    let row = format!("1,{},{}", first.ticket, first.join);
    assert_eq!(csv.lines().take(2).collect::<Vec<_>>(), ["position,ticket,join", &row]);
    assert_eq!(csv.lines().count(), 501);
    let mut lines = Vec::new();
    found.write_order(&mut lines, OrderFormat::Ndjson).unwrap();
    let line: Value = serde_json::from_slice(lines.split(|byte| *byte == b'\n').next().unwrap()).unwrap();
    assert_eq!(line, json!({"position": 1, "ticket": first.ticket, "join": first.join}));
}

#[test]
fn a_room_that_nobody_joined_before_has_an_empty_order() {
    let found = List::of(0).verify();
    assert!(found.is_right() && found.order.is_empty(), "{found}");
    // This is the well-known SHA-256 of nothing.
    assert!(found.heading.sha256.starts_with("e3b0c44298fc1c14"));
}

#[test]
fn the_first_wrong_line_is_named() {
    let list = List::of(9);
    let gap = "its number is 6, the next one is 5";
    list.tampered(|list| drop(list.lines.remove(5)), 6, gap);
    list.tampered(|list| list.lines.swap(3, 4), 4, "its number is 4, the next one is 3");
    list.tampered(|list| list.lines[5]["join"] = json!(4), 6, "its number is 4");
    let twice = |list: &mut List| list.lines[8]["ticket"] = list.lines[2]["ticket"].clone();
    list.tampered(twice, 9, "its ticket is that of join 2");
    let upper = |list: &mut List| list.lines[4]["ticket"] = json!("A".repeat(32));
    list.tampered(upper, 5, "32 hexadecimal digits in lower case");
    list.tampered(|list| list.lines[3] = json!("nothing"), 4, "it can't be read");
    list.tampered(|list| drop(list.lines.pop()), 9, "ends after it with 8 joins");
    let more = |list: &mut List| list.lines.push(json!({"join": 10, "ticket": "a0".repeat(16)}));
    list.tampered(more, 11, "it is one more than the 9");
    let other = |list: &mut List| list.lines[7]["ticket"] = json!("a0".repeat(16));
    list.tampered(other, 10, "the first line states");
    list.tampered(|list| list.lines[0]["sha256"] = json!("a0".repeat(32)), 10, "SHA-256");
    let seed = |list: &mut List| list.lines[0]["seed"] = json!("5f".repeat(32));
    list.tampered(seed, 1, "its seed is not the one of its commitment");
    list.tampered(
        |list| list.lines[0]["seed"] = json!("5f"),
        1,
        "not 32 bytes in hexadecimal",
    );
}

#[test]
fn who_kept_the_commitment_finds_a_seed_that_was_changed() {
    let list = List::of(5);
    let kept = seed().commitment();
    let published = list.lines[0]["sha256"].as_str().expect("a hash").to_owned();
    let found = list.verify_with(Some(&kept), Some(&published));
    assert!(
        found.is_right() && !found.to_string().contains("not checked"),
        "{found}"
    );
    let open = list.verify().to_string();
    assert!(open.contains("--commitment") && open.contains("--sha256"), "{open}");
    // A party that has the service can state another seed with its own commitment.
    let other = OrderSeed::of(&MasterSecret::new([0x60; 32]), &room(), NONCE);
    let mut list = list;
    list.lines[0]["seed"] = json!(other.reveal());
    list.lines[0]["commitment"] = json!(other.commitment());
    list.close();
    assert!(list.verify().is_right());
    let found = list.verify_with(Some(&kept), None);
    let problem = found.problem.as_ref().expect("changed");
    assert_eq!(problem.place, Place::Line(1));
    assert!(problem.what.contains("not the one that you kept"), "{found}");
}

#[test]
fn who_has_the_published_hash_finds_a_list_that_was_changed() {
    let published = List::of(5).lines[0]["sha256"].as_str().expect("a hash").to_owned();
    // A list of other tickets, which is right on its own.
    let other = List::of(6);
    assert!(other.verify().is_right());
    let found = other.verify_with(None, Some(&published));
    let problem = found.problem.as_ref().expect("changed");
    assert_eq!(problem.place, Place::Line(1));
    assert!(problem.what.contains("not the one that was published"), "{found}");
}

#[test]
fn what_is_no_list_is_said_to_be_none() {
    let mut list = List::of(1);
    for format in [1, 3] {
        list.lines[0]["format"] = json!(format);
        let refused = verify_any(list.text().as_bytes(), Trusted::default());
        assert!(
            matches!(refused, Err(VerifyError::Format(of, 2)) if of == format),
            "{refused:?}"
        );
    }
    list.lines[0] = json!({"kind": KIND, "format": FORMAT});
    for text in [list.text(), "{}".to_owned(), String::new(), "nothing".to_owned()] {
        let refused = verify_any(text.as_bytes(), Trusted::default());
        assert!(matches!(refused, Err(VerifyError::NoExport(_))), "{text}: {refused:?}");
    }
}

#[test]
fn the_command_says_it_and_ends_accordingly() {
    let files = tempfile::tempdir().unwrap();
    let path = |name: &str| files.path().join(name);
    let list = List::of(3);
    std::fs::write(path("list"), list.text()).unwrap();
    let verify = |more: &[&str]| -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jackpot"));
        command.current_dir(files.path()).args(["verify", "list"]).args(more);
        command.output().expect("the binary that cargo built starts")
    };
    let out = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
    let kept = seed().commitment();
    let printed = verify(&["--commitment", &kept]);
    let mut order = Vec::new();
    list.verify().write_order(&mut order, OrderFormat::Csv).unwrap();
    let order = String::from_utf8(order).unwrap();
    assert!(
        printed.status.success() && out(&printed).ends_with(&format!("\n\n{order}")),
        "{printed:?}"
    );
    let published = list.lines[0]["sha256"].as_str().unwrap();
    let as_noted = format!(" {} ", kept.to_uppercase());
    let same = verify(&["--commitment", &as_noted, "--sha256", &published.to_uppercase()]);
    assert_eq!(
        out(&same),
        out(&verify(&["--commitment", &kept, "--sha256", published]))
    );
    same.done();
    for option in ["--commitment", "--sha256"] {
        for mistyped in ["296ff7ac...", &kept[1..], &kept.replacen('a', "g", 1), ""] {
            let refused = verify(&[option, mistyped]);
            let told = String::from_utf8_lossy(&refused.stderr).into_owned();
            assert_eq!(refused.status.code(), Some(2), "{refused:?}");
            told.says(option);
            told.says("64 hexadecimal digits");
        }
    }
    for (name, lines) in [("order.csv", 4), ("order.ndjson", 3)] {
        let written = verify(&["--order", name]);
        assert!(
            written.status.success() && !out(&written).contains("position"),
            "{written:?}"
        );
        assert_eq!(std::fs::read_to_string(path(name)).unwrap().lines().count(), lines);
    }
    assert_eq!(std::fs::read_to_string(path("order.csv")).unwrap(), order);
    let refused = verify(&["--key", "{\"keys\":[]}"]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    let mut cut = list.clone();
    cut.lines.pop();
    std::fs::write(path("list"), cut.text()).unwrap();
    let wrong = verify(&[]);
    assert_eq!(wrong.status.code(), Some(1));
    assert!(
        out(&wrong).contains("line 3 of room lobby: the list ends after it with 2 joins"),
        "{wrong:?}"
    );
}
