//! A small pure model of a coupon, written from the contract alone (docs/decisions/0015-coupons.md): no Redis, no script.

use std::collections::BTreeMap;

use jackpot_api::coupon::Status;

const MAX_TRIES: u32 = 3;

/// The outcome of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Issued(u64),
    Voided(u64),
    /// Number of the unit, and the redemption.
    Redeemed(u64, String),
    Already(String),
    OutOfStock,
    NotOpen,
    Closed,
    Queued {
        arrival: u64,
        tries: u32,
        take: String,
    },
    Dead(u64),
}

/// What an operator may choose.
#[derive(Debug, Clone)]
pub struct Rules {
    pub stock: u64,
    pub per_user: usize,
    pub window_ms: Option<i64>,
    pub open: bool,
}

/// What came of a step of a consumer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The requests that the next call serves, with their tries.
    Taken(Vec<(String, u32)>),
    /// Another consumer has the lease.
    Held,
    /// An operator holds the coupon.
    Paused,
}

#[derive(Debug, Clone)]
pub struct Model {
    pub rules: Rules,
    pub status: Status,
    pub issued: u64,
    pub voided: u64,
    pub redeemed: u64,
    pub arrivals: u64,
    /// User, with the metadata after a `/` if there is any, and outcome by request id.
    pub requests: BTreeMap<String, (String, Outcome)>,
    /// By user, request id and time of what counts for the user.
    pub users: BTreeMap<String, Vec<(String, i64)>>,
    pub line: BTreeMap<u64, String>,
    pub dead: BTreeMap<u64, String>,
    pub holder: Option<String>,
}

impl Model {
    pub fn new(rules: Rules) -> Self {
        Self {
            rules,
            status: Status::Open,
            issued: 0,
            voided: 0,
            redeemed: 0,
            arrivals: 0,
            requests: BTreeMap::new(),
            users: BTreeMap::new(),
            line: BTreeMap::new(),
            dead: BTreeMap::new(),
            holder: None,
        }
    }

    /// Whether the request is answered: known, or taken now.
    pub fn ask(&mut self, id: &str, user: &str, line: bool, at: i64) -> bool {
        if self.requests.contains_key(id) {
            return true;
        }
        if self.status != Status::Open {
            return false;
        }
        if line || !self.line.is_empty() {
            self.arrivals += 1;
            self.line.insert(self.arrivals, id.to_owned());
            let (arrival, tries, take) = (self.arrivals, 0, "-".to_owned());
            self.set(id, user, Outcome::Queued { arrival, tries, take });
        } else {
            self.decide(id, user, at);
        }
        true
    }

    /// A request of a draw: where an operator holds the coupon, it is not open, and the player does not wait.
    pub fn owed(&mut self, id: &str, user: &str, at: i64) {
        if !self.ask(id, user, false, at) {
            self.set(id, user, Outcome::NotOpen);
        }
    }

    /// Whether it has this status now: a closed coupon stays closed.
    pub fn set_status(&mut self, wanted: Status) -> bool {
        if self.status != Status::Closed {
            self.status = wanted;
        }
        self.status == wanted
    }

    fn set(&mut self, id: &str, user: &str, outcome: Outcome) {
        self.requests.insert(id.to_owned(), (user.to_owned(), outcome));
    }

    fn decide(&mut self, id: &str, user: &str, at: i64) {
        let word = user;
        let user = word.split('/').next().unwrap_or_default();
        let counts = |(_, since): &(String, i64)| self.rules.window_ms.is_none_or(|window| *since > at - window);
        let counting = self.users.get(user).into_iter().flatten().filter(|one| counts(one));
        let mut counting = counting.cloned().collect::<Vec<_>>();
        let outcome = if self.status == Status::Closed {
            Outcome::Closed
        } else if !self.rules.open {
            Outcome::NotOpen
        } else if counting.len() >= self.rules.per_user {
            Outcome::Already(counting[0].0.clone())
        } else if self.issued - self.voided >= self.rules.stock {
            Outcome::OutOfStock
        } else {
            self.issued += 1;
            counting.push((id.to_owned(), at));
            self.users.insert(user.to_owned(), counting);
            Outcome::Issued(self.issued)
        };
        self.set(id, word, outcome);
    }

