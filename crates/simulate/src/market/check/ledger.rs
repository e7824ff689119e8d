//! Receipts of the ledger.

use std::collections::BTreeSet;

use crate::finding::Judged;
use crate::market::evidence::Evidence;

pub fn receipts(evidence: &Evidence) -> Judged {
    let mut count = 0;
    for (jackpot, shown) in evidence.shown.iter().enumerate() {
        let receipts = match &shown.receipts {
            Ok(receipts) => receipts,
            Err(why) => return Judged::NotChecked(why.clone()),
        };
        let id = evidence.id(jackpot);
        let mut orders = BTreeSet::new();
        for entry in evidence.entries(jackpot) {
            let Some(won) = &entry.won else { continue };
            let kept = receipts.get(&won.payout_id);
            if kept != Some(&won.receipt(&entry.id)) {
                return Judged::Violated(format!("{id}: {} won {won:?}, the ledger has {kept:?}", entry.id));
            }
            orders.insert(won.claim_order);
        }
        if orders.len() != receipts.len() {
            return Judged::Violated(format!(
                "{id}: {} receipts, {} payouts answered",
                receipts.len(),
                orders.len()
            ));
        }
        if !orders.iter().copied().eq(1..=orders.len() as u64) {
            return Judged::Violated(format!("{id}: the claim orders have a hole"));
        }
        count += receipts.len();
    }
    Judged::Held(format!("{count} payouts"))
}

#[cfg(test)]
mod tests {
    use crate::market::check::fixture::{found, receipts};

    #[test]
    fn a_receipt_that_is_missing_too_many_or_another_is_found() {
        found("payouts", "the ledger has None", |evidence| {
            receipts(evidence, 1).clear();
        });
        found("payouts", "the ledger has Some", |evidence| {
            for receipt in receipts(evidence, 1).values_mut() {
                receipt.amount += 1;
            }
        });
        found("payouts", "1 receipts, 0", |evidence| {
            for entry in &mut evidence.seen.entries {
                entry.won = None;
            }
        });
    }

    #[test]
    fn receipts_that_can_not_be_read_are_not_judged() {
        let mut unread = crate::market::check::fixture::day();
        unread.shown[0].receipts = Err("503".to_owned());
        assert!(matches!(
            super::receipts(&unread),
            crate::finding::Judged::NotChecked(_)
        ));
    }
}
