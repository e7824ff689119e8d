//! The words of the glossary are types of the code.

use std::fs;

use super::top;

/// The words of a row: type and file, from `` `Type` in `path` ``.
fn declared(row: &str) -> Option<(&str, &str)> {
    let cell = row.strip_suffix(" |")?.rsplit(" | ").next()?;
    let mut words = cell.split('`').skip(1).step_by(2);
    Some((words.next()?, words.next()?))
}

#[test]
fn every_word_of_the_glossary_is_a_type() {
    let page = fs::read_to_string(top().join("docs/reference/glossary.md")).expect("the glossary");
    let is_row = |line: &&str| line.starts_with("| ") && !line.starts_with("| word") && !line.starts_with("| ---");
    let rows: Vec<&str> = page.lines().filter(is_row).collect();
    assert!(rows.len() > 30, "{}", rows.len());
    for row in rows {
        let (name, path) = declared(row).unwrap_or_else(|| panic!("{row} names no type"));
        let text = fs::read_to_string(top().join(path)).unwrap_or_default();
        let declares = |line: &str| {
            let declared = ["struct", "enum", "trait"].map(|kind| format!("pub {kind} {name}"));
            let ends = |rest: &str| !rest.starts_with(|next: char| next.is_alphanumeric());
            let mut found = declared
                .iter()
                .filter_map(|begins| line.trim_start().strip_prefix(begins.as_str()));
            found.any(ends)
        };
        assert!(text.lines().any(declares), "{path} declares no type {name}: {row}");
    }
}
