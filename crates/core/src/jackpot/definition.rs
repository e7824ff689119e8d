//! A checked definition: the input of draw, split and claims. Pure.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};

use crate::ids::Id;
use crate::money::{Minor, Ppm};
use crate::violation::check_name;
pub use crate::violation::{MAX_NAME_CHARS, Violation};

use super::document::{Contribution, Document, DrawnBy, Prize, Source, Take, Tier};
use super::must_hit;
use super::odds::{InvalidOdds, Odds};
use super::origin;
use super::ranks::Ranks;
use super::split::split_of;

/// Most tiers of a jackpot: each costs every call a key and nine meters.
pub const MAX_TIERS: usize = 8;
/// Most ranks of an odds table.
pub const MAX_RANKS: usize = 1_000;
/// Most redraws: a bound on the work of one entry.
pub const MAX_REDRAWS: u32 = 100;

/// Most web origins that may read a jackpot: an answer to each of their pages is compared with all of them.
pub const MAX_ORIGINS: usize = 32;

/// Most sources of a jackpot: they are part of the definition, which is read whole.
pub const MAX_SOURCES: usize = 100;
/// Most keys that may send the entries of one source.
pub const MAX_SOURCE_KEYS: usize = 16;

/// A checked definition.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    document: Document,
    odds: Odds,
    prizes: BTreeMap<u32, MoneyPrize>,
}

/// A prize that a claim takes from a pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoneyPrize {
    pub tier: Id,
    pub kind: MoneyKind,
    /// The tier's minimum payout, which applies to pool prizes.
    pub min_payout: Minor,
}

/// How much a money prize takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MoneyKind {
    /// All of the pool.
    All,
    Share(Ppm),
    /// This amount.
    Fixed(Minor),
}

impl Definition {
    /// Checks a document of a PUT: its form, then whether it can work. Names all broken rules. The service checks whether
    /// the room and the coupons exist.
    pub fn check(document: Document) -> Result<Self, Vec<Violation>> {
        let mut wrong = Vec::new();
        check_contribution(&document, &mut wrong);
        check_limits(&document, &mut wrong);
        check_per_stake(&document, &mut wrong);
        check_origins(&document.origins, &mut wrong);
        check_sources(&document, &mut wrong);
        match Self::stored(document) {
            Ok(definition) if wrong.is_empty() => Ok(definition),
            Ok(_) => Err(wrong),
            Err(mut all) => {
                all.extend(wrong);
                Err(all)
            }
        }
    }

    /// Reads a stored document. Definitions that can't work were not always refused.
    pub fn stored(mut document: Document) -> Result<Self, Vec<Violation>> {
        let mut wrong = Vec::new();
        document.min_stake = Some(document.min_stake());
        check_head(&document, &mut wrong);
        check_tiers(&document.tiers, &mut wrong);
        check_ranks(&document, &mut wrong);
        let weights = document.odds.ranks.iter().map(|r| (r.rank, r.weight));
        let odds = Odds::new(document.odds.total, weights).map_err(|error| {
            let field = if error == InvalidOdds::Total {
                "odds.total"
            } else {
                "odds.ranks"
            };
            wrong.push(Violation::new(field, error.to_string()));
        });
        match odds {
            Ok(odds) if wrong.is_empty() => {
                let odds = odds.per_stake(document.odds.per_stake);
                let prizes = document
                    .odds
                    .ranks
                    .iter()
                    .filter_map(|r| Some((r.rank, money_prize(&document, &r.prize)?)))
                    .collect();
                Ok(Self { document, odds, prizes })
            }
            _ => Err(wrong),
        }
    }

    /// The document, as operators read it.
    #[must_use]
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// The odds table.
    #[must_use]
    pub fn odds(&self) -> &Odds {
        &self.odds
    }

    /// The tiers, in the order in which contributions are split.
    #[must_use]
    pub fn tiers(&self) -> &[Tier] {
        &self.document.tiers
    }

    /// The money prize of a rank, `None` for another prize.
    #[must_use]
    pub fn money_prize(&self, rank: u32) -> Option<&MoneyPrize> {
        self.prizes.get(&rank)
    }

