//! Rebuilds the records of users in Redis: which issues count for a user. Pure.
//!
//! A record is a [`UserIssue`] for each issue that counts, the oldest first. An issue to a user drops the earlier issues
//! that its window had released by then (`count_issues` in `lua/coupon/record.lua`). A void drops its own issue;
//! nothing else changes the record. So a user's record follows from the user's issues, and from the windows that were
//! in force.

use jackpot_core::wire::Field;

use crate::record::UserIssue;

/// An issue of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issued {
    /// Id of the request.
    pub request: String,
    /// When it was issued, ms.
    pub at_ms: i64,
    /// Event that issued it.
    pub n: i64,
    /// Number of the issue.
    pub sequence: i64,
    /// Event that voided it, 0 while it is not.
    pub voided_n: i64,
}

/// The windows, each with the event from which it was in force, in order; `None`: an issue counts for ever.
#[derive(Debug, Clone, Default)]
pub struct Windows(pub Vec<(i64, Option<i64>)>);

impl Windows {
    fn at(&self, n: i64) -> Option<i64> {
        let before = self.0.partition_point(|(from, _)| *from <= n);
        before.checked_sub(1).and_then(|last| self.0[last].1)
    }
}

/// The record of a user with these issues, in their order; `None` when there is none.
pub fn record(issues: &[Issued], windows: &Windows) -> Option<String> {
    // What happened to it, in order: by the number of the event, and within an event by the number of the issue.
    let mut steps: Vec<_> = issues
        .iter()
        .map(|issue| ((issue.n, issue.sequence), issue, true))
        .collect();
    let voids = issues.iter().filter(|issue| issue.voided_n > 0);
    steps.extend(voids.map(|issue| ((issue.voided_n, 0), issue, false)));
    steps.sort_by_key(|(at, ..)| *at);
    let mut kept: Vec<&Issued> = Vec::new();
    for (_, issue, given) in steps {
        if given {
            let since = windows.at(issue.n).map_or(-1, |window| issue.at_ms - window);
            kept.retain(|held| held.at_ms > since);
            kept.push(issue);
        } else {
            kept.retain(|held| held.request != issue.request);
        }
    }
    let one = |issue: &Issued| UserIssue {
        request: issue.request.clone(),
        at_ms: issue.at_ms,
    };
    (!kept.is_empty()).then(|| kept.into_iter().map(one).collect::<Vec<_>>().text())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn issued(n: i64, at_ms: i64, voided_n: i64) -> Issued {
        Issued {
            request: format!("r{n}"),
            at_ms,
            n,
            sequence: n,
            voided_n,
        }
    }

    #[test]
    fn a_record_holds_what_counts_and_what_nobody_looked_at_since() {
        let always = Windows(vec![(1, None)]);
        let issues = [issued(2, 100, 0), issued(3, 200, 5), issued(4, 300, 0)];
        assert_eq!(record(&issues, &always).as_deref(), Some("r2 100;r4 300;"));
        assert_eq!(record(&issues[1..2], &always), None);
        assert_eq!(record(&[], &always), None);
        // When the third came, the window had released the first but not the second. It was changed after both.
        let window = Windows(vec![(1, Some(150)), (6, None)]);
        let issues = [issued(2, 100, 0), issued(3, 200, 0), issued(4, 250, 0)];
        assert_eq!(record(&issues, &window).as_deref(), Some("r3 200;r4 250;"));
        assert_eq!(record(&issues[..2], &window).as_deref(), Some("r2 100;r3 200;"));
        let later = [issued(2, 100, 0), issued(7, 900, 0)];
        assert_eq!(record(&later, &window).as_deref(), Some("r2 100;r7 900;"));
    }

    #[test]
    fn issues_of_one_call_are_in_their_order() {
        let windows = Windows(vec![(1, Some(10))]);
        let mut both = [issued(2, 100, 0), issued(2, 100, 0)];
        (both[1].request, both[1].sequence) = ("other".to_owned(), 3);
        both.reverse();
        assert_eq!(record(&both, &windows).as_deref(), Some("r2 100;other 100;"));
    }
}
