//! The ledger has the payouts of the answers, and no others.

use super::Judged;
use crate::jackpot::evidence::{Evidence, Receipt};

/// Every payout of an answer has its receipt, word for word, and every receipt has its answer.
pub fn receipts_are_the_answers(evidence: &Evidence) -> Judged {
    let receipts = match &evidence.receipts {
        Ok(receipts) => receipts,
        Err(why) => return Judged::NotChecked(why.clone()),
    };
    let mut answered = 0;
    for (record, answer) in evidence.answers() {
        let Some(payout) = answer.payout.as_deref() else {
            continue;
        };
        answered += 1;
        let expected = Receipt {
            entry_id: record.entry.id.clone(),
            tier: evidence.plan.tiers[payout.tier].name.to_owned(),
            amount: payout.amount,
            claim_order: payout.claim_order,
        };
        match receipts.get(&payout.id) {
            None => {
                let id = &record.entry.id;
                return Judged::Violated(format!(
                    "{id} was answered with payout {}, and the ledger has none",
                    payout.id
                ));
            }
            Some(receipt) if *receipt != expected => {
                return Judged::Violated(format!(
                    "payout {}: the answer has {expected:?}, the receipt {receipt:?}",
                    payout.id
                ));
            }
            Some(_) => {}
        }
    }
    if receipts.len() != answered {
        let text = format!(
            "the ledger has {} receipts, the answers have {answered}",
            receipts.len()
        );
        return Judged::Violated(text);
    }
    Judged::Held(format!("{answered} receipts"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jackpot::check::fixture::found;

    #[test]
    fn a_receipt_too_few_too_many_or_altered_is_a_violation() {
        let changes: [fn(&mut std::collections::BTreeMap<String, Receipt>); 3] = [
            |receipts| _ = receipts.pop_first(),
            |receipts| {
                let copy = receipts.first_key_value().expect("a receipt").1.clone();
                receipts.insert("another".to_owned(), copy);
            },
            |receipts| receipts.first_entry().expect("a receipt").get_mut().amount += 1,
        ];
        for change in changes {
            found("ledger", "", "", |evidence| {
                change(evidence.receipts.as_mut().expect("receipts"));
            });
        }
    }
}
