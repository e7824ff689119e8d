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
    use crate::jackpot::check::fixture::found;

    #[test]
    fn a_missing_answer_is_found() {
        found("answers", "", "", |evidence| _ = evidence.records.pop());
    }

    #[test]
    fn an_answer_to_another_entry_is_found() {
        let mut id = String::new();
        let detail = found("answers", "", "", |evidence| {
            evidence.records[7].answer = Err("entry_id is e8".to_owned());
            id.clone_from(&evidence.records[7].entry.id);
        });
        assert!(detail.contains(&id) && detail.contains("e8"), "{detail}");
    }
}
