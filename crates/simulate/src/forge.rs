//! Honest evidence and its forgery, for the tests of the rules of every scenario.

use crate::args;
use crate::finding::{Finding, Judged, judge};
use crate::scenario::Scenario;

/// A plan that a small exact model can play, without a service.
pub trait Honest: Scenario {
    /// Switches, and options that hold unless a line says otherwise.
    const OPTIONS: &'static [&'static [&'static str]];

    /// What an honest service would have shown.
    fn model(self) -> Self::Evidence;
}

/// The evidence of an honest run with these options.
pub fn honest<S: Honest>(line: &str) -> S::Evidence {
    let defaults = S::OPTIONS.iter().filter(|words| !line.contains(words[0]));
    let words: Vec<&str> = defaults.copied().flatten().copied().collect();
    let args = args::parse(&format!("{} {line}", words.join(" "))).expect("options that make sense");
    S::plan(&args, true).model()
}

/// What one rule of the scenario says.
pub fn judged<S: Scenario>(rule: &str, evidence: &S::Evidence) -> Judged {
    let mut findings = judge(S::RULES, evidence).into_iter();
    let finding: Option<Finding> = findings.find(|finding| finding.rule == rule);
    finding.expect("a rule of the scenario").judged
}

/// A rule must find a forgery of honest evidence, and name it so. Returns all that it says.
pub fn found<S: Honest>(rule: &str, line: &str, named: &str, forge: impl FnOnce(&mut S::Evidence)) -> String {
    let mut evidence = honest::<S>(line);
    forge(&mut evidence);
    violated::<S>(rule, named, &evidence)
}

/// The rule is violated, and says why in words that have these among them.
pub fn violated<S: Scenario>(rule: &str, named: &str, evidence: &S::Evidence) -> String {
    match judged::<S>(rule, evidence) {
        Judged::Violated(detail) if detail.contains(named) => detail,
        other => panic!("{rule}, {named}: {other:?}"),
    }
}

/// Every rule holds for honest evidence.
pub fn all_hold<S: Honest>(lines: &[&str]) {
    for line in lines {
        for finding in judge(S::RULES, &honest::<S>(line)) {
            assert!(matches!(finding.judged, Judged::Held(_)), "{line}: {finding:?}");
        }
    }
}
