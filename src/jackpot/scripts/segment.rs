//! A segment of entries as arguments (`lua/jackpot/entering.lua`), for both scripts that take entries.

use std::fmt::Write;

use jackpot_core::jackpot::definition::{Definition, MoneyKind, MoneyPrize};
use jackpot_core::jackpot::split::TierAmount;

use crate::jackpot::segment::Segment;
use crate::store::Call;

/// Adds the segment, which was drawn under this definition.
pub(super) fn add_segment<'s>(call: Call<'s>, segment: &Segment, definition: &Definition) -> Call<'s> {
    let mut prizes = String::new();
    for rank in &segment.ranks {
        if let Some(prize) = definition.money_prize(*rank) {
            // Writing to a string does not fail.
            let _ = write!(prizes, "{rank} {};", money_text(prize));
        }
    }
    let mut call = call.arg(prizes).arg(segment.rows.len()).arg(segment.steps.len());
    for TierAmount { pool, reserve } in segment.rows.iter().flatten() {
        call = call
            .arg(pool.units)
            .arg(pool.micro)
            .arg(reserve.units)
            .arg(reserve.micro);
    }
    for step in &segment.steps {
        call = call.arg(step.entries).arg(step.row + 1).arg(&step.winner);
    }
    call
}

/// `tier kind value min`, as `parse_prize` of `lua/jackpot/take.lua` reads it.
pub(super) fn money_text(prize: &MoneyPrize) -> String {
    let (kind, value) = match prize.kind {
        MoneyKind::All => ("all", 0),
        MoneyKind::Share(share) => ("share", u64::from(share.get())),
        MoneyKind::Fixed(amount) => ("fixed", amount.get()),
    };
    format!("{} {kind} {value} {}", prize.tier, prize.min_payout)
}
