//! The reference agrees with the declarations in Rust.

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
use jackpot_core::jackpot::epoch::EpochRecord;
use jackpot_core::jackpot::record::{CallRecord, Contributed, InRun, Record};
use jackpot_core::jackpot::reversal::{EarlyCancel, ReversalUse};
use jackpot_core::jackpot::split::TierAmount;
use jackpot_core::jackpot::transfer::{GivenRecord, Part};
use jackpot_core::wire::{packed, page};

use super::hold;

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
    for shape in replies().into_iter().flat_map(|(_, replies)| replies) {
        add(page::reply(&shape));
    }
    hold("redis-values.md", &made);
}
