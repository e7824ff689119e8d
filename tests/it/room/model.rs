//! A small pure model of a room, written from the contract alone (docs/decisions/0016-rooms.md): no Redis, no script, no
//! bounds of work.

use std::collections::BTreeMap;

use jackpot::room::scripts::{Counts, End, Place, Seen, Visit, VisitReply};
use jackpot::room::ticket::{OrderSeed, Ticket};
use jackpot_core::ids::PersonId;

const MINUTE_MS: i64 = 60_000;
const AWAY_MS: i64 = 5_000;
const STEPPED_EVERY_MS: i64 = 1_000;
/// How long one leave counts against a user. A user with more than five times this cannot join.
const LEFT_MS: i64 = 10_000;

/// What an operator may choose; times in ms.
#[derive(Debug, Clone)]
pub struct Rules {
    pub capacity: usize,
    pub session: i64,
    pub timeout: i64,
    pub rate: Option<usize>,
    pub opens_at: Option<i64>,
}

/// Where a ticket stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stand {
    Waiting { order: i64, joined: i64, until: i64 },
    In { admitted: i64, end: i64, joined: i64 },
    Over { how: End, at: i64, dropped: i64 },
}

#[derive(Debug, Clone)]
pub struct Model {
    pub rules: Rules,
    pub open: bool,
    /// By Redis' clock, which may be put back. All other times are by the room's clock, which never goes back.
    pub opens: i64,
    pub opened: bool,
    pub hold: i64,
    /// Nobody is abandoned before this time: a step came long after the one before.
    pub grace: i64,
    pub stepped: i64,
    pub passes_until: i64,
    pub retention: i64,
    pub passes: u64,
    pub joins: u64,
    pub counts: Counts,
    pub tickets: BTreeMap<Ticket, (PersonId, Stand)>,
    /// The ticket that a user has; before the opening also one that is over.
    pub users: BTreeMap<PersonId, Ticket>,
    /// By number: ticket, end of the pass, and when the pass was taken back.
    pub revoked: BTreeMap<u64, (Ticket, i64, i64)>,
    pub collected: Vec<Ticket>,
    /// By user who left: the time up to which that counts against the user.
    pub busy: BTreeMap<PersonId, i64>,
    /// Times of all admissions since there is a rate.
    pub admissions: Vec<i64>,
}

fn whole_second(ms: i64) -> i64 {
    (ms + 999) / 1_000 * 1_000
}

impl Model {
    pub fn new(rules: Rules, retention: i64, now: i64) -> Self {
        Self {
            opens: rules.opens_at.unwrap_or(now),
            opened: rules.opens_at.is_none_or(|at| at <= now),
            passes_until: 0,
            rules,
            open: true,
            hold: 0,
            grace: 0,
            stepped: 0,
            retention,
            passes: 0,
            joins: 0,
            counts: Counts::default(),
            tickets: BTreeMap::new(),
            users: BTreeMap::new(),
            revoked: BTreeMap::new(),
            collected: Vec::new(),
            busy: BTreeMap::new(),
            admissions: Vec::new(),
        }
    }

    /// Puts rules; `false` when the room has opened and an opening would be set again.
    pub fn define(&mut self, rules: Rules, now: i64, wall: i64) -> bool {
        let was_open = self.opened || wall >= self.opens;
        if !was_open {
            self.opens = rules.opens_at.unwrap_or(wall).max(wall);
        } else if rules.opens_at.is_some() && rules.opens_at != self.rules.opens_at {
            return false;
        } else {
            self.passes_until = self.passes_until.max(whole_second(now + self.rules.session));
        }
        if rules.rate.is_none() {
            self.admissions.clear();
        }
        self.opened = was_open || wall >= self.opens;
        self.rules = rules;
        true
    }