    /// The coupon of a rank, `None` for another prize.
    #[must_use]
    pub fn coupon_prize(&self, rank: u32) -> Option<&Id> {
        let won = self.document.odds.ranks.iter().find(|won| won.rank == rank)?;
        match &won.prize {
            Prize::Coupon(prize) => Some(&prize.coupon_id),
            Prize::Pool(_) | Prize::Fixed(_) => None,
        }
    }

    /// Its waiting room.
    #[must_use]
    pub fn room(&self) -> Option<&Id> {
        self.document.room.as_ref()
    }

    /// Its source with this id.
    #[must_use]
    pub fn source(&self, id: &str) -> Option<&Source> {
        self.document.sources.get(id)
    }

    /// The contribution of a source, with its id, if it is not the jackpot's.
    #[must_use]
    pub fn own_contribution(&self, source: &str) -> Option<(&Id, Contribution)> {
        let (id, source) = self.document.sources.get_key_value(source)?;
        Some((id, source.contribution?))
    }

    /// What an entry of this source adds.
    #[must_use]
    pub fn contribution_of(&self, source: Option<&str>) -> Contribution {
        let own = source.and_then(|source| self.own_contribution(source));
        own.map_or(self.document.contribution, |(_, contribution)| contribution)
    }

    /// Whether the key with this name may not send entries of this source.
    #[must_use]
    pub fn forbids(&self, source: Option<&str>, key: &str) -> bool {
        let keys = source.and_then(|source| self.source(source)?.keys.as_ref());
        keys.is_some_and(|keys| !keys.iter().any(|allowed| allowed == key))
    }

    /// Whether the key with this name may not send entries of any source.
    #[must_use]
    pub fn forbids_all(&self, key: &str) -> bool {
        let sources = &self.document.sources;
        !sources.is_empty() && sources.keys().all(|source| self.forbids(Some(source.as_str()), key))
    }

    /// What is wrong with an entry of this stake and source that brings these ranks, if anything.
    #[must_use]
    pub fn refuses(&self, stake: Minor, source: Option<&str>, ranks: Option<&Ranks>) -> Option<Violation> {
        let broken = self
            .refuses_source(source)
            .map(|rule| Violation::new("source_id", rule));
        let broken = broken.or_else(|| Some(Violation::new("ranks", self.refuses_ranks(source, ranks)?)));
        broken.or_else(|| Some(Violation::new("stake", self.refuses_stake(stake, ranks.is_some())?)))
    }

    fn refuses_source(&self, source: Option<&str>) -> Option<String> {
        match source {
            _ if self.document.sources.is_empty() => None,
            None => Some("is required: this jackpot has sources".to_owned()),
            Some(source) if self.source(source).is_none() => {
                Some(format!("'{source}' is none of the jackpot's sources"))
            }
            Some(_) => None,
        }
    }

    fn refuses_ranks(&self, source: Option<&str>, ranks: Option<&Ranks>) -> Option<String> {
        let source = source.and_then(|source| self.source(source));
        let is_external = source.is_some_and(|source| source.draw == DrawnBy::External);
        let ranks = match ranks {
            None => return is_external.then(|| "is required: the source draws its entries itself".to_owned()),
            Some(_) if !is_external => return Some("must be left out: the service draws these entries".to_owned()),
            Some(ranks) => ranks,
        };
        if ranks.last_attempt() > self.last_attempt() {
            let most = self.last_attempt() + 1;
            return Some(format!("must be at most {most} ranks, max_redraws and one"));
        }
        let table = &self.document.odds.ranks;
        let unknown = ranks
            .all()
            .iter()
            .find(|rank| **rank != 0 && !table.iter().any(|of| of.rank == **rank));
        unknown.map(|rank| format!("has rank {rank}, which is not in the odds table"))
    }

    /// What is wrong with a stake, if anything. `is_external`: the stake has no effect on the odds.
    fn refuses_stake(&self, stake: Minor, is_external: bool) -> Option<String> {
        let (min, max) = (self.document.min_stake(), self.document.max_stake());
        if let Some(per_stake) = self
            .document
            .odds
            .per_stake
            .filter(|per_stake| !is_external && stake < *per_stake)
        {
            return Some(format!("must be at least {per_stake}, the jackpot's odds.per_stake"));
        }
        if stake < min {
            Some(format!("must be at least {min}, the jackpot's min_stake"))
        } else if stake > max {
            Some(format!("must be at most {max}, the jackpot's max_stake"))
        } else {
            None
        }
    }

