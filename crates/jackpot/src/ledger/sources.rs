//! What an event moved for each source of a jackpot: what its entries brought, and what they won. Pure.
//!
//! Entries without a source are left out: all of a jackpot's are in its meters and postings.

use std::collections::BTreeMap;

use jackpot_core::ids::Id;

use super::books::Terms;
use super::event::{Claim, ClaimResult, Enter};

/// What one event moved for one source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Moved {
    /// Entries that it took.
    pub entries: i64,
    /// By tier.
    pub tiers: BTreeMap<Id, OfTier>,
}

/// What moved in one tier.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OfTier {
    /// What entries brought, in millionths of a minor unit.
    pub contributed_micro: i128,
    /// What they won, minor units.
    pub paid: i64,
    /// How often.
    pub payouts: i64,
}

/// By source.
pub type BySource = BTreeMap<Id, Moved>;

/// Whether an entry of the call named a source.
pub fn names_any(enter: &Enter) -> bool {
    enter.call.entries.iter().any(|entry| entry.sent.source.is_some())
}

/// The tiers of a definition, in its order.
pub fn tiers(terms: &Terms) -> Vec<Id> {
    let rows = terms.tiers.split_terminator(';');
    let names = rows.filter_map(|row| Id::parse(row.split(' ').next()?).ok());
    names.collect()
}

/// What the entries of a call brought, and what they won in it. `before`: the tiers of the definition under which the
/// first was drawn; `after`: of the one in force after the call. `None` if they are not those of the call.
pub fn of_call(enter: &Enter, before: &[Id], after: &[Id]) -> Option<BySource> {
    let call = &enter.call;
    let mut all = BySource::new();
    for (place, entry) in call.entries.iter().enumerate() {
        let Some(source) = &entry.sent.source else {
            continue;
        };
        let is_after = call.split.is_some_and(|split| place >= split.place);
        let (tiers, amounts) = if is_after {
            (after, call.added.amounts.last()?)
        } else {
            (before, call.added.amounts.first()?)
        };
        let amounts = amounts.of(entry.sent.stake, Some(source))?;
        if amounts.len() != tiers.len() {
            return None;
        }
        let moved = all.entry(source.clone()).or_default();
        moved.entries += 1;
        for (tier, amount) in tiers.iter().zip(amounts) {
            let of_tier = moved.tiers.entry(tier.clone()).or_default();
            of_tier.contributed_micro += i128::try_from(amount.in_micro()).ok()?;
        }
    }
    for claim in &enter.claims {
        let (_, entry) = call.entry(claim.sequence)?;
        if let Some(source) = &entry.sent.source {
            paid(&mut all, source, claim);
        }
    }
    Some(all)
}

/// Adds what an entry of this source won by a claim, if anything.
pub fn paid(all: &mut BySource, source: &Id, claim: &Claim) {
    if let ClaimResult::Paid { tier, amount, .. } = &claim.result {
        let moved = all.entry(source.clone()).or_default();
        let of_tier = moved.tiers.entry(tier.clone()).or_default();
        of_tier.paid += i64::try_from(*amount).unwrap_or(i64::MAX);
        of_tier.payouts += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::event::{Event, Kind};

    fn enter(fields: &[(&str, &str)]) -> Enter {
        let all = [
            ("n", "9"),
            ("at", "5"),
            ("history", "00112233aabbccdd"),
            ("type", "enter"),
            ("epoch", "1"),
            ("version", "2"),
            ("first", "11"),
            ("skip", ""),
            ("call", ""),
            ("meters", ""),
            ("applied", ""),
        ];
        let fields = all
            .iter()
            .chain(fields)
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let fields: BTreeMap<String, String> = fields.collect();
        match Event::parse(&(&fields).into()).expect("readable").kind {
            Kind::Enter(enter) => enter,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn each_source_has_what_its_own_entries_brought_and_won() {
        let enter = enter(&[
            ("count", "4"),
            ("block", "a p 10 * lobby\nb p 10 * vip\nc p 10 *\nd p 20 * lobby"),
            ("amounts", "10=1,500000,0,250000;20=3,0,0,0;*@vip=5,0,0,0;"),
            ("runs", "1:0,0,0,-;3:0,0,0,-;"),
            ("claims", "12,0,1,paid,grand,6,1,6;13,0,1,retry,grand,1;"),
        ]);
        let grand = Id::parse("grand").expect("an id");
        let all = of_call(&enter, std::slice::from_ref(&grand), &[]).expect("its tiers");
        let of = |source: &str| {
            let moved = &all[&Id::parse(source).expect("an id")];
            let tier = moved.tiers[&grand];
            (moved.entries, tier.contributed_micro, tier.paid, tier.payouts)
        };
        assert_eq!(all.len(), 2, "no row for the entry that named none");
        assert_eq!(of("lobby"), (2, 4_750_000, 0, 0));
        assert_eq!(of("vip"), (1, 5_000_000, 6, 1));
        assert_eq!(of_call(&enter, &[], &[]), None, "not the tiers of the call");
    }

    #[test]
    fn the_tiers_of_a_definition_stand_in_its_order() {
        let terms = Terms {
            tiers: "mini 0 -;grand 5 90;".to_owned(),
            money: String::new(),
            rules: String::new(),
        };
        assert_eq!(
            tiers(&terms).iter().map(Id::as_str).collect::<Vec<_>>(),
            ["mini", "grand"]
        );
    }
}
