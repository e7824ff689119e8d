//! Answers and their sequence.

use crate::finding::Judged;
use crate::jackpot::Pending;
use crate::market::evidence::Evidence;

pub fn right(evidence: &Evidence) -> Result<String, String> {
    let seen = &evidence.seen;
    match seen.wrong.first() {
        Some(first) => Err(format!("{first} ({} in all)", seen.wrong.len())),
        None => Ok(format!(
            "{} entries taken, {} refused by a paused jackpot, {} plays sent again",
            seen.entries.len(),
            seen.refused,
            seen.replayed
        )),
    }
}

pub fn dense(evidence: &Evidence) -> Result<String, String> {
    let mut counts = Vec::new();
    for jackpot in 0..evidence.shown.len() {
        let id = evidence.id(jackpot);
        let mut last = 0;
        for entry in evidence.entries(jackpot) {
            if entry.sequence != last + 1 {
                return Err(format!("{id}: {} follows {last} ({})", entry.sequence, entry.id));
            }
            last = entry.sequence;
        }
        counts.push(format!("{id} 1 to {last}"));
    }
    Ok(counts.join("; "))
}

pub fn finished(evidence: &Evidence) -> Judged {
    for (jackpot, shown) in evidence.shown.iter().enumerate() {
        let id = evidence.id(jackpot);
        match &shown.pending {
            Pending::None { .. } => {}
            Pending::Left(left) => return Judged::Violated(format!("{id}: {left} entries are left")),
            Pending::Unknown(why) => return Judged::NotChecked(why.clone()),
        }
    }
    Judged::Held("none on any jackpot".to_owned())
}

#[cfg(test)]
mod tests {
    use crate::jackpot::Pending;
    use crate::market::check::fixture::found;

    #[test]
    fn a_wrong_answer_a_hole_and_an_unfinished_entry_are_found() {
        found("answers", "e7", |evidence| {
            evidence.seen.wrong.push("e7: odd".to_owned());
        });
        found("sequence", "mini: 3 follows 1", |evidence| {
            evidence.seen.entries.remove(1);
        });
        found("pending", "2 entries", |evidence| {
            evidence.shown[1].pending = Pending::Left(2);
        });
    }
}