    pub fn serve(&mut self, token: &str, take_id: &str, served: &[String], next: usize, at: i64) -> Step {
        if self.status == Status::Paused {
            for id in served {
                self.take_back(id);
            }
            self.holder = self.holder.take().filter(|holder| holder != token);
            return Step::Paused;
        }
        if self.holder.as_deref().is_some_and(|holder| holder != token) {
            return Step::Held;
        }
        if !self.line.is_empty() {
            self.holder = Some(token.to_owned());
        }
        let mut stuck = false;
        for id in served {
            let Some((user, Outcome::Queued { arrival, take, .. })) = self.requests.get(id).cloned() else {
                continue;
            };
            let is_head = self.line.first_key_value().is_some_and(|(first, _)| *first == arrival);
            if is_head && !stuck {
                self.line.remove(&arrival);
                self.decide(id, &user, at);
                continue;
            }
            stuck = true;
            if take != take_id {
                self.take_back(id);
            }
        }
        Step::Taken(self.take(take_id, next))
    }

    /// Its consumer is alive and could not serve it, so its last take does not count.
    fn take_back(&mut self, id: &str) {
        if let Some((_, Outcome::Queued { tries, take, .. })) = self.requests.get_mut(id)
            && take != "-"
        {
            *tries = tries.saturating_sub(1);
            "-".clone_into(take);
        }
    }

    fn take(&mut self, take_id: &str, next: usize) -> Vec<(String, u32)> {
        let mut taken = Vec::new();
        let heads = self.line.iter().take(next).map(|(arrival, id)| (*arrival, id.clone()));
        for (arrival, id) in heads.collect::<Vec<_>>() {
            let Some((user, Outcome::Queued { tries, take, .. })) = self.requests.get(&id).cloned() else {
                panic!("{id} is in the queue");
            };
            let tries = tries + u32::from(take != take_id);
            if tries > MAX_TRIES {
                self.line.remove(&arrival);
                self.dead.insert(arrival, id.clone());
                self.set(&id, &user, Outcome::Dead(arrival));
                continue;
            }
            if tries > 1 && !taken.is_empty() {
                break;
            }
            let take = take_id.to_owned();
            self.set(&id, &user, Outcome::Queued { arrival, tries, take });
            taken.push((id, tries));
            if tries > 1 {
                break;
            }
        }
        taken
    }

    pub fn void(&mut self, id: &str) {
        if let Some((user, Outcome::Issued(sequence))) = self.requests.get(id).cloned() {
            self.voided += 1;
            let plain = user.split('/').next().unwrap_or_default();
            let counting = self.users.entry(plain.to_owned()).or_default();
            counting.retain(|(request, _)| request != id);
            if counting.is_empty() {
                self.users.remove(plain);
            }
            self.set(id, &user, Outcome::Voided(sequence));
        }
    }

    /// Redeems a unit; the answer is whether it is redeemed by this redemption.
    pub fn redeem(&mut self, id: &str, redemption: &str) -> bool {
        match self.requests.get(id).cloned() {
            Some((user, Outcome::Issued(sequence))) => {
                self.redeemed += 1;
                self.set(id, &user, Outcome::Redeemed(sequence, redemption.to_owned()));
                true
            }
            Some((_, Outcome::Redeemed(_, before))) => before == redemption,
            _ => false,
        }
    }

    pub fn redrive(&mut self, id: &str) {
        if let Some((user, Outcome::Dead(arrival))) = self.requests.get(id).cloned() {
            self.dead.remove(&arrival);
            self.line.insert(arrival, id.to_owned());
            let (tries, take) = (0, "-".to_owned());
            self.set(id, &user, Outcome::Queued { arrival, tries, take });
        }
    }

    /// Puts rules; `false` when they do not fit what was issued.
    pub fn define(&mut self, rules: Rules) -> bool {
        let fits = rules.stock >= self.issued - self.voided;
        if fits {
            self.rules = rules;
        }
        fits
    }

    /// Makes everything look as if it had been issued `ms` earlier.
    pub fn age(&mut self, ms: i64) {
        for (_, at) in self.users.values_mut().flatten() {
            *at -= ms;
        }
    }
}
