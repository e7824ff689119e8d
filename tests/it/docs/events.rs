//! The functions of Lua that append events, and the reference of events, follow from the declarations.

use std::collections::BTreeSet;
use std::fs;

use jackpot::ledger::events::Envelope;
use jackpot::ledger::skipped;
use jackpot::{coupon, jackpot as jackpots, room};
use jackpot_core::wire::declared::{EventPart as _, Events};
use jackpot_core::wire::{lua, page};

use super::{files_below, hold, hold_file, top};
use crate::subject::toy;

/// The first lines of the page.
const HEADING: &str = "# Events of the streams

<!-- Generated from the declarations in the source: see tests/it/docs/events.rs. -->

A script appends one event in the call in which it has its effect. The projector reads the events in order and commits
each to SQL exactly once.

All names and values are texts. Every event has these fields:

";

/// What follows them.
const AFTER: &str = "
The id in the Redis stream is `<sequence>-<n>`. There an event is one field, `e`: names and values in turn, each as
`<length>:<bytes>`; the length is in bytes. Values of several parts within a field, such as `Claim` and `Run`, and
lists of them: [values in Redis](redis-values.md). What is hashed or exported: [formats](formats.md). The events are
declared in `crates/*/src/ledger/event.rs`. The functions that append them (`lua/*/event/`) and this page are generated.
";

/// The text about skipped events, before their table.
const SKIPPED: &str = "## Skipped

An operator [skipped an event](../how-to/handle-a-suspended-jackpot.md) that the ledger could not apply. The record then
has, under its number, an event of the type `skipped`, which no script writes. Its `at` is the time of the original, or
of the event before it. A jackpot's has `meters` and `applied` too; `skipped` and `skipped_micro` are money that no other
meter explains.

";

/// What follows its table.
const AFTER_SKIPPED: &str = "
The money is what the next checkpoint shows, less the ledger's own, less what later events change. Numbers and status
come from the first later event that has them. Records come from Redis by the sequences that the event gave. A payout
gets its receipt when its player can be read from the event; its record, and so the answer to a repeat, stays in any
case.
";

/// Holds the files of a folder to the functions that append the declared events, one in each, and nothing else.
fn hold_writers<E: Events>(folder: &str, source: &str) {
    let mut names = BTreeSet::new();
    for shape in E::shapes().iter().filter(|shape| shape.kind != skipped::TYPE) {
        let name = format!("{folder}/{}.lua", shape.kind);
        hold_file(&name, &(lua::heading(source) + &lua::event(shape, &E::common())));
        names.insert(top().join(name));
    }
    let found = files_below(&top().join(folder), "lua")
        .into_iter()
        .collect::<BTreeSet<_>>();
    assert_eq!(found, names, "{folder} has a file for each declared event and no other");
}

#[test]
fn each_event_is_appended_by_the_function_of_its_declaration() {
    hold_writers::<jackpots::ledger::event::Kind>("lua/jackpot/event", "crates/jackpot/src/ledger/event.rs");
    hold_writers::<coupon::ledger::event::Kind>("lua/coupon/event", "crates/coupon/src/ledger/event.rs");
    hold_writers::<room::ledger::event::Kind>("lua/room/event", "crates/room/src/ledger/event.rs");
    hold_writers::<toy::ledger::Event>("tests/it/subject/lua/event", "tests/it/subject/toy/ledger.rs");
}

/// It appends the event that the caller wrote: `jackpot::expected` compares that one with the event of `enter`.
const EXPECTED: &str = "enter_expected.lua";

#[test]
fn no_other_lua_appends_to_a_stream() {
    let appends: Vec<_> = files_below(&top().join("lua"), "lua")
        .into_iter()
        .filter(|file| fs::read_to_string(file).expect("a script").contains("'XADD'"))
        .collect();
    assert!(appends.len() > 20, "{appends:?}");
    let by_hand: Vec<_> = appends
        .iter()
        .filter(|file| !file.to_string_lossy().contains("/event/") && !file.ends_with(EXPECTED))
        .collect();
    assert!(by_hand.is_empty(), "{by_hand:?}");
}

/// The part of the page about a capability.
fn part<E: Events>(subject: &str) -> String {
    let doc = E::DOC.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut part = format!("\n## {subject}\n\n{doc}\n");
    let common = E::common();
    if !common.is_empty() {
        part += "\nEvery event of this stream also has:\n\n";
        part += &page::table(&common);
    }
    for shape in E::shapes().iter().filter(|shape| shape.kind != skipped::TYPE) {
        part.push('\n');
        part.push_str(&page::event(subject, shape));
    }
    part
}

#[test]
fn the_page_of_events_is_that_of_the_declarations() {
    let mut made = HEADING.to_owned() + &page::table(&Envelope::shapes("", "")) + AFTER;
    made += &part::<jackpots::ledger::event::Kind>("Jackpot");
    made += &part::<coupon::ledger::event::Kind>("Coupon");
    made += &part::<room::ledger::event::Kind>("Room");
    let skipped = room::ledger::event::Kind::shapes();
    let skipped = skipped
        .iter()
        .find(|shape| shape.kind == skipped::TYPE)
        .expect("declared");
    made.push('\n');
    made += SKIPPED;
    made += &page::table(&skipped.fields);
    made += AFTER_SKIPPED;
    hold("events.md", &made);
}