    /// Last attempt that an entry may make, from 0.
    #[must_use]
    pub fn last_attempt(&self) -> u32 {
        self.document.max_redraws
    }

    /// Digest of the parts that touch money or odds. Two definitions with the same digest differ only in parts that may
    /// change under a live pool.
    #[must_use]
    pub fn money_digest(&self) -> String {
        let d = &self.document;
        let sources = d.sources.iter().filter(|(_, source)| source.touches_money());
        let sources = sources
            .map(|(id, source)| (id, (source.contribution, source.draw)))
            .collect::<BTreeMap<_, _>>();
        let text = if sources.is_empty() {
            serde_json::to_string(&(&d.contribution, &d.tiers, &d.odds, d.max_redraws))
        } else {
            serde_json::to_string(&(&d.contribution, &d.tiers, &d.odds, d.max_redraws, sources))
        };
        let text = text.expect("plain data is JSON");
        hex::encode(&Sha256::digest(text)[..16])
    }
}

impl Source {
    /// Whether its entries contribute or draw otherwise than the jackpot says.
    fn touches_money(&self) -> bool {
        self.contribution.is_some() || self.draw == DrawnBy::External
    }
}

fn check_head(document: &Document, wrong: &mut Vec<Violation>) {
    wrong.extend(check_name(&document.name));
    if document.max_redraws > MAX_REDRAWS {
        wrong.push(Violation::new(
            "max_redraws",
            format!("must be an integer from 0 to {MAX_REDRAWS}"),
        ));
    }
}

fn check_tiers(tiers: &[Tier], wrong: &mut Vec<Violation>) {
    if !(1..=MAX_TIERS).contains(&tiers.len()) {
        wrong.push(Violation::new("tiers", format!("must be 1 to {MAX_TIERS} tiers")));
    }
    let mut names = BTreeSet::new();
    for (i, tier) in tiers.iter().enumerate() {
        if !names.insert(&tier.tier) {
            wrong.push(Violation::new(
                format!("tiers[{i}].tier"),
                format!("'{}' is there twice", tier.tier),
            ));
        }
        if tier.cap == Some(Minor::ZERO) {
            wrong.push(Violation::new(format!("tiers[{i}].cap"), "must be null or at least 1"));
        }
        if tier.cap.is_some_and(|cap| tier.seed > cap) {
            wrong.push(Violation::new(
                format!("tiers[{i}].seed"),
                "must be at most the tier's cap",
            ));
        }
        must_hit::check(&format!("tiers[{i}]"), tier, wrong);
    }
    let shares = shares(tiers);
    if shares > u64::from(Ppm::WHOLE.get()) {
        wrong.push(Violation::new(
            "tiers",
            format!("share_ppm sums to {shares}, more than 1000000"),
        ));
    }
}

fn shares(tiers: &[Tier]) -> u64 {
    tiers.iter().map(|tier| u64::from(tier.share_ppm.get())).sum()
}

fn check_ranks(document: &Document, wrong: &mut Vec<Violation>) {
    let ranks = &document.odds.ranks;
    if ranks.len() > MAX_RANKS {
        wrong.push(Violation::new(
            "odds.ranks",
            format!("must be at most {MAX_RANKS} ranks"),
        ));
    }
    let mut seen = BTreeSet::new();
    for (i, rank) in ranks.iter().enumerate() {
        let at = format!("odds.ranks[{i}]");
        if rank.rank == 0 || !seen.insert(rank.rank) {
            wrong.push(Violation::new(
                format!("{at}.rank"),
                "must be at least 1 and there once",
            ));
        }
        let tier = match &rank.prize {
            Prize::Pool(prize) => {
                if prize.take == Take::SharePpm(Ppm::default()) {
                    wrong.push(Violation::new(
                        format!("{at}.prize.pool.take.share_ppm"),
                        "must be at least 1",
                    ));
                }
                ("pool", &prize.tier)
            }
            Prize::Fixed(prize) => {
                if prize.amount == Minor::ZERO {
                    wrong.push(Violation::new(format!("{at}.prize.fixed.amount"), "must be at least 1"));
                }
                ("fixed", &prize.tier)
            }
            Prize::Coupon(_) => continue,
        };
        if !document.tiers.iter().any(|t| t.tier == *tier.1) {
            wrong.push(Violation::new(
                format!("{at}.prize.{}.tier", tier.0),
                format!("'{}' is none of the tiers", tier.1),
            ));
        }
    }
}