    /// One call at room time `now` and time `wall` of Redis' clock, by an instance that knows `known` passes.
    pub fn visit(&mut self, now: i64, wall: i64, known: u64, visits: &[Visit]) -> Vec<VisitReply> {
        self.opened |= wall >= self.opens;
        if known > self.passes {
            self.passes = known;
            let counts = self.rules.rate.map_or(0, |_| MINUTE_MS + 1);
            let until = whole_second(now + self.rules.session.max(counts));
            self.hold = self.hold.max(until).max(self.passes_until);
        }
        if !self.line().is_empty() && now - self.stepped > AWAY_MS {
            self.grace = now + self.rules.timeout;
        }
        self.reap(now, wall);
        self.admit(now, None);
        let done: Vec<_> = visits.iter().map(|visit| self.one(now, visit)).collect();
        if !self.line().is_empty() && (now - self.stepped).abs() >= STEPPED_EVERY_MS {
            self.stepped = now;
        }
        let answers = done.into_iter().zip(visits).map(|(done, visit)| match done {
            Ok(ticket) => self.answer(ticket, visit),
            Err(wait_ms) => VisitReply::Limited { wait_ms },
        });
        answers.collect()
    }

    /// Gives another order to the users who joined before the opening.
    pub fn reorder(&mut self, seed: &OrderSeed) {
        for ticket in &self.collected {
            if let Some((_, Stand::Waiting { order, .. })) = self.tickets.get_mut(ticket) {
                *order = seed.order(*ticket);
            }
        }
    }

    fn reap(&mut self, now: i64, wall: i64) {
        // Before the opening the last ticket of each user stays, as the record that the user had a chance.
        let kept = self.opens + now - wall + self.retention;
        let (opened, users) = (self.opened, &self.users);
        self.tickets.retain(|ticket, (user, stand)| match stand {
            Stand::Over { dropped, .. } if *dropped <= now => {
                *dropped = kept;
                !opened && users.get(user) == Some(ticket)
            }
            _ => true,
        });
        if opened {
            self.users.retain(|_, ticket| self.tickets.contains_key(ticket));
        }
        while self
            .revoked
            .first_key_value()
            .is_some_and(|(_, (_, exp, _))| *exp <= now)
        {
            self.revoked.pop_first();
        }
        let over = self.tickets.iter().filter_map(|(ticket, (_, stand))| match stand {
            Stand::In { end, .. } if *end <= now => Some((*ticket, End::Expired, *end)),
            Stand::Waiting { until, .. } if *until <= now && self.grace <= now => {
                Some((*ticket, End::Abandoned, (*until).max(self.grace)))
            }
            _ => None,
        });
        for (ticket, how, at) in over.collect::<Vec<_>>() {
            self.finish(ticket, how, at, now);
        }
    }

    fn finish(&mut self, ticket: Ticket, how: End, at: i64, now: i64) {
        *match how {
            End::Expired => &mut self.counts.expired,
            End::Abandoned => &mut self.counts.abandoned,
            End::Left => &mut self.counts.left,
        } += 1;
        let dropped = now + self.retention;
        let (user, stand) = self.tickets.get_mut(&ticket).expect("a ticket");
        *stand = Stand::Over { how, at, dropped };
        if self.opened {
            self.users.remove(user);
            if how != End::Left {
                self.busy.remove(user);
            }
        }
    }

    /// The tickets that wait, the next first.
    pub fn line(&self) -> Vec<Ticket> {
        let mut line: Vec<_> = self
            .tickets
            .iter()
            .filter_map(|(ticket, (_, stand))| match stand {
                Stand::Waiting { order, .. } => Some((*order, *ticket)),
                _ => None,
            })
            .collect();
        line.sort_unstable();
        line.into_iter().map(|(_, ticket)| ticket).collect()
    }

    pub fn active(&self) -> usize {
        let is_in = |stand: &Stand| matches!(stand, Stand::In { .. });
        self.tickets.values().filter(|(_, stand)| is_in(stand)).count()
    }

    fn admit(&mut self, now: i64, fresh: Option<Ticket>) {
        for ticket in self.line() {
            let lately = self.admissions.iter().filter(|at| **at >= now - MINUTE_MS).count();
            let by_rate = self.rules.rate.is_none_or(|rate| lately < rate);
            let may = self.open && self.opened && now >= self.hold;
            if !(may && by_rate && self.active() < self.rules.capacity) {
                return;
            }
            let stand = &mut self.tickets.get_mut(&ticket).expect("a ticket").1;
            let Stand::Waiting { joined, .. } = *stand else {
                unreachable!()
            };
            let (admitted, end) = (now, whole_second(now + self.rules.session));
            *stand = Stand::In { admitted, end, joined };
            self.passes += 1;
            self.counts.admitted += 1;
            if fresh != Some(ticket) {
                self.counts.promoted += 1;
                self.counts.waited_ms += u64::try_from(now - joined).expect("time goes on");
            }
            if self.rules.rate.is_some() {
                self.admissions.push(now);
            }
        }
    }

