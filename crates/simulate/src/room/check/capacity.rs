//! Never more open sessions than the capacity: in the samples of the monitor, and by the times in the answers.

use crate::finding::Judged;
use crate::room::evidence::Evidence;

/// In every sample of Redis, and in everything that the service showed.
pub fn never_exceeded(evidence: &Evidence) -> Judged {
    let limit = |answered_us: u64| match answered_us {
        before if before < evidence.opening.sent_us => 0,
        _ => evidence.plan.options.capacity,
    };
    let of_redis = evidence.samples.iter().map(|sample| (sample.answered_us, sample.open));
    let of_service = evidence
        .shown
        .iter()
        .map(|shown| (shown.answered_us, shown.counts.active));
    let mut most = 0;
    for (at_us, open) in of_redis.chain(of_service) {
        if open > limit(at_us) {
            let limit = limit(at_us);
            return Judged::Violated(format!(
                "{open} sessions were open at {at_us} µs, the capacity was {limit}"
            ));
        }
        most = most.max(open);
    }
    if let Some(why) = &evidence.blind {
        return Judged::NotChecked(format!("Redis could not be asked once: {why}"));
    }
    let (samples, shown) = (evidence.samples.len(), evidence.shown.len());
    if samples + shown == 0 {
        return Judged::NotChecked("the monitor saw nothing".to_owned());
    }
    Judged::Held(format!(
        "at most {most} in {samples} samples of Redis and {shown} of the service"
    ))
}

/// The stays of all users, laid over each other; one that ends at a millisecond makes room for one that begins there.
pub fn no_overlap(evidence: &Evidence) -> Result<String, String> {
    let mut changes = Vec::new();
    let mut stays = 0;
    for visit in &evidence.visits {
        if let Some((from_ms, to_ms)) = visit.stay_ms(&evidence.plan) {
            changes.extend([(from_ms, 1_i64), (to_ms, -1)]);
            stays += 1;
        }
    }
    changes.sort_unstable();
    let capacity = i64::try_from(evidence.plan.options.capacity).unwrap_or(i64::MAX);
    let (mut open, mut most) = (0, 0);
    for (at_ms, change) in changes {
        open += change;
        most = most.max(open);
        if open > capacity {
            return Err(format!("{open} sessions at {at_ms} ms, the capacity is {capacity}"));
        }
    }
    Ok(format!("at most {most} of {stays} sessions"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::check::fixture::{self, found};

    #[test]
    fn one_too_many_in_a_single_sample_is_found_and_one_before_the_opening() {
        let changes: [fn(&mut Evidence); 3] = [
            |evidence| {
                let full = evidence.samples.iter_mut().find(|sample| sample.open == 20);
                full.expect("it was full").open += 1;
            },
            |evidence| evidence.samples[1].open = 1,
            |evidence| evidence.shown.last_mut().expect("some").counts.active = 21,
        ];
        for change in changes {
            found("capacity", "", "", change);
        }
    }

    #[test]
    fn a_monitor_that_saw_nothing_says_so() {
        let mut evidence = fixture::honest("");
        evidence.samples.clear();
        assert!(
            matches!(never_exceeded(&evidence), Judged::Held(_)),
            "the service was asked"
        );
        evidence.blind = Some("no such file".to_owned());
        let judged = never_exceeded(&evidence);
        assert!(
            matches!(&judged, Judged::NotChecked(why) if why.contains("no such file")),
            "{judged:?}"
        );
        (evidence.shown, evidence.blind) = (Vec::new(), None);
        assert!(matches!(never_exceeded(&evidence), Judged::NotChecked(_)));
    }

    #[test]
    fn a_session_that_began_while_the_room_was_full_is_found() {
        found("overlap", "--abandon 0", "21 sessions", |evidence| {
            let promoted = fixture::first(evidence, |visit| {
                visit.admission.is_some() && visit.position.is_some_and(|position| position > 60)
            });
            let first_ms = fixture::session(evidence, 0).admitted_ms;
            fixture::session(evidence, promoted).admitted_ms = first_ms;
        });
    }

    #[test]
    fn a_session_that_its_user_never_saw_counts_for_its_shortest_time() {
        let unseen = |evidence: &mut Evidence| {
            for visit in &mut evidence.visits {
                visit.admission = None;
            }
        };
        let line = "--die 100 --abandon 0 --leave 0 --renew 0";
        let mut evidence = fixture::honest(line);
        unseen(&mut evidence);
        no_overlap(&evidence).expect("still none");
        found("overlap", line, "", |evidence| {
            unseen(evidence);
            evidence.plan.options.capacity -= 1;
        });
    }
}