/// A contribution that is always 0 never fills a pool.
fn check_contribution(document: &Document, wrong: &mut Vec<Violation>) {
    let has_shares = document.tiers.iter().any(|tier| tier.share_ppm != Ppm::default());
    if !has_shares {
        wrong.push(Violation::new(
            "tiers",
            "share_ppm sums to 0: an entry would add nothing; give a tier a share",
        ));
    }
    let of_source = |(id, source): (&Id, &Source)| Some((format!("sources.{id}."), source.contribution?));
    let of_sources = document.sources.iter().filter_map(of_source);
    for (of, contribution) in std::iter::once((String::new(), document.contribution)).chain(of_sources) {
        let (field, nothing) = match contribution {
            Contribution::Fixed(amount) => ("fixed", amount == Minor::ZERO),
            Contribution::RatePpm(rate) => ("rate_ppm", rate == Ppm::default()),
        };
        let refuse = |rule: &str| Violation::new(format!("{of}contribution.{field}"), rule);
        if nothing {
            wrong.push(refuse("must be at least 1: an entry would add nothing"));
        } else if has_shares
            && shares(&document.tiers) <= u64::from(Ppm::WHOLE.get())
            && split_of(contribution, &document.tiers, document.max_stake().max(Minor::ONE))
                .iter()
                .all(super::split::TierAmount::is_nothing)
        {
            wrong.push(refuse(
                "adds less than a millionth of a minor unit to every tier, even at max_stake: raise one of them",
            ));
        }
    }
    if document.min_stake() > document.max_stake() {
        let rule = format!("is {}, more than max_stake", document.min_stake());
        wrong.push(Violation::new("min_stake", rule));
    }
    if document.min_stake() == Minor::ZERO && document.uses_a_rate() {
        let rule = "must be at least 1 where a contribution is a rate: stake 0 would add nothing";
        wrong.push(Violation::new("min_stake", rule));
    }
}

fn check_origins(origins: &[String], wrong: &mut Vec<Violation>) {
    if origins.len() > MAX_ORIGINS {
        wrong.push(Violation::new(
            "origins",
            format!("must be at most {MAX_ORIGINS} origins"),
        ));
    }
    let mut seen = BTreeSet::new();
    for (i, text) in origins.iter().enumerate() {
        let rule = match origin::wrong(text) {
            None if seen.insert(text) => continue,
            None => format!("'{text}' is there twice"),
            Some(rule) => rule.to_owned(),
        };
        wrong.push(Violation::new(format!("origins[{i}]"), rule));
    }
}

fn check_sources(document: &Document, wrong: &mut Vec<Violation>) {
    if document.sources.len() > MAX_SOURCES {
        wrong.push(Violation::new(
            "sources",
            format!("must be at most {MAX_SOURCES} sources"),
        ));
    }
    for (id, source) in &document.sources {
        let field = format!("sources.{id}.keys");
        let Some(keys) = &source.keys else {
            if source.draw == DrawnBy::External {
                let rule = "is required for an external source: name the keys of the game that draws";
                wrong.push(Violation::new(field, rule));
            }
            continue;
        };
        if !(1..=MAX_SOURCE_KEYS).contains(&keys.len()) {
            let rule = format!("must be null or 1 to {MAX_SOURCE_KEYS} names of keys");
            wrong.push(Violation::new(field, rule));
            continue;
        }
        for (i, key) in keys.iter().enumerate() {
            let rule = match Id::check(key) {
                Err(error) => error.to_string(),
                Ok(()) if keys[..i].contains(key) => format!("'{key}' is there twice"),
                Ok(()) => continue,
            };
            wrong.push(Violation::new(format!("{field}[{i}]"), rule));
        }
    }
}

