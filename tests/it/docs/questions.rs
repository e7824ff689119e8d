//! Existing files and functions answer the five questions of `CONTRIBUTING.md`.

use std::fs;
use std::path::Path;

use super::top;

const HEADING: &str = "## Five questions";

/// How many questions there are, and how many files an answer leads through.
const QUESTIONS: usize = 5;
const MAX_FILES: usize = 3;

/// The first step of each answer.
const START: &str = "src/lib.rs";

/// The answers: the text below each `###` of the part.
fn answers(text: &str) -> Vec<&str> {
    let (_, part) = text.split_once(HEADING).unwrap_or_default();
    let part = part.split("\n## ").next().unwrap_or_default();
    part.split("\n### ").skip(1).collect()
}

/// The steps of an answer, a link to a path and a name between backticks: path and name.
fn steps(answer: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    for after in answer.split("](").skip(1) {
        let Some((path, rest)) = after.split_once(')') else {
            continue;
        };
        let name = rest.trim_start_matches([' ', '→', '\n']);
        let name = name.strip_prefix('`').and_then(|rest| rest.split('`').next());
        found.push((path, name.unwrap_or_default()));
    }
    found
}

/// Whether a file has what a step names: in a Rust file a function, in any other file and in the map a text.
fn has(path: &str, text: &str, name: &str) -> bool {
    let rust = Path::new(path).extension().is_some_and(|extension| extension == "rs") && path != START;
    let needle = if rust { format!("fn {name}") } else { name.to_owned() };
    let ends = |rest: &str| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_');
    !name.is_empty()
        && text
            .match_indices(&needle)
            .any(|(at, _)| !rust || ends(&text[at + needle.len()..]))
}

#[test]
fn each_of_five_questions_is_answered_by_three_files_at_most() {
    let text = fs::read_to_string(top().join("CONTRIBUTING.md")).expect("CONTRIBUTING.md");
    let answers = answers(&text);
    assert_eq!(answers.len(), QUESTIONS, "questions below {HEADING}");
    let mut stale = Vec::new();
    for answer in answers {
        let question = answer.lines().next().unwrap_or_default();
        let steps = steps(answer);
        assert_eq!(
            steps.first().map(|step| step.0),
            Some(START),
            "{question} begins at {START}"
        );
        assert!(
            steps.len() <= MAX_FILES,
            "{question} leads through {} files",
            steps.len()
        );
        for (path, name) in steps {
            let text = fs::read_to_string(top().join(path)).unwrap_or_default();
            if text.is_empty() {
                stale.push(format!("{question} {path} is gone"));
            } else if !has(path, &text, name) {
                stale.push(format!("{question} {path} has no `{name}`"));
            }
        }
    }
    assert!(stale.is_empty(), "CONTRIBUTING.md is stale:\n{}", stale.join("\n"));
}

#[test]
fn a_step_names_a_file_and_a_function_in_it() {
    let part =
        format!("{HEADING}\n\n### Who?\n\n[a](src/a.rs) `walks` →\n[b](lua/b.lua) `KEYS[1]`\n\n## Else\n### No\n");
    let all = answers(&part);
    assert_eq!(all.len(), 1);
    assert_eq!(steps(all[0]), [("src/a.rs", "walks"), ("lua/b.lua", "KEYS[1]")]);
    assert!(has("src/a.rs", "pub fn walks(", "walks"));
    assert!(!has("src/a.rs", "pub fn walks_on(", "walks"), "another function");
    assert!(!has("src/a.rs", "walks(", "walks"), "a call is no function");
    assert!(has("lua/b.lua", "local x = KEYS[1]", "KEYS[1]"));
    assert!(!has("lua/b.lua", "local x = KEYS[1]", ""), "a step without a name");
}
