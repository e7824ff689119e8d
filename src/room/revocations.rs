//! The passes of a room that were taken back, as far as an instance knows, and the time of Redis. Pure.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use tokio::time::Instant;

use super::pass::Claims;
use super::ticket::Ticket;

/// Most passes remembered of a room, some 10 MB: those beyond are covered by the floor.
const MAX_REMEMBERED: usize = 100_000;

/// What an instance knows of one room.
#[derive(Debug, Default)]
pub struct Revocations {
    /// When the last complete reading was sent, and what Redis' clock said to it.
    read: Option<(Instant, i64)>,
    /// Number of the last one that was read.
    last: u64,
    tickets: HashMap<Ticket, i64>,
    /// Those tickets as they came: when each was read and when its pass is over anyway, ms.
    order: VecDeque<(Ticket, i64, i64)>,
    /// Passes made before this second are refused.
    floor_s: i64,
}

/// Why a pass is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// Its session has ended.
    Expired,
    /// It was taken back: the user has left.
    Revoked,
    /// It is older than what can be remembered; a renewed one is good.
    Old,
}

impl Revocations {
    /// Number of the last one that was read: those behind it come next.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// How long ago the last complete reading was sent; `None` before the first.
    pub fn age(&self, at: Instant) -> Option<Duration> {
        self.read.map(|(sent, _)| at.saturating_duration_since(sent))
    }

    /// Takes a page that was read at `now_ms`: its items, and up to which number all are known with it. Whether it goes
    /// on from there; not so where Redis has lost some, and all is to be read from the beginning.
    pub fn take(&mut self, items: &[(u64, Ticket, i64)], last: u64, now_ms: i64) -> bool {
        for (_, ticket, exp_ms) in items {
            if self.tickets.insert(*ticket, *exp_ms).is_none() {
                self.order.push_back((*ticket, now_ms, *exp_ms));
            }
        }
        let goes_on = last >= self.last;
        // What is known here stays.
        self.last = if goes_on { last } else { 0 };
        self.bound(MAX_REMEMBERED, now_ms);
        goes_on
    }

    /// Reads all from the beginning next; what is known stays.
    pub fn begin_anew(&mut self) {
        self.last = 0;
    }

    /// All there were have been read, by a call that was sent at `sent` and said `now_ms`.
    pub fn complete(&mut self, sent: Instant, now_ms: i64) {
        self.read = Some((sent, now_ms));
    }

    /// Forgets what is over anyway, then the oldest, for which the floor stands in.
    fn bound(&mut self, most: usize, now_ms: i64) {
        let (tickets, order) = (&mut self.tickets, &mut self.order);
        while let Some((ticket, _, _)) = order.pop_front_if(|(_, _, exp_ms)| *exp_ms <= now_ms) {
            tickets.remove(&ticket);
        }
        if order.len() <= most {
            return;
        }
        order.retain(|(ticket, _, exp_ms)| *exp_ms > now_ms || tickets.remove(ticket).is_none());
        while order.len() > most
            && let Some((ticket, read_ms, _)) = order.pop_front()
        {
            tickets.remove(&ticket);
            // It was taken back before it was read, and made before that.
            self.floor_s = self.floor_s.max(read_ms.div_euclid(1_000) + 1);
        }
    }

    /// Redis' clock at this moment, or somewhat ahead of it, never behind; `None` before the first reading.
    pub fn now_ms(&self, at: Instant) -> Option<i64> {
        let (sent, then_ms) = self.read?;
        let since = i64::try_from(at.saturating_duration_since(sent).as_millis()).unwrap_or(i64::MAX);
        Some(then_ms.saturating_add(since))
    }

    /// Whether a pass is good at this moment. `None` before the first reading.
    pub fn judge(&self, pass: &Claims, at: Instant) -> Option<Result<(), Over>> {
        let now_ms = self.now_ms(at)?;
        Some(if pass.exp.saturating_mul(1_000) <= now_ms {
            Err(Over::Expired)
        } else if self.tickets.contains_key(&pass.jti) {
            Err(Over::Revoked)
        } else if pass.iat < self.floor_s {
            Err(Over::Old)
        } else {
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Id;

    fn ticket(number: u64) -> Ticket {
        Ticket::parse(&format!("{number:032x}")).unwrap()
    }

    fn pass(number: u64, iat: i64, exp: i64) -> Claims {
        Claims {
            iss: "jackpot".to_owned(),
            aud: Id::parse("lobby").unwrap(),
            sub: Id::parse("ann").unwrap(),
            jti: ticket(number),
            iat,
            exp,
        }
    }

    #[test]
    fn a_pass_is_good_until_its_second_or_until_it_is_taken_back() {
        let mut known = Revocations::default();
        let sent = Instant::now();
        let after = |ms| sent + Duration::from_millis(ms);
        assert_eq!(known.judge(&pass(1, 0, 100), sent), None);
        known.take(&[(1, ticket(7), 100_000)], 1, 50_000);
        known.complete(sent, 50_000);
        assert_eq!(known.judge(&pass(1, 0, 60), after(9_999)), Some(Ok(())));
        assert_eq!(known.judge(&pass(1, 0, 60), after(10_000)), Some(Err(Over::Expired)));
        assert_eq!(known.judge(&pass(7, 0, 60), after(0)), Some(Err(Over::Revoked)));
        assert_eq!(known.judge(&pass(7, 0, 60), after(10_000)), Some(Err(Over::Expired)));
        assert_eq!(known.age(after(300)), Some(Duration::from_millis(300)));
    }

    #[test]
    fn what_redis_lost_stays_known() {
        let mut known = Revocations::default();
        known.take(&[(1, ticket(1), 100_000), (2, ticket(2), 100_000)], 2, 50_000);
        assert_eq!(known.last(), 2);
        assert!(!known.take(&[], 1, 50_100));
        assert_eq!(known.last(), 0, "from the beginning again");
        known.take(&[(1, ticket(3), 100_000)], 1, 50_200);
        known.complete(Instant::now(), 50_200);
        for number in 1..=3 {
            let judged = known.judge(&pass(number, 0, 100), Instant::now());
            assert_eq!(judged, Some(Err(Over::Revoked)), "{number}");
        }
    }

    #[test]
    fn those_beyond_the_bound_are_covered_by_the_floor() {
        let mut known = Revocations::default();
        // The first is over by then, and so is the third, which is not at the front.
        known.take(&[(1, ticket(1), 51_000), (2, ticket(2), 90_000)], 2, 50_500);
        known.take(
            &[(3, ticket(3), 51_000), (4, ticket(4), 90_000), (5, ticket(5), 90_000)],
            5,
            50_700,
        );
        known.bound(3, 52_000);
        assert_eq!((known.floor_s, known.order.len(), known.tickets.len()), (0, 3, 3));
        known.take(&[(6, ticket(6), 90_000)], 6, 53_000);
        known.bound(3, 53_000);
        assert_eq!((known.floor_s, known.order.len(), known.tickets.len()), (51, 3, 3));
        known.complete(Instant::now(), 53_000);
        let judge = |number, iat| known.judge(&pass(number, iat, 100), Instant::now());
        assert_eq!(judge(2, 50), Some(Err(Over::Old)));
        assert_eq!(judge(8, 50), Some(Err(Over::Old)));
        assert_eq!(judge(8, 51), Some(Ok(())));
        assert_eq!(judge(4, 53), Some(Err(Over::Revoked)));
    }
}
