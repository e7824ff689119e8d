//! Nothing is left half done.

use super::Judged;
use crate::jackpot::evidence::{Evidence, Pending};

/// The gauge of pending entries reached 0 in time.
pub fn none_left(evidence: &Evidence) -> Judged {
    match &evidence.pending {
        Pending::None { after_ms } => Judged::Held(format!("none after {after_ms} ms")),
        Pending::Left(count) => Judged::Violated(format!("{count} entries still had no outcome 10 s after the run")),
        Pending::Unknown(why) => Judged::NotChecked(why.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Judged, Pending};
    use crate::jackpot::check::fixture::{self, found};

    #[test]
    fn entries_left_are_a_violation_and_an_unreadable_gauge_is_named() {
        found("pending", "", "2", |evidence| evidence.pending = Pending::Left(2));
        let mut evidence = fixture::honest("");
        evidence.pending = Pending::Unknown("no gauge".to_owned());
        assert_eq!(
            fixture::judged("pending", &evidence),
            Judged::NotChecked("no gauge".to_owned())
        );
    }
}
