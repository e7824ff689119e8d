//! What a restore of a coupon would forget: its requests and issues that only Redis has.

use jackpot_core::clock::rfc3339;
use jackpot_core::text::printable;

use super::event::{Event, Kind, What};
use jackpot_kernel::ledger::forgotten::Forgotten;

/// Longest shown id, in characters.
const MAX_SHOWN: usize = 200;

/// Counts what an event did.
pub(super) fn forget(forgotten: &mut Forgotten, event: Event) {
    let (Kind::Issue { lines, .. } | Kind::Serve { lines, .. }) = event.kind else {
        return;
    };
    for line in lines {
        forgotten.asked += 1;
        if let What::Issued { sequence, code } = line.what {
            forgotten.list(format!(
                "issue {sequence}: request '{}' of {}, code {code}, {}",
                printable(&line.request, MAX_SHOWN),
                line.user,
                rfc3339(event.at_ms)
            ));
        }
    }
}
