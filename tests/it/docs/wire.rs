//! Lua and the reference agree with the declarations in Rust.

use std::fmt::Write as _;

use jackpot::coupon::ledger::event::Line;
use jackpot::coupon::record::UserIssue;
use jackpot::jackpot::ledger::event::{Claim, MeterDelta, TierChanges};
use jackpot::jackpot::scripts::packed::{METERS, TERMS};
use jackpot::room::ledger::event::Checkpoint;
use jackpot::subject::Declared;
use jackpot::{coupon, jackpot as jackpots, room, subject};
use jackpot_core::jackpot::added::{AmountRow, Run, RunTier};
use jackpot_core::jackpot::adjustment_record::AdjustmentRecord;
use jackpot_core::jackpot::batch_record::{BatchRecord, Total};
use jackpot_core::jackpot::call::Call;
use jackpot_core::jackpot::epoch::EpochRecord;
use jackpot_core::jackpot::leaving::{HeldRecord, Took};
use jackpot_core::jackpot::record::{CallRecord, Contributed, InRun, Record};
use jackpot_core::jackpot::reversal::{
    EarlyCancel, EarlyRow, Moved, Replaced, ReversalRecord, ReversalUse, ReversedTier,
};
use jackpot_core::jackpot::settlement::{Hold, Voided};
use jackpot_core::jackpot::split::TierAmount;
use jackpot_core::jackpot::transfer::{GivenRecord, Part};
use jackpot_core::wire::{lua, packed, page};

use super::{hold, hold_file};
use crate::subject::toy;

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
        &(lua::heading("crates/jackpot/src/scripts/packed.rs") + "-- needs: subject/packed\n" + &values),
    );
    let part = |name: &str, source: &str, functions: &[String]| {
        hold_file(
            &format!("lua/jackpot/{name}.lua"),
            &(lua::heading(source) + &functions.join("\n")),
        );
    };
    let source = "crates/core/src/jackpot/record.rs";
    let (entry, in_run, call) = (Record::shape(), InRun::shape(), CallRecord::shape());
    part("write_entry", source, &[lua::record_writers(&entry)]);
    part("read_pending", source, &[lua::record_part_reader(&entry, Some("p"))]);
    part("contributed", source, &[lua::record_writers(&Contributed::shape())]);
    part("in_run", source, &[lua::record_part_reader(&in_run, None)]);
    part("write_call", source, &[lua::record_writers(&call)]);
    part("read_call", source, &[lua::record_part_reader(&call, None)]);
    let source = "crates/core/src/jackpot/batch_record.rs";
    let batch = BatchRecord::shape();
    let writers = [lua::record_writers(&batch), lua::record_writers(&Total::shape())];
    part("write_batch", source, &writers);
    part("read_batch", source, &[lua::record_part_reader(&batch, None)]);
    let source = "crates/core/src/jackpot/added.rs";
    let runs = [
        lua::record_writers(&Run::shape()),
        lua::record_writers(&RunTier::shape()),
    ];
    part("runs", source, &runs);
    part(
        "amount_row",
        source,
        &[lua::record_part_reader(&AmountRow::shape(), None)],
    );
    let epoch = lua::record_without_kinds(&EpochRecord::shape());
    part("epoch", "crates/core/src/jackpot/epoch.rs", &[epoch]);
    let adjustment = lua::record_without_kinds(&AdjustmentRecord::shape());
    let source = "crates/core/src/jackpot/adjustment_record.rs";
    part("adjustment", source, &[adjustment]);
    let source = "crates/core/src/jackpot/reversal.rs";
    let reversal = lua::record_without_kinds(&ReversalRecord::shape());
    let of_tier = lua::record_writers(&ReversedTier::shape());
    part("reversal", source, &[reversal, of_tier]);
    let early = [
        lua::record_without_kinds(&EarlyCancel::shape()),
        lua::record_writers(&ReversalUse::shape()),
        lua::record_writers(&EarlyRow::shape()),
    ];
    part("early_cancel", source, &early);
    part("replaced", source, &[lua::record_writers(&Replaced::shape())]);
    part("moved", source, &[lua::record_without_kinds(&Moved::shape())]);
    let source = "crates/core/src/jackpot/settlement.rs";
    part("hold", source, &[lua::record_without_kinds(&Hold::shape())]);
    part("voided", source, &[lua::record_without_kinds(&Voided::shape())]);
    let source = "crates/core/src/jackpot/leaving.rs";
    let leaving = [
        lua::record_without_kinds(&HeldRecord::shape()),
        lua::record_without_kinds(&Took::shape()),
    ];
    part("leaving", source, &leaving);
    let source = "crates/core/src/jackpot/transfer.rs";
    let transfer = [
        lua::record_without_kinds(&Part::shape()),
        lua::record_without_kinds(&GivenRecord::shape()),
    ];
    part("transfer", source, &transfer);
    let source = "crates/jackpot/src/ledger/event.rs";
    part("claims", source, &[lua::record_writers(&Claim::shape())]);
    let changes = [
        lua::record_writers(&TierChanges::shape()),
        lua::record_writers(&MeterDelta::shape()),
    ];
    part("changes", source, &changes);
    parts_of_others();
    for declared in replies().into_iter().chain([toy::scripts::declared()]) {
        let functions: String = declared.replies.iter().map(lua::reply).collect();
        hold_file(declared.lua, &(lua::heading(declared.source) + &functions));
    }
}

