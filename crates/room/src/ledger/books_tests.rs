//! The books apply an event that follows, and refuse one that does not.

use std::collections::BTreeMap;

use super::*;
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
    let all = [
        ("n", n.as_str()),
        ("at", "1000"),
        ("clock", "1000"),
        ("type", kind),
        ("history", history),
    ];
    let all = all.iter().chain(rest);
    all.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

/// A definition of a room whose sessions last `session_s` seconds.
fn define(n: u64, mode: &str, version: u64, session_s: u64) -> Fields {
    let json = format!(r#"{{"capacity":10,"session_s":{session_s},"waiting_timeout_s":30}}"#);
    let (version, digest) = (version.to_string(), "5f".repeat(32));
    let rest = [
        ("mode", mode),
        ("opened", if mode == "created" { "0" } else { "1" }),
        ("version", &version),
        ("json", &json),
        ("order_nonce", "0a"),
        ("commitment", &digest),
        ("nonce", "abc"),
    ];
    fields(n, "define", &rest)
}

fn opened(n: u64) -> Fields {
    fields(n, "opened", &[("joined", "2"), ("sha256", &"a0".repeat(32))])
}

/// A restore as the fifth event.
fn restore(restores: &str, passes_until: &str) -> Fields {
    let rest = [
        ("from_n", ""),
        ("restores", restores),
        ("records", "0"),
        ("status", "open"),
        ("passes_until", passes_until),
        ("order_nonce", "0a"),
        ("commitment", &"5f".repeat(32)),
    ];
    fields(5, "restore", &rest)
}

fn fold(events: &[Fields]) -> Result<Books, FoldError> {
    let mut books = Books::default();
    for event in events {
        books.apply(&Event::parse(&event.into()).expect("readable"))?;
    }
    Ok(books)
}

/// The events of a room up to event 4.
fn story() -> Vec<Fields> {
    vec![
        define(1, "created", 1, 60),
        define(2, "changed", 2, 10),
        opened(3),
        fields(4, "status", &[("before", "open"), ("after", "suspended")]),
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
    assert_eq!((books.n, books.at_ms, books.version), (4, 1000, 2));
    assert_eq!(
        books.passes_until_ms, 61_000,
        "passes of the longer sessions may still be out"
    );
    assert!(books.is_stopped() && books.definition.contains(r#""session_s":10"#));
    assert_eq!(books.opened.expect("published").joined, 2);
    assert_eq!(books.puts, "abc created 1;abc changed 2;");
    let books = after_story(restore("1", "70000")).expect("follows");
    assert_eq!((books.restores, books.status), (1, Some(Status::Open)));
    assert_eq!(books.passes_until_ms, 70_000);
    let held = "open 2 10 10000 30000 - 1000 61000 5f -";
    assert!(after_story(fields(5, "checkpoint", &[("state", held)])).is_ok());
}

#[test]
fn what_does_not_follow_is_refused() {
    let mut other = define(5, "changed", 3, 10);
    other.insert("commitment".to_owned(), "a0".repeat(32));
    for (event, what) in [
        (opened(6), "event 6 comes after event 4"),
        (opened(5), "its list is published twice"),
        (define(5, "changed", 4, 10), "its version is not the next one"),
        (define(5, "created", 3, 10), "it is created twice"),
        (other, "its order is not that of its opening"),
        (
            fields(5, "status", &[("before", "open"), ("after", "suspended")]),
            "the status before is another one",
        ),
        (restore("0", "61000"), "its restores are not more than before"),
        (restore("1", "60999"), "passes that were out before are forgotten"),
    ] {
        let refused = after_story(event).expect_err(what).to_string();
        assert!(refused.contains(what), "{refused} for {what}");
    }
    let first = fold(&[opened(1)]).expect_err("no room");
    assert!(first.to_string().contains("does not create the room"));
}

/// A definition at this time, which opens the room at `opens_at`.
fn opening(n: u64, at: i64, opens_at: Option<&str>) -> Fields {
    let mode = if n == 1 { "created" } else { "changed" };
    // The rooms below open at 9 s, or when they are created.
    let has_opened = n > 1 && !(4_000..9_000).contains(&at);
    // Each opening has its own nonce, until it has come or is removed.
    let order_nonce = if has_opened { "09" } else { opens_at.unwrap_or("09") };
    let mut define = define(n, mode, n, 60);
    let opens_at = opens_at.map_or_else(|| "null".to_owned(), |time| format!(r#""1970-01-01T00:00:{time}Z""#));
    let json = format!(r#"{{"capacity":10,"session_s":60,"waiting_timeout_s":30,"opens_at":{opens_at}}}"#);
    define.insert("json".to_owned(), json);
    define.insert("at".to_owned(), at.to_string());
    define.insert("clock".to_owned(), at.to_string());
    let opened = if has_opened { "1" } else { "0" };
    define.insert("opened".to_owned(), opened.to_owned());
    define.insert("order_nonce".to_owned(), order_nonce.to_owned());
    define
}

#[test]
fn a_room_opens_once() {
    let moved = [opening(1, 1_000, Some("05")), opening(2, 4_000, Some("09"))];
    let opens = |events: &[Fields]| fold(events).map(|books| books.opens_ms);
    assert_eq!(opens(&moved).expect("follows"), 9_000);
    let with = |last: Fields| {
        let mut events = moved.to_vec();
        events.push(last);
        events
    };
    let mut early = opened(3);
    early.insert("at".to_owned(), "8999".to_owned());
    let refused = opens(&with(early)).expect_err("too early").to_string();
    assert!(refused.contains("its list is published before it opens"), "{refused}");
    assert_eq!(
        opens(&with(opening(3, 8_999, None))).expect("follows"),
        8_999,
        "at once"
    );
    for still in [Some("09"), None] {
        assert_eq!(opens(&with(opening(3, 9_000, still))).expect("it stays"), 9_000);
    }
    let again = "it opens a second time";
    let refused = opens(&with(opening(3, 9_000, Some("30"))))
        .expect_err(again)
        .to_string();
    assert!(refused.contains(again), "{refused}");
    let mut events = with(opening(3, 9_500, None));
    events.push(opening(4, 9_600, Some("30")));
    let refused = opens(&events).expect_err(again).to_string();
    assert!(refused.contains(again), "{refused}");
    assert!(opens(&[opening(1, 1_000, None), opening(2, 1_001, Some("09"))]).is_err());
    // The order may be known to somebody, or differs although the opening stays.
    let order = "its order is not that of its opening";
    for (opens_at, nonce) in [("10", "09"), ("09", "10")] {
        let mut define = opening(3, 8_000, Some(opens_at));
        define.insert("order_nonce".to_owned(), nonce.to_owned());
        let refused = opens(&with(define)).expect_err(order).to_string();
        assert!(refused.contains(order), "{refused}");
    }
}

#[test]
fn what_no_script_writes_is_unreadable() {
    let without = |field: &str, text: &str| {
        let mut define = define(1, "created", 1, 60);
        define.insert(field.to_owned(), text.to_owned());
        define
    };
    for (event, field) in [
        (without("commitment", "5f"), "commitment"),
        (without("json", r#"{"capacity":-1}"#), "json"),
        (without("mode", "made"), "mode"),
        (
            fields(1, "opened", &[("joined", "2"), ("sha256", &"A0".repeat(32))]),
            "sha256",
        ),
        (fields(1, "checkpoint", &[("state", "open 1 2 3 4 - 5 6 5f")]), "state"),
        (
            fields(1, "checkpoint", &[("state", "open 1 2 3 4 - 5 6 5f - 7")]),
            "state",
        ),
        (fields(1, "status", &[("before", "ended"), ("after", "open")]), "before"),
        (fields(1, "join", &[]), "type"),
    ] {
        let n = "1".to_owned();
        assert_eq!(
            Event::parse(&(&event).into()),
            Err(Unreadable { n, field }),
            "{event:?}"
        );
    }
}
