//! A segment of entries in the list that a script gets (`lua/jackpot/entering.lua`), for both scripts that take entries.

use std::fmt::Write;

use jackpot_core::jackpot::definition::{Definition, MoneyKind, MoneyPrize};
use jackpot_core::jackpot::split::TierAmount;

use crate::segment::Segment;
use jackpot_kernel::subject::List;

/// Adds the segment, which was drawn under this definition.
pub(super) fn add_segment(list: &mut List, segment: &Segment, definition: &Definition) {
    let mut prizes = String::new();
    for rank in &segment.ranks {
        if let Some(prize) = definition.money_prize(*rank) {
            // Writing to a string does not fail.
            let _ = write!(prizes, "{rank} {};", money_text(prize));
        }
    }
    list.text(&prizes).count(segment.rows.len()).count(segment.steps.len());
    for TierAmount { pool, reserve } in segment.rows.iter().flatten() {
        for part in [pool, reserve] {
            list.whole(part.units).whole(u64::from(part.micro));
        }
    }
    for step in &segment.steps {
        list.count(step.entries).count(step.row + 1).text(&step.winner);
    }
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
