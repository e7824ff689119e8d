//! The tests that the page of conformance names exist.

use std::fs;
use std::path::Path;

use super::top;

/// Names of tests in a text, `it::a::b` and `it::a::{b, c…}` between backticks, without their `it::`.
fn named(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for span in text.split('`').filter_map(|span| span.strip_prefix("it::")) {
        match span.split_once('{') {
            Some((module, names)) => {
                let names = names.trim_end_matches('}').split(", ");
                found.extend(names.map(|name| format!("{module}{name}")));
            }
            None if !span.is_empty() => found.push(span.to_owned()),
            None => {}
        }
    }
    found
}

/// Whether a name leads to a module below `root`, to modules (`*` at its end) or to a function (`…` for the rest of it).
fn exists(root: &Path, name: &str) -> bool {
    let mut folder = root.to_path_buf();
    let mut text = String::new();
    let mut parts = name.split("::").peekable();
    while let Some(part) = parts.next() {
        let is_last = parts.peek().is_none();
        if let Some(start) = part.strip_suffix('*') {
            let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
            return is_last
                && entries
                    .map(|entry| entry.file_name())
                    .any(|name| name.to_string_lossy().starts_with(start));
        }
        let files = [folder.join(format!("{part}.rs")), folder.join(part).join("mod.rs")];
        folder.push(part);
        match files.into_iter().find(|file| file.is_file()) {
            Some(file) => text = fs::read_to_string(file).expect("a module"),
            None if is_last => {
                let function = part
                    .strip_suffix('…')
                    .map_or_else(|| format!("fn {part}("), |start| format!("fn {start}"));
                return text.contains(&function);
            }
            None => return false,
        }
    }
    true
}

#[test]
fn every_test_that_the_page_of_conformance_names_exists() {
    let text = fs::read_to_string(top().join("docs/reference/conformance.md")).expect("the page");
    let names = named(&text);
    assert!(names.len() > 100, "{} names", names.len());
    let root = top().join("tests/it");
    let gone: Vec<String> = names.into_iter().filter(|name| !exists(&root, name)).collect();
    assert!(
        gone.is_empty(),
        "docs/reference/conformance.md names {}",
        gone.join(", ")
    );
}

#[test]
fn a_test_that_is_gone_is_found() {
    let text = "| x | `it::a`, `it::a::{b, c…}` (`it::` is a folder, `a::d` is none) |";
    assert_eq!(named(text), ["a", "a::b", "a::c…"]);
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    fs::create_dir_all(root.join("a")).expect("a folder");
    fs::write(root.join("a/mod.rs"), "mod b;\nfn first_of_all() {}").expect("a module");
    fs::write(root.join("a/b_c.rs"), "fn second() {}").expect("a module");
    for there in ["a", "a::first…", "a::first_of_all", "a::b_c::second", "a::b_*"] {
        assert!(exists(root, there), "{there}");
    }
    for gone in ["b", "a::first", "a::third…", "a::b_c::third", "a::x_*", "a::x::second"] {
        assert!(!exists(root, gone), "{gone}");
    }
}

/// A row of the page's tables of regulations.
struct Clause {
    place: String,
    /// The text of its source was read.
    read: bool,
    tests: String,
    status: String,
}

/// The rows below each heading of `## Regulations` that names a source.
fn clauses(page: &str) -> Vec<Clause> {
    let (_, part) = page.split_once("\n## Regulations").unwrap_or_default();
    let mut found = Vec::new();
    for source in part.split("\n### ").skip(1) {
        let name = source.lines().next().unwrap_or_default();
        let read = source.contains("\nText: read, ");
        assert!(
            read || source.contains("\nText: not read."),
            "{name} says whether it was read"
        );
        for row in source.lines().filter_map(|line| line.strip_prefix("| ")) {
            let cells = row.trim_end_matches(" |").split(" | ").collect::<Vec<_>>();
            let [clause, _, _, tests, status] = cells[..] else {
                panic!("{name}: five cells: {row}");
            };
            if clause != "clause" && !clause.starts_with("---") {
                found.push(Clause {
                    place: format!("{name}, {clause}"),
                    read,
                    tests: tests.to_owned(),
                    status: status.to_owned(),
                });
            }
        }
    }
    found
}

/// What is wrong with a row.
fn fault(clause: &Clause) -> Option<&'static str> {
    let missing = clause.status.strip_prefix("partly: ");
    match clause.status.as_str() {
        "not read" | "operator's" => None,
        "met" if !clause.read => Some("met, but its text was not read"),
        _ if missing.is_some_and(|missing| !missing.is_empty()) && !clause.read => {
            Some("partly, but its text was not read")
        }
        "met" if clause.tests.contains("`it::") => None,
        _ if missing.is_some_and(|missing| !missing.is_empty()) && clause.tests.contains("`it::") => None,
        "met" => Some("met without a test"),
        _ if missing.is_some() => Some("partly without a test, or without what is missing"),
        _ => Some("no status that the page explains"),
    }
}

#[test]
fn no_clause_is_met_without_its_text_and_a_test() {
    let page = fs::read_to_string(top().join("docs/reference/conformance.md")).expect("the page");
    let clauses = clauses(&page);
    assert!(clauses.len() > 60, "{} clauses", clauses.len());
    let faults = clauses
        .iter()
        .filter_map(|clause| Some(format!("{}: {}", clause.place, fault(clause)?)))
        .collect::<Vec<_>>();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_clause_that_claims_too_much_is_found() {
    let of = |text: &str, tests: &str, status: &str| {
        let page = format!(
            "\n## Regulations\n\n### A\n\nText: {text}\n\n| clause | subject | here | tests | status |\n\
             | --- | --- | --- | --- | --- |\n| 1 | a | b | {tests} | {status} |\n"
        );
        let clauses = clauses(&page);
        assert_eq!(clauses.len(), 1);
        fault(&clauses[0])
    };
    for (text, tests, status, wrong) in [
        ("read, all.", "`it::a`", "met", false),
        ("read, all.", "`it::a`", "partly: b", false),
        ("not read.", "none", "not read", false),
        ("not read.", "none", "operator's", false),
        ("read, all.", "none", "met", true),
        ("read, all.", "none", "partly: b", true),
        ("read, all.", "`it::a`", "partly: ", true),
        ("read, all.", "`it::a`", "yes", true),
        ("not read.", "`it::a`", "met", true),
        ("not read.", "`it::a`", "partly: b", true),
    ] {
        assert_eq!(of(text, tests, status).is_some(), wrong, "{text} {tests} {status}");
    }
}
