//! Emergency stops.

use crate::finding::Judged;
use crate::market::evidence::Evidence;

pub fn nothing_taken(evidence: &Evidence) -> Judged {
    let seen = &evidence.seen;
    if seen.stops.is_empty() {
        return Judged::NotChecked("nothing was stopped".to_owned());
    }
    for stop in &seen.stops {
        let inside = |at: u64| (stop.from_us..stop.to_us).contains(&at);
        // A repeat of an entry that was taken before is answered meanwhile.
        let taken = seen
            .entries
            .iter()
            .find(|entry| entry.is_new && inside(entry.sent_us) && inside(entry.answered_us));
        if let Some(entry) = taken {
            let id = evidence.id(entry.jackpot);
            return Judged::Violated(format!(
                "{id}: {} was sent {} ms after the stop, and taken",
                entry.id,
                (entry.sent_us - stop.from_us) / 1_000
            ));
        }
    }
    let total: u64 = seen.stops.iter().map(|stop| stop.to_us - stop.from_us).sum();
    Judged::Held(format!("{} stops, {} ms in all", seen.stops.len(), total / 1_000))
}

#[cfg(test)]
mod tests {
    use crate::finding::Judged;
    use crate::market::check::fixture::{day, found};

    #[test]
    fn an_entry_that_is_taken_meanwhile_is_found() {
        found("emergency-stop", "1 ms after the stop", |evidence| {
            let from_us = evidence.seen.stops[0].from_us;
            let entry = &mut evidence.seen.entries[0];
            (entry.sent_us, entry.answered_us) = (from_us + 1_000, from_us + 2_000);
        });
        let mut evidence = day();
        evidence.seen.stops.clear();
        assert!(matches!(super::nothing_taken(&evidence), Judged::NotChecked(_)));
    }
}
