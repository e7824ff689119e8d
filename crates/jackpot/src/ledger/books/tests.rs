use jackpot_core::fields::EventFields;
use jackpot_core::money::Minor;

use super::*;

const HISTORY: &str = "00112233aabbccdd";
const OTHER: &str = "ffeeddcc33221100";

/// An event as the stream has it. A later pair of a name counts.
fn event(n: u64, kind: &str, own: &[(&str, &str)]) -> Event {
    let (n, at) = (n.to_string(), (n * 1_000).to_string());
    let usual = [
        ("n", &*n),
        ("at", &at),
        ("history", HISTORY),
        ("type", kind),
        ("meters", ""),
        ("applied", ""),
    ];
    let fields: EventFields = usual.into_iter().chain(own.iter().copied()).collect();
    Event::parse(&fields).unwrap_or_else(|error| panic!("{kind}: {error:?}"))
}

fn opening(digit: &str) -> [(&'static str, String); 3] {
    [
        ("commitment", digit.repeat(64)),
        ("epoch_nonce", digit.repeat(32)),
        ("secret_id", digit.repeat(16)),
    ]
}

fn with_opening(n: u64, kind: &str, digit: &str, own: &[(&str, &str)]) -> Event {
    let opening = opening(digit);
    let opening = opening.iter().map(|(name, value)| (*name, &**value));
    event(n, kind, &opening.chain(own.iter().copied()).collect::<Vec<_>>())
}

const PUT: [(&str, &str); 6] = [
    ("version", "1"),
    ("json", "{}"),
    ("nonce", "x"),
    ("tiers", "grand 0 -;"),
    ("money", "m1"),
    ("currency", "EUR"),
];

fn creation(own: &[(&str, &str)]) -> Event {
    let new = [
        ("mode", "created"),
        ("status", "open"),
        ("retention", "60"),
        ("applied", "1"),
    ];
    with_opening(1, "define", "a", &[&PUT, &new[..], own].concat())
}

fn put(n: u64, own: &[(&str, &str)]) -> Event {
    event(
        n,
        "define",
        &[&PUT[..], &[("mode", "changed"), ("superseded", "")], own].concat(),
    )
}

/// After its creation.
fn created() -> Books {
    after([creation(&[])])
}

fn after(events: impl IntoIterator<Item = Event>) -> Books {
    let mut books = Books::default();
    for event in events {
        books.apply(&event).unwrap_or_else(|error| panic!("{event:?}: {error}"));
    }
    books
}

/// What is wrong with an event that comes next.
fn refused(books: &Books, event: &Event) -> String {
    let refused = books.clone().apply(event).expect_err("refused").to_string();
    refused
        .split_once(": ")
        .map_or(refused.clone(), |(_, what)| what.to_owned())
}

/// Three entries that came by themselves; the first draws again, the second wins.
fn singles(n: u64, own: &[(&str, &str)]) -> Event {
    let fields = [
        ("epoch", "1"),
        ("version", "1"),
        ("first", "1"),
        ("count", "3"),
        ("block", "a p1 10 *\nb p2 10 *\nc p1 10 *"),
        ("skip", ""),
        ("amounts", "10=1,0,0,0;"),
        ("runs", "1:100,0,0,-;3:0,0,0,-;"),
        ("call", "1"),
        ("claims", "1,0,2,retry,grand,7;2,0,1,paid,grand,102,1,102;"),
        ("meters", "grand pool:1,contributed:3,funded:100,paid:102;"),
    ];
    event(n, "enter", &[&fields, own].concat())
}

/// The same entries in a batch, in which all attempts of the first are made.
fn batch(n: u64, own: &[(&str, &str)]) -> Event {
    let fields = [
        ("block", "p1 10 *\np2 10 *\np1 10 *"),
        ("call", ""),
        ("batch", "b1"),
        ("split", ""),
        ("claims", "1,0,2,retry,grand,7;1,1,0,none;2,0,1,paid,grand,102,1,102;"),
        ("record", "1 3 f 1 grand+1+3 1,2"),
    ];
    singles(n, &[&fields, own].concat())
}

#[test]
fn a_jackpot_begins_with_its_first_definition() {
    let books = created();
    assert_eq!((books.n, books.at_ms, books.status), (1, 1_000, Some(Status::Open)));
    assert_eq!((books.version, books.waiting, books.last_version), (1, None, 1));
    assert_eq!((books.definitions, books.epoch, books.retention_s), (1, 1, 60));
    assert_eq!(
        (&*books.history, books.currency),
        (HISTORY, Currency::parse("EUR").ok())
    );
    assert_eq!((&*books.terms.tiers, &*books.terms.money), ("grand 0 -;", "m1"));
    assert_eq!(books.next_terms, Terms::default());
    assert_eq!(books.opening.commitment, "a".repeat(64));
    let generation = Generation {
        letter: "a".to_owned(),
        start: 0,
        opened_ms: 1_000,
        version: 1,
        n: 1,
    };
    assert_eq!(books.generation, generation);
    assert!(books.puts.ends_with("x created 1;"), "{}", books.puts);
    let none = Books::default();
    let paused = |n| event(n, "status", &[("before", "open"), ("after", "paused")]);
    assert_eq!(
        refused(&none, &paused(1)),
        "the first event does not create the jackpot"
    );
    assert_eq!(
        refused(&none, &put(1, &[])),
        "the first event does not create the jackpot"
    );
    let again = [("n", "2"), ("version", "2"), ("applied", "2")];
    assert_eq!(refused(&books, &creation(&again)), "a jackpot is created twice");
}

#[test]
fn only_the_next_event_of_the_same_history_follows() {
    let books = created();
    let paused =
        |n, own: &[(&str, &str)]| event(n, "status", &[&[("before", "open"), ("after", "paused")], own].concat());
    for n in [1, 3] {
        assert_eq!(
            books.clone().apply(&paused(n, &[])),
            Err(FoldError::Gap { last: 1, got: n })
        );
    }
    assert_eq!(
        refused(&books, &paused(2, &[("history", OTHER)])),
        "it belongs to another history"
    );
    let closed = event(2, "status", &[("before", "paused"), ("after", "closed")]);
    assert_eq!(refused(&books, &closed), "the status before is another one");
    let books = after([creation(&[]), paused(2, &[])]);
    assert_eq!((books.status, books.n, books.at_ms), (Some(Status::Paused), 2, 2_000));
}

#[test]
fn a_definition_waits_until_an_event_brings_it_into_force() {
    let waits = [
        ("mode", "waits"),
        ("version", "2"),
        ("money", "m2"),
        ("currency", "KRW"),
    ];
    let first = put(2, &waits);
    let books = after([creation(&[]), first.clone()]);
    assert_eq!((books.version, books.waiting, books.last_version), (1, Some(2), 2));
    assert_eq!((books.definitions, books.currency), (2, Currency::parse("KRW").ok()));
    assert_eq!((&*books.terms.money, &*books.next_terms.money), ("m1", "m2"));
    let replaced = put(3, &[&waits[..], &[("version", "3"), ("superseded", "2")]].concat());
    let books = after([creation(&[]), first.clone(), replaced]);
    assert_eq!((books.version, books.waiting, books.definitions), (1, Some(3), 2));
    let entry = singles(3, &[("applied", "2")]);
    let books = after([creation(&[]), first, entry]);
    assert_eq!((books.version, books.waiting), (2, None));
    assert_eq!((&*books.terms.money, books.next_terms), ("m2", Terms::default()));
    for version in ["1", "3"] {
        let other = put(2, &[("version", version)]);
        assert_eq!(refused(&created(), &other), "its version is not the next one");
    }
}

#[test]
fn no_event_makes_or_loses_money() {
    let moved = |meters: &str| {
        let adjusted = [
            ("adjustment", "a1"),
            ("digest", "d"),
            ("tier", "grand"),
            ("from", ""),
            ("to", "pool"),
            ("amount", "1"),
            ("owner", ""),
            ("asked", ""),
        ];
        let meters = format!("grand {meters};");
        created().apply(&event(2, "adjust", &[&adjusted[..], &[("meters", &*meters)]].concat()))
    };
    for balanced in [
        "contributed:1,pool:1",
        "contributed:1,reserve_micro:1000000",
        "contributed_micro:1,pool_micro:1",
        "funded:1,reserve:1",
        "funded_micro:1,reserve_micro:1",
        "skipped:1,overflow:1",
        "skipped_micro:1,reversed_micro:1",
        "contributed:1,reversed:1",
        "funded:1,paid:1",
        "funded:1,transferred_out:1",
        "funded_micro:1,transferred_out_micro:1",
        "funded:1,expected:1",
        "funded:2,transferred_in:1,pool:1,overflow:1",
        "funded:1,transferred_in_micro:5,voided:1,pool:1",
        "wins:1",
        "skipped:-2,funded:2",
        "skipped_micro:-2,funded_micro:2",
    ] {
        assert_eq!(moved(balanced), Ok(()), "{balanced}");
    }
    for (changes, millionths) in [
        ("pool:1", 1_000_000),
        ("contributed:2,reserve:1", -1_000_000),
        ("pool_micro:3", 3),
        ("contributed_micro:3,pool:1", 999_997),
    ] {
        let tier = Id::parse("grand").expect("an id");
        let unbalanced = FoldError::Unbalanced { n: 2, tier, millionths };
        assert_eq!(moved(changes), Err(unbalanced), "{changes}");
    }
    for (changes, meter) in [("reserve:-1,pool:1", "reserve"), ("pool:1,overflow:-1", "overflow")] {
        let (tier, meter) = (Id::parse("grand").expect("an id"), meter.to_owned());
        assert_eq!(
            moved(changes),
            Err(FoldError::BelowZero { n: 2, tier, meter }),
            "{changes}"
        );
    }
    let unexpected = |what| Err(FoldError::Unexpected { n: 2, what });
    assert_eq!(moved("tips:1"), unexpected("a meter that there is not"));
    let most = format!("pool:{},pool:1", i64::MAX);
    assert_eq!(moved(&most), unexpected("a meter beyond all bounds"));
}

#[test]
fn operators_put_in_what_neither_transfers_nor_voids_brought() {
    let meters = Meters {
        funded: 20,
        transferred_in: 3,
        expected: 2,
        voided: 1,
        funded_micro: 6,
        transferred_in_micro: 6,
        ..Meters::default()
    };
    assert_eq!(meters.by_operators(), (14, 0));
    let less = Meters {
        funded_micro: 5,
        ..meters
    };
    assert_eq!(less.by_operators(), (13, 999_999));
    let more = Meters {
        funded_micro: 8,
        ..meters
    };
    assert_eq!(more.by_operators(), (14, 2));
}

#[test]
fn every_meter_has_one_name_for_all() {
    let mut meters = Meters::default();
    for (value, name) in (1..).zip(Meters::NAMES.into_iter().chain(Meters::MOVED)) {
        assert_eq!(Meters::name(name), Some(name));
        *meters.named(name).expect("a meter") = value;
    }
    assert_eq!(Meters::name("tips"), None);
    let shown = meters.all().into_iter().chain(meters.outside());
    let names = Meters::NAMES.into_iter().chain(Meters::MOVED);
    assert!(shown.eq(names.zip(1..)), "{meters:?}");
    let moved = |meters: Meters| meters.moved().collect::<Vec<_>>();
    assert_eq!(moved(meters), meters.outside());
    let one = Meters {
        reversed: -4,
        ..Meters::default()
    };
    assert_eq!(moved(one), [("reversed", -4)]);
    let stored = serde_json::to_value(one).expect("JSON");
    assert_eq!(
        (stored.get("reversed"), stored.get("voided")),
        (Some(&(-4).into()), None)
    );
}

#[test]
fn entries_count_with_their_records_and_wait_for_their_outcome() {
    let books = after([creation(&[]), singles(2, &[])]);
    assert_eq!((books.sequence, books.claim_order), (3, 1));
    assert_eq!(books.records, Kept { entries: 3, calls: 1 });
    assert_eq!(books.records.all(), 4);
    let pending = &books.pending[&1];
    assert_eq!(books.pending.len(), 1);
    assert_eq!(
        (
            &*pending.entry_id,
            pending.player_id.as_str(),
            pending.epoch,
            pending.entered_ms
        ),
        ("a", "p1", 1, 2_000)
    );
    let books = after([creation(&[]), batch(2, &[])]);
    assert_eq!((books.sequence, books.claim_order, books.pending.len()), (3, 1, 0));
    assert_eq!(books.records, Kept { entries: 3, calls: 0 });
}

#[test]
fn entries_follow_from_the_state_that_they_met() {
    let books = created();
    for (own, what) in [
        (&[("epoch", "2")][..], "its epoch is not the open one"),
        (&[("version", "2")], "its definition is not the one in force"),
        (
            &[("first", "2"), ("claims", "")],
            "its first sequence is not the next one",
        ),
        (
            &[("claims", "1,1,2,retry,grand,7;")],
            "an entry begins with another claim than that of attempt 0",
        ),
        (
            &[("claims", "1,0,2,retry,grand,7;1,1,2,retry,grand,7;")],
            "an entry makes two first claims",
        ),
        (
            &[("claims", "2,0,1,paid,grand,102,2,102;")],
            "its claim order is not the next one",
        ),
    ] {
        assert_eq!(refused(&books, &singles(2, own)), what, "{own:?}");
    }
    for (own, what) in [
        (
            ("record", "2 3 f 1 grand+1+3 1,2"),
            "the record of its batch is another one's",
        ),
        (
            ("record", "1 2 f 1 grand+1+3 1,2"),
            "the record of its batch is another one's",
        ),
        (
            ("record", "1 3 f 2 grand+1+3 1,2"),
            "the record of its batch is another one's",
        ),
        (
            ("claims", "1,0,0,none;"),
            "an entry begins with another claim than that of attempt 0",
        ),
        (
            ("claims", "1,0,2,retry,grand,7;1,0,2,retry,grand,7;"),
            "an entry goes on after its last claim",
        ),
        (
            ("claims", "1,0,1,paid,grand,102,1,102;1,1,0,none;"),
            "an entry goes on after its last claim",
        ),
        (
            ("claims", "1,0,2,retry,grand,7;"),
            "an entry of a batch is left in the middle of its attempts",
        ),
    ] {
        assert_eq!(refused(&books, &batch(2, &[own])), what, "{own:?}");
    }
    // The last attempt is refused, and ends the entry.
    let last = batch(2, &[("claims", "1,0,2,retry,grand,7;1,0,0,none;")]);
    assert!(after([creation(&[]), last]).pending.is_empty());
    let later = after([creation(&[]), batch(2, &[("claims", "1,0,3,later;")])]);
    assert_eq!(later.pending.keys().collect::<Vec<_>>(), [&1]);
}

#[test]
fn only_a_pending_entry_goes_on_or_ends() {
    let entered = [creation(&[]), singles(2, &[])];
    let books = after(entered.clone());
    let finish = |entry: &str, sequence: &str| event(3, "finish", &[("entry", entry), ("seq", sequence)]);
    let claim = |entry: &str, claims: &str| {
        let meters = ("meters", "grand pool:-1,paid:1;");
        event(3, "claim", &[("entry", entry), ("claims", claims), meters])
    };
    for (entry, sequence) in [("b", "1"), ("a", "2"), ("b", "2")] {
        assert_eq!(
            refused(&books, &finish(entry, sequence)),
            "an entry that is not pending"
        );
        let paid = format!("{sequence},1,1,paid,grand,1,2,1;");
        assert_eq!(refused(&books, &claim(entry, &paid)), "an entry that is not pending");
    }
    let with = |last: Event| after(entered.iter().cloned().chain([last]));
    assert!(with(finish("a", "1")).pending.is_empty());
    let paid = with(claim("a", "1,1,1,paid,grand,1,2,1;"));
    assert_eq!((paid.claim_order, paid.pending.len()), (2, 0));
    assert!(with(claim("a", "1,1,3,issued,spa,9,c-1;")).pending.is_empty());
    assert_eq!(with(claim("a", "1,1,2,retry,grand,7;")).pending, books.pending);
    assert_eq!(
        refused(&books, &claim("a", "1,1,1,paid,grand,1,1,1;")),
        "its claim order is not the next one"
    );
}

#[test]
fn the_retention_is_only_raised() {
    let raised = |before, to| event(2, "retention", &[("before", before), ("retention", to)]);
    assert_eq!(after([creation(&[]), raised("60", "61")]).retention_s, 61);
    for (before, to) in [("60", "60"), ("60", "59"), ("59", "70")] {
        assert_eq!(
            refused(&created(), &raised(before, to)),
            "the retention is raised from another one"
        );
    }
}

#[test]
fn a_restore_begins_another_history_and_another_epoch() {
    let restore = |own: &[(&str, &str)]| {
        let fields = [
            ("history", OTHER),
            ("from_n", ""),
            ("restores", "1"),
            ("status", "paused"),
            ("records", "3"),
            ("closed", "1"),
            ("epoch", "5"),
        ];
        with_opening(3, "restore", "b", &[&fields, own].concat())
    };
    let before = after([creation(&[]), singles(2, &[])]);
    let books = after([creation(&[]), singles(2, &[]), restore(&[])]);
    assert_eq!((books.restores, books.status), (1, Some(Status::Paused)));
    assert_eq!((&*books.history, books.epoch), (OTHER, 5));
    assert_eq!(books.opening.nonce, "b".repeat(32));
    assert_eq!(books.records, Kept { entries: 3, calls: 0 });
    assert_eq!(books.pending, before.pending);
    for (field, value, what) in [
        ("history", HISTORY, "it begins the history that goes on"),
        ("restores", "0", "its restores are not more than before"),
        ("closed", "2", "it closes another epoch than the open one"),
        ("epoch", "1", "the number of its epoch was given before"),
    ] {
        assert_eq!(refused(&before, &restore(&[(field, value)])), what, "{field} {value}");
    }
}

#[test]
fn a_generation_is_dropped_when_all_its_entries_have_ended() {
    let rotate = |n, own: &[(&str, &str)]| {
        let fields = [("epoch", "2"), ("kind", "generation"), ("pruned", "")];
        with_opening(n, "rotate", "c", &[&fields, own].concat())
    };
    let entered = [creation(&[]), singles(2, &[])];
    let only_epoch = after(entered.iter().cloned().chain([rotate(3, &[("kind", "epoch")])]));
    assert_eq!((only_epoch.epoch, &*only_epoch.generation.letter), (2, "a"));
    assert_eq!((only_epoch.records.entries, only_epoch.older_n), (3, 0));
    let once = entered.iter().cloned().chain([rotate(3, &[])]);
    let books = after(once.clone());
    let generation = Generation {
        letter: "b".to_owned(),
        start: 3,
        opened_ms: 3_000,
        version: 1,
        n: 3,
    };
    assert_eq!(books.generation, generation);
    assert_eq!((books.records, books.older_n), (Kept::default(), 1));
    assert_eq!(books.older_records, Kept { entries: 3, calls: 1 });
    // The entry that is pending is of the older generation now.
    assert_eq!(
        refused(&books, &rotate(4, &[("epoch", "3")])),
        "records of entries without an outcome are dropped"
    );
    let ended = event(4, "finish", &[("entry", "a"), ("seq", "1")]);
    let twice = after(once.chain([ended, rotate(5, &[("epoch", "3")])]));
    assert_eq!((&*twice.generation.letter, twice.older_n), ("a", 3));
    for epoch in ["1", "3"] {
        let other = rotate(3, &[("epoch", epoch)]);
        assert_eq!(
            refused(&after(entered.clone()), &other),
            "its epoch is not the next one"
        );
    }
}

#[test]
fn no_more_definitions_are_dropped_than_there_are() {
    let rotate = |pruned| {
        let fields = [("epoch", "2"), ("kind", "epoch"), ("pruned", pruned)];
        with_opening(3, "rotate", "c", &fields)
    };
    let put = put(2, &[("version", "2"), ("applied", "2")]);
    let books = after([creation(&[]), put.clone()]);
    assert_eq!(after([creation(&[]), put, rotate("1")]).definitions, 1);
    assert_eq!(
        refused(&books, &rotate("1,2,3")),
        "more definitions are dropped than there are"
    );
}

#[test]
fn what_an_owner_takes_out_alone_is_kept() {
    let adjust = |own: &[(&str, &str)]| {
        let fields = [
            ("adjustment", "a1"),
            ("digest", "d"),
            ("tier", "grand"),
            ("from", "overflow"),
            ("to", ""),
            ("amount", "5"),
            ("owner", "anna"),
            ("asked", ""),
        ];
        event(2, "adjust", &[&fields, own].concat())
    };
    let took = |event: Event| after([creation(&[]), event]).took;
    assert_eq!(took(adjust(&[])), "anna 2000 5;");
    for own in [
        ("to", "pool"),
        ("from", ""),
        ("asked", "bob"),
        ("owner", ""),
        ("amount", "0"),
    ] {
        assert_eq!(took(adjust(&[own])), "", "{own:?}");
    }
    let give = |own: &[(&str, &str)]| {
        let fields = [
            ("transfer", "t1"),
            ("digest", "d"),
            ("to", "other"),
            ("parts", "grand,big,3,600000,10,400000,100;mini,big,1,0,0,0,0;"),
            ("owner", "anna"),
            ("asked", ""),
        ];
        event(2, "give", &[&fields, own].concat())
    };
    assert_eq!(took(give(&[])), "anna 2000 115;");
    for own in [("asked", "bob"), ("parts", "grand,big,0,999999,0,0,0;")] {
        assert_eq!(took(give(&[own])), "", "{own:?}");
    }
    assert_eq!(after([creation(&[]), give(&[])]).adjustments, 1);
}

#[test]
fn a_reversal_adds_its_records_and_puts_off_no_trigger() {
    let cycle = "grand 4 00112233445566778899aabbccddeeff abc44bcf0634a438 c0ffee 1000 1 20 30 - - 0;";
    let began = format!("b {cycle}");
    let reverse = |own: &[(&str, &str)]| {
        let fields = [
            ("reversal", "r1"),
            ("entry", "c"),
            ("seq", "3"),
            ("stake", "10"),
            ("source", ""),
            ("version", "1"),
            ("reversed", "grand,1,0,0,0,0;"),
            ("meters", "grand pool:-1,reversed:1;"),
        ];
        event(3, "reverse", &[&fields, own].concat())
    };
    let entered = [creation(&[("cycles", &began)]), singles(2, &[])];
    let with = |last: Event| after(entered.iter().cloned().chain([last]));
    let books = with(reverse(&[]));
    assert_eq!(books.records.entries, 4);
    let row = books.held_cycles().rows.remove(0);
    assert_eq!((row.cycle, row.reversed), (4, 1));
    assert_eq!(with(reverse(&[("used", "c,5f0c")])).records.entries, 5);
    let cancel = [
        ("reversal", "r2"),
        ("entry", "d"),
        ("by", "-"),
        ("records", "!d 1 r2,-,3000;~r2 0 d,5f0c;"),
    ];
    assert_eq!(with(event(3, "cancel", &cancel)).records.entries, 4);
}

#[test]
fn a_cycle_ends_before_the_next_one_of_its_tier_begins() {
    let row = |cycle: u64| {
        format!("b grand {cycle} 00112233445566778899aabbccddeeff abc44bcf0634a438 c0ffee 1000 1 20 30 - - 0;")
    };
    let entry = |cycles: &str| singles(2, &[("cycles", cycles)]);
    let books = after([creation(&[("cycles", &row(4))])]);
    assert!(books.held_cycles().has_open());
    let ends = "e grand 4 take;";
    let goes_on = after([creation(&[("cycles", &row(4))]), entry(&format!("{ends}{}", row(5)))]);
    assert_eq!(goes_on.held_cycles().rows[0].cycle, 5);
    assert!(goes_on.held_cycles().has_open());
    let ended = after([creation(&[("cycles", &row(4))]), entry(ends)]);
    assert!(!ended.held_cycles().has_open());
    let begins = "a cycle begins while another one of its tier is open, or under a number that was given";
    for (cycles, what) in [
        (row(5), begins),
        (format!("{ends}{}", row(4)), begins),
        (format!("{ends}{}", row(5).replace("c0ffee", "-")), begins),
        ("e grand 5 take;".to_owned(), "a cycle ends that is not open"),
        ("e mini 4 take;".to_owned(), "a cycle ends that is not open"),
        (format!("{ends}{ends}"), "a cycle ends that is not open"),
    ] {
        assert_eq!(refused(&books, &entry(&cycles)), what, "{cycles}");
    }
}

#[test]
fn a_limit_follows_from_the_one_before() {
    let document = |settlement: &str, above: &str| {
        format!(
            r#"{{"id":"x","name":"x","currency":"EUR","contribution":{{"fixed":1}},"settlement":"{settlement}",
            "approval_above":{above},"tiers":[{{"tier":"grand","share_ppm":1000000,"min_payout":1}}],
            "odds":{{"total":1,"ranks":[]}}}}"#
        )
    };
    let limit = |n, version: &str, above: &str, hold: &str| {
        let json = document("tracked", above);
        put(n, &[("version", version), ("json", &json), ("hold", hold)])
    };
    let first = limit(2, "2", "100", "tracked 100 anna - - -");
    let raised = limit(3, "3", "200", "tracked 100 bob 3 tracked 200");
    let books = after([creation(&[]), first.clone()]);
    assert_eq!(books.settlement_terms().approval_above.map(Minor::get), Some(100));
    assert_eq!(created().settlement_terms(), settlement::Terms::default());
    for wrong in ["tracked 200 bob - - -", "tracked 100 bob 4 tracked 200"] {
        assert_eq!(
            refused(&books, &limit(3, "3", "200", wrong)),
            "its limit does not follow from the one before"
        );
    }
    let approve = |hold| event(4, "approval", &[("version", "3"), ("hold", hold), ("owner", "anna")]);
    let waiting = [creation(&[]), first, raised];
    let books = after(waiting.clone());
    assert_eq!(books.settlement_terms().approval_above.map(Minor::get), Some(100));
    assert_eq!(
        refused(&books, &approve("tracked 300 bob - - -")),
        "it approves a limit that does not wait"
    );
    let books = after(waiting.into_iter().chain([approve("tracked 200 bob - - -")]));
    assert_eq!(books.settlement_terms().approval_above.map(Minor::get), Some(200));
}

#[test]
fn a_definition_that_cannot_be_read_has_no_rule_and_no_terms_are_no_error() {
    let json = r#"{"id":"x","name":"x","currency":"EUR","contribution":{"fixed":1},
        "tiers":[{"tier":"grand","share_ppm":1000000,"min_payout":1,"must_hit_by":{"amount":{"low":20,"high":30}}}],
        "odds":{"total":1,"ranks":[]}}"#;
    assert_eq!(after([creation(&[("json", json)])]).terms.rules, "grand 1 20 30 - - -;");
    assert_eq!(created().terms.rules, "");
}

/// A skipped event may have carried on books of an earlier program that knew no currency.
#[test]
fn books_without_a_currency_are_read_and_written_as_before() {
    let text = serde_json::to_value(Books::default()).expect("books");
    assert_eq!(text["currency"], "");
    let read: Books = serde_json::from_value(text.clone()).expect("books");
    assert_eq!(read, Books::default());
    let with = |code: &str| {
        let mut text = text.clone();
        text["currency"] = code.into();
        serde_json::from_value::<Books>(text).map(|books| books.currency)
    };
    assert_eq!(with("EUR").expect("books"), Currency::parse("EUR").ok());
    assert!(with("eur").is_err());
}
