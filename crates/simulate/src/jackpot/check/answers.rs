//! Answers are complete and belong to what was sent.

use crate::jackpot::evidence::Evidence;

/// Every entry has an answer that names it, its player, its jackpot and its tiers.
pub fn each_is_its_own(evidence: &Evidence) -> Result<String, String> {
    for record in &evidence.records {
        if let Err(wrong) = &record.answer {
            return Err(format!("the answer to {}: {wrong}", record.entry.id));
        }
    }
    let plan = &evidence.plan;
    let sent = plan.options.entries + u64::from(plan.options.winners) * u64::from(plan.options.collisions);
    if evidence.records.len() as u64 != sent {
        return Err(format!(
            "{} entries were sent, {} are answered",
            sent,
            evidence.records.len()
        ));
    }
    Ok(format!("{sent} entries"))
}

#[cfg(test)]
mod tests {
    use super::each_is_its_own;
    use crate::jackpot::check::fixture;

    #[test]
    fn a_missing_answer_is_found() {
        let mut evidence = fixture::honest("");
        evidence.records.pop();
        each_is_its_own(&evidence).unwrap_err();
    }

    #[test]
    fn a_strange_answer_is_found() {
        let mut evidence = fixture::honest("");
        evidence.records[7].answer = Err("entry_id is e8".to_owned());
        let found = each_is_its_own(&evidence).unwrap_err();
        assert!(
            found.contains(&evidence.records[7].entry.id) && found.contains("e8"),
            "{found}"
        );
    }
}
