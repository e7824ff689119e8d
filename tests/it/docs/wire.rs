//! Lua and the reference agree with the declarations in Rust.

use std::fmt::Write as _;

use jackpot::jackpot::scripts::packed::{METERS, TERMS};
use jackpot::subject::Declared;
use jackpot::{coupon, jackpot as jackpots, room, subject};
use jackpot_core::jackpot::call::Call;
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

/// The declared replies of all capabilities, and of what they share.
fn replies() -> Vec<Declared> {
    let mut all = Vec::from(room::scripts::declared());
    all.extend(coupon::scripts::declared());
    all.extend(jackpots::scripts::declared());
    all.extend(subject::declared());
    all
}

#[test]
fn lua_reads_and_writes_what_rust_declares() {
    let values = packed::lua(&TERMS) + "\n" + &packed::lua(&METERS);
    hold_file(
        "lua/jackpot/values.lua",
        &(lua::heading("src/jackpot/scripts/packed.rs") + &values),
    );
    let place = lua::heading("src/room/record.rs") + &lua::record(&room::record::Record::shape());
    hold_file("lua/room/record.lua", &place);
    let request = coupon::record::Record::shape();
    let source = lua::heading("src/coupon/record.rs");
    hold_file(
        "lua/coupon/read_request.lua",
        &(source.clone() + &lua::record_reader(&request)),
    );
    hold_file(
        "lua/coupon/write_request.lua",
        &(source + &lua::record_writers(&request)),
    );
    let doc = "The fields of an event `enter` from which an entry of the call can be read.";
    let names = lua::names("CALL_FIELDS", doc, &Call::FIELDS);
    hold_file(
        "lua/jackpot/call_fields.lua",
        &(lua::heading("crates/core/src/jackpot/call.rs") + &names),
    );
    for declared in replies() {
        let functions: String = declared.replies.iter().map(lua::reply).collect();
        hold_file(declared.lua, &(lua::heading(declared.source) + &functions));
    }
}

#[test]
fn the_page_of_values_is_that_of_the_declarations() {
    let mut made = HEADING.to_owned();
    let mut add = |part: String| {
        let _ = write!(made, "\n{part}");
    };
    add(packed::page("The terms of a jackpot", &TERMS));
    add(packed::page("The meters of a jackpot", &METERS));
    add(page::record("A ticket of a room", &room::record::Record::shape()));
    add(page::record("A request for a coupon", &coupon::record::Record::shape()));
    for declared in replies() {
        declared.replies.iter().for_each(|shape| add(page::reply(shape)));
    }
    hold("redis-values.md", &made);
}
