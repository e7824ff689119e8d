//! The readable parts of an event that can't be read whole: the lines of its block, and each of its claims. Pure.

use std::collections::{BTreeSet, HashMap};

use jackpot_core::ids::Id;
use jackpot_core::jackpot::record::Sent;
use jackpot_core::wire::Field;

use crate::ledger::event::Claim;
use jackpot_kernel::ledger::projector::rows::Raw;

/// Its readable parts.
#[derive(Debug, Default)]
pub(super) struct Salvage {
    /// What was sent, by entry id.
    pub(super) sent: HashMap<String, Sent>,
    /// Entry ids by index, from 0, if there are as many lines as entries.
    pub(super) ids: Vec<String>,
    /// Claims, in their order.
    pub(super) claims: Vec<Claim>,
}

impl Salvage {
    /// Reads an event that took `entries` entries.
    pub(super) fn of(raw: Option<&Raw>, entries: u64) -> Self {
        let Some(raw) = raw else {
            return Self::default();
        };
        let field = |name: &str| raw.fields.get(name);
        let claims = field("claims").unwrap_or_default();
        let claims = claims
            .split_terminator(';')
            .filter_map(|claim| Claim::parse(claim).ok())
            .collect();
        let lines = field("block").map_or_else(Vec::new, |block| block.split('\n').collect());
        let batch = field("batch").and_then(|id| Id::parse(id).ok());
        let mut all = Self {
            claims,
            ..Self::default()
        };
        let skipped: BTreeSet<u64> = field("skip")
            .and_then(Vec::read)
            .map_or_else(BTreeSet::new, |all| all.into_iter().collect());
        for (place, line) in (1..).zip(lines).filter(|(place, _)| !skipped.contains(place)) {
            let (id, sent) = match &batch {
                Some(batch) => (format!("{batch}:{place}"), line),
                None => line
                    .split_once(' ')
                    .map_or((line.to_owned(), ""), |(id, sent)| (id.to_owned(), sent)),
            };
            if let Some(sent) = Sent::parse(sent) {
                all.sent.insert(id.clone(), sent);
            }
            all.ids.push(id);
        }
        if all.ids.len() as u64 != entries {
            all.ids.clear();
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(fields: &[(&str, &str)]) -> Raw {
        Raw {
            stream_id: "3-7".to_owned(),
            fields: fields.iter().copied().collect(),
        }
    }

    #[test]
    fn a_line_and_a_claim_that_can_t_be_read_hide_no_other() {
        let block = "a p1 1 *\nb p2 x\u{0} *\nc p3 3 s\nd p4 4 *";
        let claims = "1,0,2,paid,grand,9,1,9;rubbish;3,0,2,retry,grand,5;";
        let found = Salvage::of(Some(&raw(&[("block", block), ("skip", "4"), ("claims", claims)])), 3);
        assert_eq!(found.ids, ["a", "b", "c"]);
        assert_eq!((found.sent.len(), found.sent["c"].player.as_str()), (2, "p3"));
        assert_eq!(
            found.claims.iter().map(|claim| claim.sequence).collect::<Vec<_>>(),
            [1, 3]
        );
        let batch = raw(&[("block", "p1 1 *\n\u{0}\np3 3 *"), ("batch", "b")]);
        let found = Salvage::of(Some(&batch), 3);
        assert_eq!((found.ids[2].as_str(), found.sent.contains_key("b:2")), ("b:3", false));
        assert!(Salvage::of(Some(&batch), 2).ids.is_empty(), "places are not known");
        assert!(Salvage::of(None, 2).ids.is_empty());
    }
}
