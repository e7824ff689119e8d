//! Lua and the reference agree with the declarations in Rust.

use std::fmt::Write as _;

use jackpot::jackpot::scripts::packed::{METERS, TERMS};
use jackpot::room::record::Record;
use jackpot::room::scripts::{Answer, Stepped, Viewed};
use jackpot::subject::Part;
use jackpot_core::wire::{lua, packed, page};

use super::{hold, hold_file};

/// The first lines of the page.
const HEADING: &str = "# Values in Redis

<!-- Generated from the declarations in the source: see tests/it/docs/wire.rs. -->

Records that Redis keeps, and replies of scripts. Only the service reads and writes them; they are here for those who
look into a Redis, and they may change with a version. A record is fields between single spaces; the first letter names
its kind. A reply is an array: a code, the mark of the stream, then the values in this order. Packed values are
MessagePack, one after the other, in a field of the state; the first one is the number of their layout.
";

#[test]
fn lua_reads_and_writes_what_rust_declares() {
    let record = lua::heading("src/room/record.rs") + &lua::record(&Record::SHAPE);
    hold_file("lua/room/record.lua", &record);
    let values = packed::lua(&TERMS) + "\n" + &packed::lua(&METERS);
    hold_file(
        "lua/jackpot/values.lua",
        &(lua::heading("src/jackpot/scripts/packed.rs") + &values),
    );
    let (source, doc) = ("src/room/scripts/view.rs", Viewed::DOC);
    let viewed = lua::reply("viewed", Some("ok"), doc, &Viewed::fields("", ""));
    hold_file("lua/room/view_reply.lua", &(lua::heading(source) + &viewed));
    let stepped = lua::reply("stepped", Some("ok"), Stepped::DOC, &Stepped::fields("", ""));
    let answer = lua::reply("answer", None, Answer::DOC, &Answer::fields("", ""));
    let source = lua::heading("src/room/scripts/visit.rs");
    hold_file("lua/room/visit_reply.lua", &format!("{source}{stepped}{answer}"));
}

#[test]
fn the_page_of_values_is_that_of_the_declarations() {
    let mut made = HEADING.to_owned();
    let mut add = |part: String| {
        let _ = write!(made, "\n{part}");
    };
    add(packed::page("The terms of a jackpot", &TERMS));
    add(packed::page("The meters of a jackpot", &METERS));
    add(page::record("A ticket of a room", &Record::SHAPE));
    let fields = Viewed::fields("", "");
    add(page::reply("`room_view`: the reply `ok`", Viewed::DOC, &fields));
    let (title, fields) = ("`room_visit`, `room_join`: the reply `ok`", Stepped::fields("", ""));
    add(page::reply(title, Stepped::DOC, &fields));
    let (title, fields) = ("`room_visit`, `room_join`: each visit", Answer::fields("", ""));
    add(page::reply(title, Answer::DOC, &fields));
    hold("redis-values.md", &made);
}
