//! What winners were told is in the ledger, and nothing else.

use super::Judged;
use crate::jackpot::evidence::{Evidence, Receipt, Receipts};

/// Every payout that an answer told has its receipt, word for word, and there is no receipt that nobody was told of.
pub fn receipts_are_the_answers(evidence: &Evidence) -> Judged {
    let receipts = match &evidence.receipts {
        Receipts::Read(receipts) => receipts,
        Receipts::Unknown(why) => return Judged::NotChecked(why.clone()),
    };
    let mut told = 0;
    for (record, answer) in evidence.answers() {
        let Some(payout) = answer.payout.as_deref() else {
            continue;
        };
        told += 1;
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
                    "{id} was told of payout {}, and the ledger has none",
                    payout.id
                ));
            }
            Some(receipt) if *receipt != expected => {
                return Judged::Violated(format!("payout {}: told {expected:?}, receipt {receipt:?}", payout.id));
            }
            Some(_) => {}
        }
    }
    if receipts.len() != told {
        let text = format!(
            "the ledger has {} receipts, winners were told of {told}",
            receipts.len()
        );
        return Judged::Violated(text);
    }
    Judged::Held(format!("{told} receipts"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jackpot::check::fixture;

    #[test]
    fn a_receipt_too_few_too_many_or_altered_is_a_violation() {
        let honest = fixture::honest("");
        assert!(matches!(receipts_are_the_answers(&honest), Judged::Held(_)));
        let tamper = |change: fn(&mut std::collections::BTreeMap<String, Receipt>)| {
            let mut evidence = honest.clone();
            if let Receipts::Read(receipts) = &mut evidence.receipts {
                change(receipts);
            }
            receipts_are_the_answers(&evidence)
        };
        let judged = [
            tamper(|receipts| _ = receipts.pop_first()),
            tamper(|receipts| {
                let copy = receipts.first_key_value().expect("a receipt").1.clone();
                receipts.insert("another".to_owned(), copy);
            }),
            tamper(|receipts| receipts.first_entry().expect("a receipt").get_mut().amount += 1),
        ];
        for judged in judged {
            assert!(matches!(judged, Judged::Violated(_)), "{judged:?}");
        }
    }
}