/// Odds by stake: the largest stake must leave the weights within the total.
fn check_per_stake(document: &Document, wrong: &mut Vec<Violation>) {
    let Some(per_stake) = document.odds.per_stake else {
        return;
    };
    if per_stake == Minor::ZERO {
        wrong.push(Violation::new("odds.per_stake", "must be null or at least 1"));
        return;
    }
    let Some(max_stake) = document.max_stake else {
        let rule = "is required with odds.per_stake: give the largest stake";
        wrong.push(Violation::new("max_stake", rule));
        return;
    };
    let times = max_stake.get() / per_stake.get();
    if times == 0 {
        let rule = format!("must be at least {per_stake}, the odds' per_stake: no stake would draw");
        wrong.push(Violation::new("max_stake", rule));
    }
    let (sum, total) = (
        document
            .odds
            .ranks
            .iter()
            .map(|rank| u128::from(rank.weight))
            .sum::<u128>(),
        document.odds.total,
    );
    // A sum beyond the total has an error of its own.
    if sum <= u128::from(total) && sum * u128::from(times) > u128::from(total) {
        let rule = format!(
            "the weights sum to {sum} and count {times} times at max_stake, {max_stake}: more than the total of {total}"
        );
        wrong.push(Violation::new("odds.ranks", rule));
    }
}

/// A prize that no pool can ever pay, because the pool's cap is below it.
fn check_limits(document: &Document, wrong: &mut Vec<Violation>) {
    for (i, tier) in document.tiers.iter().enumerate() {
        if let Some(cap) = tier.cap.filter(|cap| *cap != Minor::ZERO && tier.min_payout > *cap) {
            let rule = format!("must be at most the tier's cap, {cap}: no pool prize would ever be paid");
            wrong.push(Violation::new(format!("tiers[{i}].min_payout"), rule));
        }
    }
    for (i, rank) in document.odds.ranks.iter().enumerate() {
        let limits = |name: &Id| {
            let tier = document.tiers.iter().find(|tier| tier.tier == *name)?;
            Some((tier.cap.unwrap_or(Minor::MAX), tier.min_payout))
        };
        match &rank.prize {
            Prize::Fixed(prize) => {
                if let Some((most, _)) =
                    limits(&prize.tier).filter(|(most, _)| *most != Minor::ZERO && prize.amount > *most)
                {
                    let field = format!("odds.ranks[{i}].prize.fixed.amount");
                    let rule = format!("must be at most {most}, the cap of '{}'", prize.tier);
                    wrong.push(Violation::new(field, rule));
                }
            }
            Prize::Pool(prize) => {
                let (Take::SharePpm(share), Some((most, least))) = (prize.take, limits(&prize.tier)) else {
                    continue;
                };
                if share == Ppm::default() {
                    continue;
                }
                let (taken, least) = (share.of(u128::from(most.get())), least.max(Minor::ONE));
                // A minimum above the cap has an error of its own.
                if rank.weight > 0 && least <= most && taken < u128::from(least.get()) {
                    let field = format!("odds.ranks[{i}].prize.pool.take.share_ppm");
                    let rule =
                        format!("takes {taken} of the largest pool, {most}: below {least}, the least that is paid");
                    wrong.push(Violation::new(field, rule));
                }
            }
            Prize::Coupon(_) => {}
        }
    }
}

fn money_prize(document: &Document, prize: &Prize) -> Option<MoneyPrize> {
    let (tier, kind) = match prize {
        Prize::Pool(prize) => match prize.take {
            Take::All | Take::SharePpm(Ppm::WHOLE) => (&prize.tier, MoneyKind::All),
            Take::SharePpm(share) => (&prize.tier, MoneyKind::Share(share)),
        },
        Prize::Fixed(prize) => (&prize.tier, MoneyKind::Fixed(prize.amount)),
        Prize::Coupon(_) => return None,
    };
    let min_payout = document.tiers.iter().find(|t| t.tier == *tier)?.min_payout;
    Some(MoneyPrize {
        tier: tier.clone(),
        kind,
        min_payout,
    })
}

/// What one entry adds to the jackpot before shares, in millionths of a minor unit. Exact: below 2^73.
#[must_use]
pub fn contribution_micro(contribution: Contribution, stake: Minor) -> u128 {
    match contribution {
        Contribution::Fixed(amount) => amount.micro(),
        Contribution::RatePpm(rate) => u128::from(stake.get()) * u128::from(rate.get()),
    }
}

#[cfg(test)]
mod tests;