/// What the scripts of coupons and rooms read and write.
fn parts_of_others() {
    let place = lua::heading("crates/room/src/record.rs") + &lua::record(&room::record::Record::shape());
    hold_file("lua/room/record.lua", &place);
    let request = coupon::record::Record::shape();
    let source = lua::heading("crates/coupon/src/record.rs");
    hold_file(
        "lua/coupon/read_request.lua",
        &(source.clone() + &lua::record_reader(&request)),
    );
    hold_file(
        "lua/coupon/write_request.lua",
        &(source + &lua::record_writers(&request)),
    );
    for (name, source, functions) in [
        (
            "coupon/user_issue",
            "crates/coupon/src/record.rs",
            lua::record_list(&UserIssue::shape()),
        ),
        (
            "coupon/lines",
            "crates/coupon/src/ledger/event.rs",
            lua::record_writers(&Line::shape()),
        ),
        (
            "room/checkpoint_text",
            "crates/room/src/ledger/event.rs",
            lua::record_writers(&Checkpoint::shape()),
        ),
    ] {
        hold_file(&format!("lua/{name}.lua"), &(lua::heading(source) + &functions));
    }
}

#[test]
fn lua_has_the_names_of_a_call() {
    let doc = "The fields of an event `enter` from which an entry of the call can be read.";
    let names = lua::names("CALL_FIELDS", doc, &Call::FIELDS);
    hold_file(
        "lua/jackpot/call_fields.lua",
        &(lua::heading("crates/core/src/jackpot/call.rs") + &names),
    );
}

#[test]
fn the_page_of_values_is_that_of_the_declarations() {
    let mut made = HEADING.to_owned();
    let mut add = |part: String| {
        let _ = write!(made, "\n{part}");
    };
    add(packed::page("The terms of a jackpot", &TERMS));
    add(packed::page("The meters of a jackpot", &METERS));
    for (title, shape) in [
        ("An entry", Record::shape()),
        ("An entry of a run", InRun::shape()),
        ("A call", CallRecord::shape()),
        ("A batch", BatchRecord::shape()),
        ("`Total` of a batch", Total::shape()),
        ("`Contributed` of an entry", Contributed::shape()),
        ("`AmountRow` of a call", AmountRow::shape()),
        ("`TierAmount` of a row", TierAmount::shape()),
        ("`Run` of a call", Run::shape()),
        ("`RunTier` of a run", RunTier::shape()),
        ("`Claim` of an event", Claim::shape()),
        ("`TierChanges` of an event", TierChanges::shape()),
        ("`MeterDelta` of a tier", MeterDelta::shape()),
        ("An epoch", EpochRecord::shape()),
        ("An adjustment", AdjustmentRecord::shape()),
        ("`EarlyCancel` of an entry that is not there", EarlyCancel::shape()),
        ("The use of a reversal id", ReversalUse::shape()),
        ("What a transfer moves out of a tier", Part::shape()),
        ("A transfer that was given", GivenRecord::shape()),
        ("An issue of a user of a coupon", UserIssue::shape()),
        ("`Line` of an event of a coupon", Line::shape()),
        ("The `state` of a room's checkpoint", Checkpoint::shape()),
    ] {
        add(page::record(title, &shape));
    }
    add(page::record("A ticket of a room", &room::record::Record::shape()));
    add(page::record("A request for a coupon", &coupon::record::Record::shape()));
    for declared in replies() {
        declared.replies.iter().for_each(|shape| add(page::reply(shape)));
    }
    hold("redis-values.md", &made);
}
