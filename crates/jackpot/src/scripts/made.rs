//! The Lua that follows from the declarations of a jackpot, by the names under which its files need it.

use std::sync::LazyLock;

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
use jackpot_core::jackpot::transfer::{GivenRecord, Part};
use jackpot_core::wire::lua::{names, record_part_reader, record_without_kinds, record_writers};
use jackpot_core::wire::packed;

use jackpot_kernel::store::Made;
use jackpot_kernel::subject::made;

use super::declared;
use super::packed::{METERS, TERMS};
use crate::ledger::event::{Claim, Kind, MeterDelta, TierChanges};

pub(super) static MADE: LazyLock<Made> = LazyLock::new(|| made::<Kind>(records(), declared()));

fn records() -> Vec<(&'static str, String)> {
    let whole = record_without_kinds;
    let (entry, batch) = (Record::shape(), BatchRecord::shape());
    vec![
        (
            "values",
            "-- needs: subject/packed\n".to_owned() + &packed::lua(&TERMS) + &packed::lua(&METERS),
        ),
        ("write_entry", record_writers(&entry)),
        ("read_pending", record_part_reader(&entry, Some("p"))),
        ("contributed", record_writers(&Contributed::shape())),
        ("in_run", record_part_reader(&InRun::shape(), None)),
        ("write_call", record_writers(&CallRecord::shape())),
        ("read_call", record_part_reader(&CallRecord::shape(), None)),
        ("call_fields", names("CALL_FIELDS", &Call::FIELDS)),
        ("write_batch", record_writers(&batch) + &record_writers(&Total::shape())),
        ("read_batch", record_part_reader(&batch, None)),
        (
            "runs",
            record_writers(&Run::shape()) + &record_writers(&RunTier::shape()),
        ),
        ("amount_row", record_part_reader(&AmountRow::shape(), None)),
        ("epoch", whole(&EpochRecord::shape())),
        ("adjustment", whole(&AdjustmentRecord::shape())),
        (
            "reversal",
            whole(&ReversalRecord::shape()) + &record_writers(&ReversedTier::shape()),
        ),
        (
            "early_cancel",
            whole(&EarlyCancel::shape()) + &record_writers(&ReversalUse::shape()) + &record_writers(&EarlyRow::shape()),
        ),
        ("replaced", record_writers(&Replaced::shape())),
        ("moved", whole(&Moved::shape())),
        ("hold", whole(&Hold::shape())),
        ("voided", whole(&Voided::shape())),
        ("leaving", whole(&HeldRecord::shape()) + &whole(&Took::shape())),
        ("transfer", whole(&Part::shape()) + &whole(&GivenRecord::shape())),
        ("claims", record_writers(&Claim::shape())),
        (
            "changes",
            record_writers(&TierChanges::shape()) + &record_writers(&MeterDelta::shape()),
        ),
    ]
}
