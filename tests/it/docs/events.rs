//! The reference of events names every event that a script appends, with every field.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::{files_below, top};

/// Folders of scripts, and the headings of their events.
const PARTS: [(&str, &str); 3] = [("jackpot", "Jackpot"), ("coupon", "Coupon"), ("room", "Room")];

/// The calls that append an event. They contain the literal type, and the fields as names and values in turn.
const CALLS: [&str; 2] = ["append_event(", "append("];

/// The part of `text` up to the bracket that closes the one before it.
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

/// Names of the fields in a list of names and values.
fn names(list: &str) -> impl Iterator<Item = String> {
    let names = parts(inside(list)).into_iter().step_by(2).filter_map(literal);
    names.map(str::to_owned)
}

/// The fields that a function of `shared` adds to a list that it gets, from all lists in the function.
fn added(shared: &str, function: &str) -> Vec<String> {
    let Some((_, body)) = shared.split_once(&format!("\nlocal function {function}(")) else {
        return Vec::new();
    };
    let body = body.split("\nend\n").next().unwrap_or_default();
    body.split('{').skip(1).flat_map(names).collect()
}

/// Types of events that a script appends, with the names of their fields. `shared`: the parts of all capabilities.
fn appended(script: &str, shared: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for call in CALLS {
        for rest in script.split(call).skip(1) {
            let arguments = parts(inside(rest));
            let Some(kind) = arguments.iter().find_map(|argument| literal(argument)) else {
                continue;
            };
            let fields = found.entry(kind.to_owned()).or_default();
            for argument in &arguments {
                if let Some(list) = argument.strip_prefix('{') {
                    fields.extend(names(list));
                } else if let Some((function, own)) = argument.split_once('(') {
                    fields.extend(added(shared, function));
                    let own = parts(inside(own));
                    fields.extend(own.iter().filter_map(|own| own.strip_prefix('{')).flat_map(names));
                }
            }
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
    let shared = files_below(&top().join("lua/subject"), "lua");
    let shared = shared.into_iter().map(|part| fs::read_to_string(part).expect("a part"));
    let shared = shared.collect::<String>();
    let mut missing = Vec::new();
    let mut types = 0;
    for (folder, heading) in PARTS {
        let part = below(&page, &format!("## {heading}")).unwrap_or_default();
        for file in files_below(&top().join("lua").join(folder), "lua") {
            for (kind, fields) in appended(&fs::read_to_string(file).expect("a script"), &shared) {
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
    let found = appended(script, "");
    let fields: Vec<&str> = found["void"].iter().map(String::as_str).collect();
    assert_eq!((found.len(), fields), (1, vec!["seq", "users"]));
    let script = "append_event(\n  KEYS[4],\n  state,\n  'status',\n  change(state, { 'meters', changes(tiers) })\n)\n";
    let shared = "\nlocal function change(state, own)\n  local fields = { 'before', state.status }\nend\n";
    let found = appended(script, shared);
    let fields: Vec<&str> = found["status"].iter().map(String::as_str).collect();
    assert_eq!(fields, ["before", "meters"]);
}
