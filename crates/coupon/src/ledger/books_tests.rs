//! The books apply an event that follows, and refuse one that does not.

use std::collections::BTreeMap;

use super::*;
use crate::code::Code;
use jackpot_kernel::ledger::events::Unreadable;

type Fields = BTreeMap<String, String>;

fn fields(n: u64, kind: &str, rest: &[(&str, &str)]) -> Fields {
    let n = n.to_string();
    // A restore begins another history.
    let history = if kind == "restore" {
        "00000000000000bb"
    } else {
        "00000000000000aa"
    };
    let all = [("n", n.as_str()), ("at", "1000"), ("type", kind), ("history", history)];
    let all = all.iter().chain(rest);
    all.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

fn define(n: u64, mode: &str, version: u64, stock: u64) -> Fields {
    let json = format!(r#"{{"name":"Coffee","stock":{stock}}}"#);
    let version = version.to_string();
    let rest = [("mode", mode), ("version", &version), ("json", &json), ("nonce", "abc")];
    fields(n, "define", &rest)
}

fn block(n: u64, kind: &str, lines: &[&str]) -> Fields {
    let code = Code::from_bytes([7; 10]).to_string();
    let users = lines.iter().filter(|line| line.contains(" i ")).count().to_string();
    let block = lines.join("\n").replace("CODE", &code);
    fields(n, kind, &[("block", &block), ("users", &users)])
}

fn void(n: u64, sequence: &str) -> Fields {
    let rest = [("request", "r1"), ("user", "u1"), ("seq", sequence), ("users", "-1")];
    fields(n, "void", &rest)
}

fn fold(events: &[Fields]) -> Result<Books, FoldError> {
    let mut books = Books::default();
    for event in events {
        books.apply(&Event::parse(&event.into()).expect("readable"))?;
    }
    Ok(books)
}

/// The events of a coupon up to event 7: 3 units issued, 2 of them outstanding, 1 dead letter, 1 queued request.
fn story() -> Vec<Fields> {
    vec![
        define(1, "created", 1, 3),
        block(2, "issue", &["r1 u1 i 1 CODE", "r2 u1 a r1", "r3 u2 i 2 CODE"]),
        block(3, "issue", &["r4 u4 q 1", "r5 u5 q 2", "r6 u6 q 3"]),
        block(4, "serve", &["r4 u4 i 3 CODE", "r5 u5 d 3"]),
        void(5, "1"),
        fields(6, "redrive", &[("request", "r5"), ("arrival", "2")]),
        block(7, "serve", &["r5 u5 d 3"]),
    ]
}

fn after_story(event: Fields) -> Result<Books, FoldError> {
    let mut events = story();
    events.push(event);
    fold(&events)
}

#[test]
fn a_story_gives_its_books() {
    let books = fold(&story()).expect("follows");
    assert_eq!((books.n, books.at_ms, books.status), (7, 1000, Some(Status::Open)));
    assert_eq!((books.sequence, books.voided, books.out(), books.stock), (3, 1, 2, 3));
    assert_eq!((books.arrivals, books.queued, books.dead), (3, 1, 1));
    assert_eq!((books.requests(), books.users), (6, 2));
    assert_eq!((books.version, books.puts.as_str()), (1, "abc created 1;"));
    let retired = fields(8, "retire", &[("requests", "6"), ("queued", "1"), ("dead", "1")]);
    let books = after_story(retired).expect("follows");
    assert_eq!(
        (books.requests(), books.users, books.status),
        (0, 0, Some(Status::Ended))
    );
}

#[test]
fn what_does_not_follow_is_refused() {
    let numbers = |requests| [("requests", requests), ("queued", "1"), ("dead", "1")];
    for (event, what) in [
        (block(9, "issue", &["r9 u9 q 4"]), "event 9 comes after event 7"),
        (define(8, "changed", 3, 9), "its version is not the next one"),
        (define(8, "created", 2, 9), "it is created twice"),
        (define(8, "changed", 2, 1), "its stock is below what is out"),
        (
            block(8, "issue", &["r9 u9 q 5"]),
            "its number in the queue is not the next one",
        ),
        (
            block(8, "issue", &["r9 u9 i 4 CODE"]),
            "it overtakes requests in the queue",
        ),
        (block(8, "issue", &["r9 u9 o"]), "it overtakes requests in the queue"),
        (
            block(8, "serve", &["r6 u6 i 5 CODE"]),
            "its sequence is not the next one",
        ),
        (
            block(8, "serve", &["r6 u6 i 4 CODE", "r7 u7 o"]),
            "more requests leave the queue than are in it",
        ),
        (void(8, "4"), "what is voided was not issued"),
        (void(8, "0"), "what is voided was not issued"),
        (
            fields(8, "redrive", &[("request", "r9"), ("arrival", "4")]),
            "it was never in the queue",
        ),
        (
            fields(8, "status", &[("before", "suspended"), ("after", "open")]),
            "the status before is another one",
        ),
        (
            fields(
                8,
                "restore",
                &[("from_n", ""), ("restores", "0"), ("records", "6"), ("status", "open")],
            ),
            "its restores are not more than before",
        ),
        (
            fields(8, "retire", &numbers("5")),
            "other numbers of records are dropped than there are",
        ),
    ] {
        let refused = after_story(event).expect_err(what).to_string();
        assert!(refused.contains(what), "{refused} for {what}");
    }
    let first = fold(&[block(1, "issue", &["r1 u1 o"])]).expect_err("no coupon");
    assert!(first.to_string().contains("does not create the coupon"));
}

#[test]
fn never_more_is_out_than_the_stock() {
    let full = block(8, "serve", &["r6 u6 i 4 CODE"]);
    let mut events = story();
    events.push(full);
    assert_eq!(fold(&events).expect("the unit that came back").out(), 3);
    events.push(block(9, "issue", &["r9 u9 i 5 CODE"]));
    let refused = fold(&events).expect_err("a fourth").to_string();
    assert!(refused.contains("more is out than the stock"), "{refused}");
    events[8] = block(9, "issue", &["r9 u9 o", "r10 u10 n"]);
    let books = fold(&events).expect("follows");
    assert_eq!(
        (books.refused.out_of_stock, books.refused.not_open, books.requests()),
        (1, 1, 8)
    );
}

#[test]
fn a_dead_letter_more_than_there_are_does_not_go_back() {
    let redrive = |n| fields(n, "redrive", &[("request", "r5"), ("arrival", "2")]);
    let mut events = story();
    events.extend([redrive(8), redrive(9)]);
    let refused = fold(&events).expect_err("twice").to_string();
    assert!(refused.contains("a dead letter more than there are"), "{refused}");
}

#[test]
fn nothing_moves_once_it_is_retired() {
    let mut events = story();
    events.push(fields(
        8,
        "retire",
        &[("requests", "6"), ("queued", "1"), ("dead", "1")],
    ));
    let state = "status ended\nseq 3";
    events.push(fields(9, "checkpoint", &[("state", state)]));
    assert!(fold(&events).is_ok());
    events[8] = block(9, "issue", &["r9 u9 o"]);
    let refused = fold(&events).expect_err("retired").to_string();
    assert!(refused.contains("it was retired before"), "{refused}");
}

#[test]
fn what_no_script_writes_is_unreadable() {
    for (event, field) in [
        (block(1, "issue", &["r1 u1 i 1"]), "block"),
        (block(1, "issue", &["r1 u1 d 3"]), "block"),
        (block(1, "issue", &["r1 u1 c"]), "block"),
        (block(1, "serve", &["r1 u1 q 3"]), "block"),
        (block(1, "issue", &[""]), "block"),
        (block(1, "issue", &["r1 u1 i 1 0CODE"]), "block"),
        (fields(1, "checkpoint", &[("state", "status open\nseq")]), "state"),
        (
            fields(1, "status", &[("before", "stopped"), ("after", "open")]),
            "before",
        ),
        (fields(1, "other", &[]), "type"),
    ] {
        let n = "1".to_owned();
        assert_eq!(
            Event::parse(&(&event).into()),
            Err(Unreadable { n, field }),
            "{event:?}"
        );
    }
}
