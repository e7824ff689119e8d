//! The revoked passes of a room that an instance knows, and the room's time. Pure.
//!
//! An instance remembers all of them until they expire. If it forgot one, it would admit the holder; if it refused
//! others instead, it would hurt users who did not leave. Redis bounds their number (`MAX_REVOKED` in
//! `lua/room/step.lua`); each takes at most some 70 bytes.

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::Instant;

use super::pass::Claims;
use super::scripts::RevokedPass;
use super::ticket::Ticket;

/// Expired ones are dropped at this number, and then at each doubling of the rest.
const TIDY_AT: usize = 1_000;

#[derive(Debug, Default)]
pub struct Revocations {
    /// When the last complete reading was sent, and the room's time in its reply.
    read: Option<(Instant, i64)>,
    /// Number of the last one read.
    last: u64,
    /// The hold in the last page: it moves when Redis has lost some.
    hold_ms: i64,
    /// The expiry of each pass, ms.
    tickets: HashMap<Ticket, i64>,
    /// At this number, expired ones are dropped.
    tidy_at: usize,
}

/// Why a pass is no longer valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// Its session has ended.
    Expired,
    /// It was revoked: the user has left.
    Revoked,
}

impl Revocations {
    /// Number of the last one read. The next page begins after it.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// How long ago the last complete reading was sent; `None` before the first.
    pub fn age(&self, at: Instant) -> Option<Duration> {
        self.read.map(|(sent, _)| at.saturating_duration_since(sent))
    }

    /// Adds a page that was read at `now_ms`: its items, the number up to which all are known with it, and the room's
    /// hold. Returns whether the next page continues. It does not if Redis has lost some and uses their numbers again:
    /// then read all from the beginning.
    pub fn take(&mut self, items: &[RevokedPass], last: u64, hold_ms: i64, now_ms: i64) -> bool {
        let began = self.last == 0;
        let goes_on = last >= self.last && (began || hold_ms == self.hold_ms);
        self.tickets.extend(items.iter().map(|item| (item.ticket, item.exp_ms)));
        // The passes known here stay.
        self.last = if goes_on { last } else { 0 };
        self.hold_ms = hold_ms;
        if self.tickets.len() >= self.tidy_at.max(TIDY_AT) {
            self.tickets.retain(|_, exp_ms| *exp_ms > now_ms);
            self.tidy_at = self.tickets.len() * 2;
        }
        goes_on
    }

    /// Whether all revoked passes known here would have expired by now.
    pub fn is_empty(&self, at: Instant) -> bool {
        let now_ms = self.now_ms(at).unwrap_or(i64::MIN);
        self.tickets.values().all(|exp_ms| *exp_ms <= now_ms)
    }

    /// Ends a complete reading, by a call that was sent at `sent` and replied `now_ms`.
    pub fn complete(&mut self, sent: Instant, now_ms: i64) {
        self.read = Some((sent, now_ms));
    }

    /// The room's time now, never early.
    fn now_ms(&self, at: Instant) -> Option<i64> {
        let (sent, then_ms) = self.read?;
        let since = i64::try_from(at.saturating_duration_since(sent).as_millis()).unwrap_or(i64::MAX);
        Some(then_ms.saturating_add(since))
    }

