//! What a rule found in the evidence of a run.

use serde::Serialize;

use super::Verdict;

/// What a rule found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "result", content = "detail", rename_all = "kebab-case")]
pub enum Judged {
    /// It held; over what.
    Held(String),
    /// It did not hold; the first place where.
    Violated(String),
    /// It could not be judged; why.
    NotChecked(String),
}

impl From<Result<String, String>> for Judged {
    fn from(result: Result<String, String>) -> Self {
        match result {
            Ok(over) => Self::Held(over),
            Err(place) => Self::Violated(place),
        }
    }
}

/// One rule and what it found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Short name, for people and scripts.
    pub rule: &'static str,
    /// What it demands, in a sentence.
    pub demand: &'static str,
    /// What came of it.
    #[serde(flatten)]
    pub judged: Judged,
}

/// What is demanded of the evidence of a run.
pub struct Rule<E> {
    pub name: &'static str,
    pub demand: &'static str,
    pub judge: fn(&E) -> Judged,
}

/// The rules of a scenario: name, judge, and what it demands.
macro_rules! rules {
    ($($name:literal = $judge:path: $demand:literal;)*) => {
        &[$($crate::finding::Rule {
            name: $name,
            demand: $demand,
            judge: |evidence| $judge(evidence).into(),
        }),*]
    };
}

pub(crate) use rules;

/// Judges all rules.
pub fn judge<E>(rules: &[Rule<E>], evidence: &E) -> Vec<Finding> {
    let judge = |rule: &Rule<E>| Finding {
        rule: rule.name,
        demand: rule.demand,
        judged: (rule.judge)(evidence),
    };
    rules.iter().map(judge).collect()
}

/// The first violation, if any.
pub fn verdict(findings: &[Finding]) -> Verdict {
    let violated = |finding: &Finding| match &finding.judged {
        Judged::Violated(detail) => Some(Verdict::Violated {
            rule: finding.rule.to_owned(),
            detail: detail.clone(),
        }),
        _ => None,
    };
    findings.iter().find_map(violated).unwrap_or(Verdict::NoViolation)
}