    /// Does one visit; returns its ticket, or how long the user has to wait for one.
    fn one(&mut self, now: i64, visit: &Visit) -> Result<Option<Ticket>, u64> {
        let timeout = self.rules.timeout;
        Ok(match visit {
            Visit::Join {
                user, ticket, order, ..
            } => return self.join(now, user, *ticket, *order),
            Visit::Look(ticket) => {
                if let Some((_, Stand::Waiting { until, .. })) = self.tickets.get_mut(ticket) {
                    *until = now + timeout;
                }
                Some(*ticket)
            }
            Visit::Renew(ticket) => {
                if let Some((_, Stand::In { end, .. })) = self.tickets.get_mut(ticket) {
                    *end = whole_second(now + self.rules.session).max(*end);
                    self.passes += 1;
                }
                Some(*ticket)
            }
            Visit::Leave(ticket) => {
                let stand = self.tickets.get(ticket).map(|(_, stand)| stand.clone());
                if let Some(Stand::In { end, .. }) = stand {
                    self.passes += 1;
                    self.revoked.insert(self.passes, (*ticket, end, now));
                }
                if let Some(Stand::In { .. } | Stand::Waiting { .. }) = stand {
                    let user = self.tickets[ticket].0.clone();
                    let busy = self.busy.entry(user).or_default();
                    *busy = (*busy).max(now) + LEFT_MS;
                    self.finish(*ticket, End::Left, now, now);
                    self.admit(now, None);
                }
                Some(*ticket)
            }
        })
    }

    fn join(&mut self, now: i64, user: &PersonId, ticket: Ticket, order: i64) -> Result<Option<Ticket>, u64> {
        let of_user = self
            .tickets
            .iter_mut()
            .find(|(_, (of, stand))| of == user && !matches!(stand, Stand::Over { .. }));
        if let Some((ticket, (_, stand))) = of_user {
            if let Stand::Waiting { until, .. } = stand {
                *until = now + self.rules.timeout;
            }
            return Ok(Some(*ticket));
        }
        if self.tickets.contains_key(&ticket) {
            return Ok(Some(ticket));
        }
        if !self.open {
            return Ok(None);
        }
        let busy = self.busy.get(user).map_or(0, |busy| busy - now);
        if busy > 5 * LEFT_MS {
            return Err(u64::try_from(busy - 5 * LEFT_MS).expect("later"));
        }
        // A user who had a place before the opening does not get another chance.
        let had = self.users.insert(user.clone(), ticket).is_some();
        self.joins += 1;
        let mut order_of = i64::try_from(self.joins).expect("few");
        if !self.opened && !had {
            self.collected.push(ticket);
            order_of = order;
        }
        let (joined, until) = (now, now + self.rules.timeout);
        let stand = Stand::Waiting {
            order: order_of,
            joined,
            until,
        };
        self.tickets.insert(ticket, (user.clone(), stand));
        self.admit(now, Some(ticket));
        Ok(Some(ticket))
    }

    fn answer(&self, ticket: Option<Ticket>, visit: &Visit) -> VisitReply {
        let Some(ticket) = ticket else {
            return VisitReply::Suspended;
        };
        let Some((user, stand)) = self.tickets.get(&ticket) else {
            return VisitReply::Unknown;
        };
        let (place, joined_ms) = match *stand {
            Stand::Waiting { joined, .. } => {
                let ahead = self
                    .line()
                    .iter()
                    .position(|other| *other == ticket)
                    .expect("in the line") as u64;
                (Place::Waiting { ahead }, Some(joined))
            }
            Stand::In { admitted, end, joined } => {
                let (admitted_ms, end_ms) = (admitted, end);
                (Place::Admitted { admitted_ms, end_ms }, Some(joined))
            }
            Stand::Over { how, at, .. } => (Place::Ended { how, at_ms: at }, None),
        };
        let seen = Seen {
            ticket,
            user: user.clone(),
            joined_ms,
            place,
            new: matches!(visit, Visit::Join { ticket: made, .. } if *made == ticket),
        };
        match (visit, place) {
            (Visit::Renew(_), Place::Waiting { .. } | Place::Ended { .. }) => VisitReply::NotAdmitted(seen),
            _ => VisitReply::Seen(seen),
        }
    }
}
