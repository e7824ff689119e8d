//! The reference of events names every event that a script appends, with every field.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::{files_below, top};

/// Folders of scripts, and the headings of their events.
const PARTS: [(&str, &str); 3] = [("jackpot", "Jackpot"), ("coupon", "Coupon"), ("room", "Room")];

/// The calls that append an event; the literal type stands in them, and the fields as names and values in turn.
const CALLS: [&str; 2] = ["append_event(", "append("];

/// What stands in front of the bracket that closes the one before `text`.
fn inside(text: &str) -> &str {
    let mut depth = 1;
    for (at, letter) in text.char_indices() {
        depth += match letter {
            '(' | '{' | '[' => 1,
            ')' | '}' | ']' => -1,
            _ => 0,
        };
        if depth == 0 {
            return &text[..at];
        }
    }
    text
}

/// The parts of a list, at its commas outside brackets and quotes.
fn parts(list: &str) -> Vec<&str> {
    let (mut depth, mut quoted, mut start) = (0, false, 0);
    let mut found = Vec::new();
    for (at, letter) in list.char_indices() {
        match letter {
            '\'' => quoted = !quoted,
            '(' | '{' | '[' if !quoted => depth += 1,
            ')' | '}' | ']' if !quoted => depth -= 1,
            ',' if !quoted && depth == 0 => {
                found.push(list[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(list[start..].trim());
    found.retain(|part| !part.is_empty());
    found
}

/// A text of Lua between single quotes.
fn literal(text: &str) -> Option<&str> {
    text.strip_prefix('\'')?.strip_suffix('\'')
}

/// Types of events that a script appends, with the names of their fields.
fn appended(script: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for call in CALLS {
        for rest in script.split(call).skip(1) {
            let arguments = parts(inside(rest));
            let Some(kind) = arguments.iter().find_map(|argument| literal(argument)) else {
                continue;
            };
            let fields = arguments.iter().find_map(|argument| argument.strip_prefix('{'));
            let names = fields.map(|fields| parts(inside(fields))).unwrap_or_default();
            let names = names.into_iter().step_by(2).filter_map(literal).map(str::to_owned);
            found.entry(kind.to_owned()).or_default().extend(names);
        }
    }
    found
}

/// What stands below a heading, up to the next one of the same rank.
fn below<'a>(text: &'a str, heading: &str) -> Option<&'a str> {
    let hashes = heading.split(' ').next().unwrap_or_default();
    let (_, rest) = text.split_once(&format!("\n{heading}\n"))?;
    Some(rest.split(&format!("\n{hashes} ")).next().unwrap_or_default())
}

#[test]
fn the_page_of_events_names_each_type_and_each_field() {
    let page = fs::read_to_string(top().join("docs/reference/events.md")).unwrap_or_default();
    let mut missing = Vec::new();
    let mut types = 0;
    for (folder, heading) in PARTS {
        let part = below(&page, &format!("## {heading}")).unwrap_or_default();
        for file in files_below(&top().join("lua").join(folder), "lua") {
            for (kind, fields) in appended(&fs::read_to_string(file).expect("a script")) {
                types += 1;
                let about = below(part, &format!("### {heading} `{kind}`"));
                let Some(about) = about else {
                    missing.push(format!("### {heading} `{kind}`"));
                    continue;
                };
                let unnamed = fields.iter().filter(|field| !about.contains(&format!("`{field}`")));
                missing.extend(unnamed.map(|field| format!("{heading} `{kind}`: `{field}`")));
            }
        }
    }
    assert!(types > 20, "{types} types of events were found");
    assert!(
        missing.is_empty(),
        "docs/reference/events.md lacks:\n{}",
        missing.join("\n")
    );
}

#[test]
fn the_fields_of_an_event_are_read_from_its_script() {
    let script = "append_event(KEYS[6], state, now_ms(), 'void', {\n 'seq',\n num(a, 'b'),\n 'users', x == '' and '-1' or '0',\n})\n\
                  local function append(state, wall, kind, fields)\nappend_event(KEYS[11], state, wall, kind, fields)\n";
    let found = appended(script);
    let fields: Vec<&str> = found["void"].iter().map(String::as_str).collect();
    assert_eq!((found.len(), fields), (1, vec!["seq", "users"]));
}
