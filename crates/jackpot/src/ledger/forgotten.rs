//! What a restore of a jackpot would forget: its entries and payouts that only Redis has.

use jackpot_core::clock::rfc3339;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::derived::payout_id;
use jackpot_core::text::printable;

use super::event::{Claim, ClaimResult, Enter, Event, Kind};
use jackpot_kernel::ledger::forgotten::Forgotten;

/// Longest shown id, in characters.
const MAX_SHOWN: usize = 200;

/// Counts what an event did.
pub(super) fn forget(forgotten: &mut Forgotten, id: &Id, event: Event) {
    match event.kind {
        Kind::Enter(Enter { call, claims, .. }) => {
            forgotten.asked += call.entries.len() as u64;
            for claim in claims {
                let entry = call.entry(claim.sequence);
                let (entry_id, player) =
                    entry.map_or(("", ""), |(_, entry)| (&entry.entry_id, entry.sent.player.as_str()));
                paid(forgotten, id, &event.history, event.at_ms, entry_id, player, &claim);
            }
        }
        Kind::Claim { entry_id, claim } => paid(forgotten, id, &event.history, event.at_ms, &entry_id, "", &claim),
        _ => {}
    }
}

fn paid(forgotten: &mut Forgotten, id: &Id, history: &str, at_ms: i64, entry_id: &str, player: &str, claim: &Claim) {
    if let ClaimResult::Paid { tier, amount, .. } = &claim.result {
        let to = if player.is_empty() {
            String::new()
        } else {
            format!(" to {player}")
        };
        forgotten.list(format!(
            "payout {}: {amount} from '{tier}'{to}, entry '{}', {}",
            payout_id(id, history, entry_id, claim.sequence),
            printable(entry_id, MAX_SHOWN),
            rfc3339(at_ms)
        ));
    }
}
