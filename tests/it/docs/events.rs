//! The reference of events follows from the declarations, and no script appends one in another way.

use std::fs;

use jackpot::ledger::events::Envelope;
use jackpot::ledger::skipped;
use jackpot::{coupon, jackpot as jackpots, room};
use jackpot_core::wire::declared::{EventPart as _, Events};
use jackpot_core::wire::page;

use super::{files_below, hold, top};

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
declared in `crates/*/src/ledger/event.rs`. This page and the functions that append them are made from that.
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

/// It appends the event that the caller wrote: `jackpot::expected` compares that one with the event of `enter`.
const EXPECTED: &str = "enter_expected.lua";

#[test]
fn no_lua_by_hand_appends_to_a_stream() {
    let appends: Vec<_> = files_below(&top().join("lua"), "lua")
        .into_iter()
        .filter(|file| fs::read_to_string(file).expect("a script").contains("'XADD'"))
        .collect();
    assert!(matches!(&appends[..], [one] if one.ends_with(EXPECTED)), "{appends:?}");
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