    /// Whether a pass is valid now. It never accepts a pass for longer than the room's time allows. `None` before the
    /// first reading. `shown_ms`: the highest time of the room that this instance has seen.
    pub fn judge(&self, pass: &Claims, at: Instant, shown_ms: i64) -> Option<Result<(), Over>> {
        let now_ms = self.now_ms(at)?.max(shown_ms);
        Some(if pass.exp.saturating_mul(1_000) <= now_ms {
            Err(Over::Expired)
        } else if self.tickets.contains_key(&pass.jti) {
            Err(Over::Revoked)
        } else {
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jackpot_core::ids::{Id, PersonId};

    fn ticket(number: u64) -> Ticket {
        Ticket::parse(&format!("{number:032x}")).unwrap()
    }

    fn pass(number: u64, iat: i64, exp: i64) -> Claims {
        Claims {
            iss: "jackpot".to_owned(),
            aud: Id::parse("lobby").unwrap(),
            sub: PersonId::parse("ann").unwrap(),
            jti: ticket(number),
            iat,
            exp,
        }
    }

    /// Number, ticket, expiry of the pass and time of the revocation, in ms.
    fn revoked<const N: usize>(all: [(u64, u64, i64, i64); N]) -> [RevokedPass; N] {
        all.map(|(number, of, exp_ms, at_ms)| RevokedPass {
            number,
            ticket: ticket(of),
            exp_ms,
            at_ms,
        })
    }

    #[test]
    fn a_pass_is_good_until_its_second_or_until_it_is_taken_back() {
        let mut known = Revocations::default();
        let sent = Instant::now();
        let after = |ms| sent + Duration::from_millis(ms);
        assert_eq!(known.judge(&pass(1, 0, 100), sent, 0), None);
        known.take(&revoked([(1, 7, 100_000, 40_000)]), 1, 0, 50_000);
        known.complete(sent, 50_000);
        assert_eq!(known.judge(&pass(1, 0, 60), after(9_999), 0), Some(Ok(())));
        assert_eq!(known.judge(&pass(1, 0, 60), after(10_000), 0), Some(Err(Over::Expired)));
        assert_eq!(known.judge(&pass(7, 0, 60), after(0), 0), Some(Err(Over::Revoked)));
        assert_eq!(known.judge(&pass(7, 0, 60), after(10_000), 0), Some(Err(Over::Expired)));
        // The last reading is older than what this instance has seen since.
        assert_eq!(known.judge(&pass(1, 0, 60), after(0), 59_999), Some(Ok(())));
        assert_eq!(known.judge(&pass(1, 0, 60), after(0), 60_000), Some(Err(Over::Expired)));
        assert_eq!(known.age(after(300)), Some(Duration::from_millis(300)));
    }

    #[test]
    fn what_redis_lost_stays_known() {
        let mut known = Revocations::default();
        known.take(&revoked([(1, 1, 100_000, 1), (2, 2, 100_000, 1)]), 2, 0, 50_000);
        assert_eq!(known.last(), 2);
        assert!(!known.take(&[], 1, 0, 50_100));
        assert_eq!(known.last(), 0, "from the beginning again");
        assert!(known.take(&revoked([(1, 3, 100_000, 1)]), 1, 0, 50_200));
        known.complete(Instant::now(), 50_200);
        for number in 1..=3 {
            let judged = known.judge(&pass(number, 0, 100), Instant::now(), 0);
            assert_eq!(judged, Some(Err(Over::Revoked)), "{number}");
        }
    }

    /// Another instance continued from the older state, and its numbers exceed those known here.
    #[test]
    fn numbers_that_were_given_again_are_read_again() {
        let mut known = Revocations::default();
        assert!(
            known.take(&revoked([(2, 1, 100_000, 1)]), 2, 7_000, 50_000),
            "the first reading"
        );
        assert!(
            !known.take(&revoked([(3, 3, 100_000, 2)]), 3, 90_000, 50_100),
            "Redis lost some since"
        );
        assert_eq!(known.last(), 0);
        assert!(known.take(&revoked([(2, 2, 100_000, 2), (3, 3, 100_000, 2)]), 3, 90_000, 50_200));
        assert!(known.take(&[], 3, 90_000, 50_300));
        known.complete(Instant::now(), 50_300);
        for number in 1..=3 {
            let judged = known.judge(&pass(number, 0, 100), Instant::now(), 0);
            assert_eq!(judged, Some(Err(Over::Revoked)), "{number}");
        }
    }

    #[test]
    fn all_are_known_until_they_expire_and_no_longer() {
        let mut known = Revocations::default();
        let many = u64::try_from(TIDY_AT).unwrap();
        let sent = Instant::now();
        for number in 1..=3 * many {
            // Every other one expires long before the others.
            let exp_ms = if number % 2 == 0 { 51_000 } else { 90_000 };
            known.take(&revoked([(number, number, exp_ms, 50_000)]), number, 0, 52_000);
        }
        known.complete(sent, 52_000);
        assert!(
            known.tickets.len() < usize::try_from(2 * many).unwrap(),
            "{}",
            known.tickets.len()
        );
        for number in (1..=3 * many).step_by(2) {
            assert_eq!(
                known.judge(&pass(number, 0, 90), sent, 0),
                Some(Err(Over::Revoked)),
                "{number}"
            );
        }
        assert_eq!(
            known.judge(&pass(0, 0, 90), sent, 0),
            Some(Ok(())),
            "a pass of another user who is in"
        );
    }

    #[test]
    fn it_is_empty_once_all_are_over() {
        let mut known = Revocations::default();
        let sent = Instant::now();
        assert!(known.is_empty(sent));
        known.take(&revoked([(1, 1, 60_000, 1)]), 1, 0, 50_000);
        known.complete(sent, 50_000);
        assert!(!known.is_empty(sent + Duration::from_millis(9_999)));
        assert!(known.is_empty(sent + Duration::from_secs(10)));
    }
}
