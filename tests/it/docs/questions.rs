//! Existing files and functions answer the ten questions of `CONTRIBUTING.md`, and the walk there leads from file to file.

use std::fs;
use std::path::Path;

use super::top;

const HEADING: &str = "## Ten questions";

/// How many questions there are, and how many files an answer leads through.
const QUESTIONS: usize = 10;
const MAX_FILES: usize = 3;

/// The walk, and how many files it may lead through.
const WALK: &str = "## From an entry to its webhook";
const MAX_WALK: usize = 12;

/// The first step of each answer.
const START: &str = "src/lib.rs";

/// The text below a heading, up to the next one.
fn part<'t>(text: &'t str, heading: &str) -> &'t str {
    let (_, part) = text.split_once(heading).unwrap_or_default();
    part.split("\n## ").next().unwrap_or_default()
}

/// The answers: the text below each `###` of the part.
fn answers(text: &str) -> Vec<&str> {
    part(text, HEADING).split("\n### ").skip(1).collect()
}

/// The words behind the arrow of a step of the walk; none of the last one.
fn pointer(step: &str) -> Option<&str> {
    let (_, behind) = step.split_once('→')?;
    behind.split('`').nth(1)
}

/// Whether these words lead to a step: its function or its path is among them.
fn leads(pointer: &str, path: &str, name: &str) -> bool {
    let mut words = pointer.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '/');
    let stem = Path::new(path).with_extension("");
    words.any(|word| word == name || !word.is_empty() && stem.ends_with(word))
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
fn each_of_ten_questions_is_answered_by_three_files_at_most() {
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
fn each_file_of_the_walk_says_where_to_go_next() {
    let text = fs::read_to_string(top().join("CONTRIBUTING.md")).expect("CONTRIBUTING.md");
    let walk = part(&text, WALK);
    let numbers = (1..).map(|number| format!("\n{number}. "));
    let begins: Vec<usize> = numbers.map_while(|number| walk.find(&number)).collect();
    let ends = begins.iter().skip(1).copied().chain([walk.len()]);
    let all: Vec<&str> = begins.iter().zip(ends).map(|(begin, end)| &walk[*begin..end]).collect();
    assert!((2..=MAX_WALK).contains(&all.len()), "{all:?}");
    for (i, step) in all.iter().enumerate() {
        let (path, name) = steps(step)[0];
        let file = fs::read_to_string(top().join(path)).unwrap_or_default();
        assert!(has(path, &file, name), "{path} has no `{name}`");
        let Some(next) = all.get(i + 1) else { continue };
        let (path_after, name_after) = steps(next)[0];
        let words = pointer(step).unwrap_or_else(|| panic!("{path} leads nowhere"));
        assert!(file.contains(words), "{path} has no `{words}`");
        assert!(
            leads(words, path_after, name_after),
            "`{words}` of {path} does not lead to {path_after}"
        );
    }
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
    assert_eq!(pointer("[a](src/a.rs) `walks` far →\n   `b::runs`"), Some("b::runs"));
    assert!(leads("b::runs", "src/b.rs", "x") && leads("b::runs", "src/c.rs", "runs"));
    assert!(!leads("b::runs", "src/bb.rs", "run"));
}
